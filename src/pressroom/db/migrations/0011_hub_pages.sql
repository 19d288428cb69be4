-- A hub's page and an allowlist are read by what is shown: neither passes what the reader may not see.
ALTER TABLE post_audiences ADD COLUMN hub_id TEXT;                          -- of the post
ALTER TABLE post_audiences ADD COLUMN live BOOLEAN NOT NULL DEFAULT FALSE;  -- while the post is CUSTOM and stands
UPDATE post_audiences SET
    hub_id = (SELECT p.hub_id FROM posts p WHERE p.id = post_audiences.post_id),
    live = coalesce((SELECT p.visibility = 'CUSTOM' AND p.deleted_at IS NULL
                     FROM posts p WHERE p.id = post_audiences.post_id), FALSE);
DROP INDEX post_audiences_reader;
CREATE INDEX post_audiences_reader ON post_audiences (account_id, author_id, post_id) WHERE live;
CREATE INDEX post_audiences_hub ON post_audiences (account_id, hub_id, post_id) WHERE live AND hub_id IS NOT NULL;

DROP INDEX posts_hub;
CREATE INDEX posts_hub_public ON posts (hub_id, id)
    WHERE hub_id IS NOT NULL AND visibility = 'PUBLIC' AND deleted_at IS NULL;
CREATE INDEX posts_hub_author ON posts (hub_id, account_id, visibility, id)
    WHERE hub_id IS NOT NULL AND deleted_at IS NULL;
