-- Copies of all that belongs to an account, one at a time for each. Retention: removed seven days after it was made.
CREATE TABLE exports (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    state TEXT NOT NULL,                    -- pending, ready, failed
    requested_at BIGINT NOT NULL,           -- with the account's id, the name of its file in the store
    finished_at BIGINT,
    expires_at BIGINT,
    size_bytes BIGINT
);
CREATE INDEX exports_expiry ON exports (expires_at) WHERE expires_at IS NOT NULL;
