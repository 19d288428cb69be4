-- Two-factor sign-in, and when a session last saw the password.

ALTER TABLE sessions ADD COLUMN confirmed_at BIGINT NOT NULL DEFAULT 0;     -- sign-in, or the password given again
UPDATE sessions SET confirmed_at = created_at;

-- One row per account. The secret is readable: codes are computed from it.
CREATE TABLE two_factor (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    secret TEXT NOT NULL,                   -- base32
    created_at BIGINT NOT NULL,
    enabled_at BIGINT,                      -- null until a first code confirmed the set-up
    last_step BIGINT NOT NULL               -- the 30 seconds of the last code that passed: none passes twice
);

-- At most ten per account; a row goes when its code is used.
CREATE TABLE recovery_codes (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    code_hash TEXT NOT NULL,                -- SHA-256
    PRIMARY KEY (account_id, code_hash)
);
