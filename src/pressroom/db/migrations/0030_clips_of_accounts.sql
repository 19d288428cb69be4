-- The clips of an account that a reader may see, each visibility by itself, newest first.
CREATE INDEX clips_profile ON clips (account_id, visibility, id) WHERE deleted_at IS NULL;
