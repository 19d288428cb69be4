-- An endpoint that is added again on the same key with the same URL continues the one before: its envelopes are
-- found for as long as events can be redelivered. And every endpoint is known as new, quick or slow.

ALTER TABLE webhooks ADD COLUMN origin_id TEXT NOT NULL DEFAULT '';  -- the first endpoint of those that it continues
ALTER TABLE webhooks ADD COLUMN speed TEXT NOT NULL DEFAULT 'new';   -- new, quick, slow: which slots it is sent from
UPDATE webhooks SET origin_id = id;
UPDATE webhooks SET sweep_at = removed_at + 2592000000 WHERE removed_at IS NOT NULL;

CREATE INDEX webhooks_origin ON webhooks (account_id, origin_id);
CREATE INDEX webhooks_removed ON webhooks (key_id, removed_at) WHERE removed_at IS NOT NULL;

-- Removed endpoints stay for a while, and must not be walked through by whoever looks for those that stand.
DROP INDEX webhooks_key;
CREATE INDEX webhooks_key ON webhooks (key_id, id) WHERE removed_at IS NULL;

DROP INDEX webhooks_due;
CREATE INDEX webhooks_due ON webhooks (speed, next_due_at) WHERE next_due_at IS NOT NULL;
