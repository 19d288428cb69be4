CREATE INDEX webhooks_paused ON webhooks (paused_at) WHERE paused_at IS NOT NULL;
