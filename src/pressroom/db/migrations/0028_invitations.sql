-- Links by which somebody may sign up where that is by invitation. Retention: 30 days after they ended.

CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,        -- SHA-256 of the token, which nothing stores
    account_id TEXT NOT NULL REFERENCES accounts (id),  -- the admin who made it
    note TEXT,                              -- for whom, in the admin's words
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    used_by TEXT REFERENCES accounts (id),
    revoked_at BIGINT
);
CREATE INDEX invitations_expiry ON invitations (expires_at);
