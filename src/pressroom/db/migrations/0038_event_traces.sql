-- The trace of the request that caused an event: its deliveries go on with it (docs/operations.md#tracing).

ALTER TABLE events ADD COLUMN trace TEXT;
