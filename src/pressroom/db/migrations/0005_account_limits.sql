-- Limits against abuse: sign-ups by address, what an account does signed in, and the media that it stores.

-- When an address tried to sign up. Retention: removed an hour after the last attempt.
CREATE TABLE sign_up_attempts (
    subject TEXT PRIMARY KEY,               -- an address, or a /64 of IPv6
    times TEXT NOT NULL,                    -- JSON, milliseconds, in order
    updated_at BIGINT NOT NULL
);
CREATE INDEX sign_up_attempts_age ON sign_up_attempts (updated_at);

-- Addresses of right sign-ins, the latest of each account. Retention: removed after 90 days.
CREATE TABLE known_addresses (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    address_hash TEXT NOT NULL,             -- SHA-256 of the account's id and the address
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, address_hash)
);
CREATE INDEX known_addresses_age ON known_addresses (seen_at);

-- Windows are kept of accounts, too: `key_id` is a key's id, or `account:` and an account's. SQLite cannot drop the
-- reference to api_keys that stood here.
CREATE TABLE rate_windows_of_all (
    key_id TEXT PRIMARY KEY,
    state TEXT NOT NULL,                    -- JSON, domains/limits/windows.py
    updated_at BIGINT NOT NULL
);
INSERT INTO rate_windows_of_all (key_id, state, updated_at) SELECT key_id, state, updated_at FROM rate_windows;
DROP TABLE rate_windows;
ALTER TABLE rate_windows_of_all RENAME TO rate_windows;
CREATE INDEX rate_windows_age ON rate_windows (updated_at);

ALTER TABLE content_quotas ADD COLUMN used_signed_in BIGINT NOT NULL DEFAULT 0;     -- beside `used`, by key

-- Bytes of media that each account has in the store. Retention: for good.
CREATE TABLE stored_media (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    bytes BIGINT NOT NULL
);
ALTER TABLE media ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;    -- its share: of the upload, then of what is served
UPDATE media SET stored_bytes = coalesce(size_bytes, 0);
INSERT INTO stored_media (account_id, bytes)
    SELECT account_id, CAST(sum(stored_bytes) AS BIGINT) FROM media GROUP BY account_id;
