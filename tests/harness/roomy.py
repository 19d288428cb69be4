"""Limits that no test reaches; each test narrows the one that it is about."""

ROOMY: dict[str, object] = {
    "REQUESTS_PER_MINUTE": 100_000,
    "REQUESTS_PER_DAY": 10_000_000,
    "POSTS_PER_MINUTE": 100_000,
    "DAILY_CONTENT_QUOTA": 10_000_000,
    "ABUSE_REFUSALS": 1_000_000,
    "ACCESS_LOG": 0,
}

CROWDED: dict[str, object] = {
    "SIGNUP": "open",
    "SIGNUPS_PER_HOUR": 10_000,
    "SIGN_INS_PER_ACCOUNT": 10_000,
    "SIGN_INS_PER_ADDRESS": 100_000,
    "SESSION_WRITES_PER_MINUTE": 100_000,
    "SESSION_CONTENT_PER_DAY": 10_000_000,
    "REDIS_TIMEOUT_MS": 5_000,
    "DATABASE_POOL_TIMEOUT_SECONDS": 60,
}
"""What every server of the tests starts with: many people sign up from one address, and write without a pause, on a
machine where everything may take its time."""
