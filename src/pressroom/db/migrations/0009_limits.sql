-- What a restart needs to know of the process that counted before it, and which key an edit or a deletion was made with.

-- The process that keeps rate windows in its memory, one row. Retention: for good.
CREATE TABLE rate_window_holders (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,                   -- which process, see process_identity.py
    clean BOOLEAN NOT NULL,                 -- it stopped in order: what it saved is all that it counted
    taken_at BIGINT NOT NULL
);

ALTER TABLE post_versions ADD COLUMN replaced_at BIGINT;    -- when the edit was made; null: before this was kept
ALTER TABLE post_versions ADD COLUMN replaced_by_key TEXT;  -- the key that made it; null: signed in
CREATE INDEX post_versions_key ON post_versions (replaced_by_key, replaced_at) WHERE replaced_by_key IS NOT NULL;

ALTER TABLE posts ADD COLUMN deleted_by_key TEXT;           -- the key that deleted it; null: signed in, or it stands
CREATE INDEX posts_deleted_by_key ON posts (deleted_by_key, deleted_at) WHERE deleted_by_key IS NOT NULL;
