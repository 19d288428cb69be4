-- A paused endpoint: what is queued for it waits until it is resumed, and spends no attempt.
ALTER TABLE webhooks ADD COLUMN paused_at BIGINT;
