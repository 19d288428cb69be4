-- Comments can be edited and deleted, by their id alone. A deleted comment stays for audit, like a post.
ALTER TABLE comments ADD COLUMN edited_at BIGINT;
ALTER TABLE comments ADD COLUMN deleted_at BIGINT;
CREATE UNIQUE INDEX comments_id ON comments (id);
