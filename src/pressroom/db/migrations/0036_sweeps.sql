-- Clean-ups that one process at a time does for all, each group under a lease. Retention: one row for each group.
CREATE TABLE sweeps (
    name TEXT PRIMARY KEY,
    next_at BIGINT NOT NULL,                -- when the group is due again
    leased_until BIGINT NOT NULL,
    lease_token TEXT NOT NULL
);
