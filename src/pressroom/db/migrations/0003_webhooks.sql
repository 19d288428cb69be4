-- Endpoints that hear of an account's events, and what each of them was sent.
-- An endpoint is the unit of work: whoever delivers holds a lease on it.

CREATE TABLE webhooks (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    url TEXT NOT NULL,
    events TEXT NOT NULL,                   -- event types, separated by spaces
    secret TEXT NOT NULL,                   -- signing needs it as it is
    previous_secret_expires_at BIGINT,
    created_at BIGINT NOT NULL,
    key_expires_at BIGINT,                  -- from then on nothing is queued
    closed_at BIGINT,                       -- the key was revoked, or expired a day ago: nothing is queued, and all
                                            -- but that news is cancelled
    disabled_at BIGINT,                     -- it failed too often: nothing is queued, what waits is held
    disabled_reason TEXT,
    removed_at BIGINT,                      -- nobody sees it any more; its rows go at the next sweep
    consecutive_failures BIGINT NOT NULL,
    probe_at BIGINT,                        -- while it fails: when the next delivery is tried
    next_due_at BIGINT,                     -- when there is something to do; null: nothing waits, or never again
    lease_token TEXT,
    leased_until BIGINT NOT NULL,
    sweep_at BIGINT,                        -- when what waits for it in vain is removed
    PRIMARY KEY (account_id, id)
);
CREATE INDEX webhooks_due ON webhooks (next_due_at) WHERE next_due_at IS NOT NULL;
CREATE INDEX webhooks_live ON webhooks (account_id, id)
    WHERE removed_at IS NULL AND disabled_at IS NULL AND closed_at IS NULL;
CREATE INDEX webhooks_expiry ON webhooks (key_expires_at) WHERE closed_at IS NULL AND key_expires_at IS NOT NULL;
CREATE INDEX webhooks_key ON webhooks (key_id, id);
CREATE INDEX webhooks_sweep ON webhooks (sweep_at) WHERE sweep_at IS NOT NULL;

-- One row per event and endpoint: its envelope, and how it went. Held and cancelled are not states of a row:
-- they follow from the endpoint. Retention: 30 days after it was finished, or with its endpoint.
CREATE TABLE deliveries (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    webhook_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    envelope_id TEXT NOT NULL,              -- evt_ and a UUID v4
    event_type TEXT NOT NULL,
    state TEXT NOT NULL,                    -- pending, delivered, failed
    redelivery BOOLEAN NOT NULL,
    tries BIGINT NOT NULL,                  -- since it was queued, or queued again
    attempts TEXT NOT NULL,                 -- JSON: the latest attempts, oldest first
    due_at BIGINT NOT NULL,
    finished_at BIGINT,
    PRIMARY KEY (account_id, webhook_id, event_id)
);
CREATE INDEX deliveries_pending ON deliveries (account_id, webhook_id, event_id, due_at) WHERE state = 'pending';
CREATE INDEX deliveries_tests ON deliveries (account_id, webhook_id, event_id)
    WHERE state = 'pending' AND event_type = 'webhook.test';
CREATE INDEX deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;
