-- The audit log, what is shown of a session, and an account's own pictures.

-- What was done to an account and its keys, by whom and from where. Retention: removed after a year.
CREATE TABLE audit_entries (
    account_id TEXT NOT NULL,               -- empty: of no account, as a job that an admin retried
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,                     -- of entries that count, the last time
    times BIGINT NOT NULL,
    actor TEXT NOT NULL,                    -- self, admin, operator or service
    admin_id TEXT,                          -- the account of the admin who acted
    address TEXT NOT NULL,                  -- where the request came from; empty for operator and service
    detail TEXT NOT NULL,                   -- JSON of names and short values, never a secret
    counted_as TEXT,                        -- failures of one address and hour are one entry
    PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX audit_entries_counted ON audit_entries (account_id, counted_as) WHERE counted_as IS NOT NULL;
CREATE INDEX audit_entries_age ON audit_entries (at);
CREATE INDEX audit_entries_admin ON audit_entries (id) WHERE actor IN ('admin', 'operator');

ALTER TABLE sessions ADD COLUMN id TEXT;                                    -- null: begun by an older version
ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';             -- the User-Agent at the sign-in
ALTER TABLE sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';           -- where it was last used from
ALTER TABLE sessions ADD COLUMN seen_at BIGINT NOT NULL DEFAULT 0;          -- the last use, to the minute
CREATE INDEX sessions_listed ON sessions (account_id, coalesce(id, upper(substr(token_hash, 1, 26))));
