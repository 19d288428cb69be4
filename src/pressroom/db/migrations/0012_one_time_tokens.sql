-- Links and steps that are good once: to verify an address, set a new password, sign in. Retention: removed after expiry.
CREATE TABLE one_time_tokens (
    token_hash TEXT PRIMARY KEY,            -- SHA-256 of the token, which nothing stores
    account_id TEXT NOT NULL REFERENCES accounts (id),
    purpose TEXT NOT NULL,
    email TEXT,                             -- the address it was sent to; it holds while the account has that one
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX one_time_tokens_account ON one_time_tokens (account_id, purpose);
CREATE INDEX one_time_tokens_expiry ON one_time_tokens (expires_at);
