-- How much each key was used, and what was refused to it; written behind (docs/keys.md#usage).

-- Responses to requests with a key, by the hour (hours since 1970). Retention: removed after 31 days.
CREATE TABLE api_key_usage (
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    hour BIGINT NOT NULL,
    accepted BIGINT NOT NULL,               -- 1xx to 3xx
    limited BIGINT NOT NULL,                -- 429
    refused BIGINT NOT NULL,                -- other 4xx
    failed BIGINT NOT NULL,                 -- 5xx
    PRIMARY KEY (key_id, hour)
);
CREATE INDEX api_key_usage_hour ON api_key_usage (hour);

-- The last 50 responses 4xx to each key. Retention: removed after 31 days.
CREATE TABLE api_key_refusals (
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    id TEXT NOT NULL,
    refused_at BIGINT NOT NULL,
    method TEXT NOT NULL,
    route TEXT NOT NULL,                    -- as declared: /api/posts/{id}
    status INTEGER NOT NULL,
    label TEXT NOT NULL,                    -- the error's label
    address TEXT NOT NULL,                  -- where the request came from
    request_id TEXT NOT NULL,
    PRIMARY KEY (key_id, id)
);
CREATE INDEX api_key_refusals_age ON api_key_refusals (refused_at);

-- An account's active keys are found however many have ended; without an expiry they sort last.
CREATE INDEX api_keys_active ON api_keys (account_id, coalesce(expires_at, 9223372036854775807))
    WHERE revoked_at IS NULL;
