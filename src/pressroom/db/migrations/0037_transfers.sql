-- A transfer from SQLite fills an empty database. While one has not ended, nothing is served from it.
CREATE TABLE transfers (
    id TEXT PRIMARY KEY,                    -- also in the file beside the source
    started_at BIGINT NOT NULL,
    finished_at BIGINT                      -- null: not whole yet
);
