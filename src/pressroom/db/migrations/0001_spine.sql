-- Times are milliseconds since 1970, UTC. Identifiers are ULIDs unless a comment says otherwise.
-- What grows without end is reached by its account's id, and names the index that its retention rule uses.

CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL UNIQUE,      -- the user name without regard to case
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,            -- Argon2id
    display_name TEXT NOT NULL,
    bio TEXT,
    verified BOOLEAN NOT NULL,
    email_verified BOOLEAN NOT NULL,
    is_private BOOLEAN NOT NULL,
    is_creator BOOLEAN NOT NULL,
    total_followers BIGINT NOT NULL,
    total_following BIGINT NOT NULL,
    total_posts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Retention: removed after expiry.
CREATE TABLE sessions (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    token_hash TEXT NOT NULL,               -- SHA-256 of the cookie
    created_at BIGINT NOT NULL,
    renewed_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, token_hash)
);
CREATE INDEX sessions_token ON sessions (token_hash);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Attempts to sign in, counted before the password is looked at. Retention: removed when the window has passed.
CREATE TABLE sign_in_attempts (
    subject TEXT PRIMARY KEY,               -- account:… or address:…
    failures BIGINT NOT NULL,
    window_ends_at BIGINT NOT NULL
);
CREATE INDEX sign_in_attempts_window ON sign_in_attempts (window_ends_at);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    secret_hash TEXT NOT NULL UNIQUE,       -- SHA-256 of the whole key
    key_prefix TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,                   -- separated by spaces
    ip_allowlist TEXT NOT NULL,             -- networks, separated by spaces; empty: any address
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT,
    revoked_by TEXT,
    reason TEXT
);
CREATE INDEX api_keys_account ON api_keys (account_id, id);

-- What a key has used of its rate limits, written behind. Retention: removed a day after the last request.
CREATE TABLE rate_windows (
    key_id TEXT PRIMARY KEY REFERENCES api_keys (id),
    state TEXT NOT NULL,                    -- JSON, domains/limits/windows.py
    updated_at BIGINT NOT NULL
);
CREATE INDEX rate_windows_age ON rate_windows (updated_at);

-- Content written by key, per account and UTC day (days since 1970). Retention: removed after a week.
CREATE TABLE content_quotas (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    day BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (account_id, day)
);
CREATE INDEX content_quotas_day ON content_quotas (day);

-- The answers of writes, for replay. Retention: removed after 24 hours.
CREATE TABLE idempotent_answers (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, idempotency_key, method, path)
);
CREATE INDEX idempotent_answers_age ON idempotent_answers (created_at);

-- What happened, appended in the transaction that made it happen. Retention: for good, until deliveries
-- bring their rule; its index is here.
CREATE TABLE events (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT,                            -- set when the event concerns one key alone
    type TEXT NOT NULL,
    data TEXT NOT NULL,                     -- JSON, as it is sent
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX events_age ON events (created_at);

CREATE TABLE posts (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT REFERENCES api_keys (id),
    type TEXT NOT NULL,
    content TEXT,
    visibility TEXT NOT NULL,
    location_name TEXT,
    latitude DOUBLE PRECISION,
    longitude DOUBLE PRECISION,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    edited_at BIGINT,
    deleted_at BIGINT,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX posts_id ON posts (id);
