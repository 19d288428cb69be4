-- The page of an endpoint shows the outcome of its last test, which may lie behind any number of deliveries.

CREATE INDEX deliveries_last_test ON deliveries (account_id, webhook_id, event_id) WHERE event_type = 'webhook.test';
