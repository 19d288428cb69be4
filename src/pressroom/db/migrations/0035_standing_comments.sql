-- Comments are listed without those that were deleted, however many these are.

DROP INDEX comments_post;
DROP INDEX comments_thread;
CREATE INDEX comments_post ON comments (post_id, id) WHERE deleted_at IS NULL;
CREATE INDEX comments_thread ON comments (post_id, thread_id, id) WHERE deleted_at IS NULL;
