-- What a deleted account did is found by the account, to be taken back.

CREATE INDEX likes_account ON likes (account_id, post_id);
CREATE INDEX saves_account ON saves (account_id, post_id);
CREATE INDEX poll_votes_account ON poll_votes (account_id, post_id);
CREATE INDEX notifications_actor ON notifications (actor_id, account_id, id) WHERE actor_id IS NOT NULL;

-- Nobody can be called so: those who were deleted before might have been taken for an account of that name.
UPDATE accounts SET username = '[deleted]' WHERE deleted_at IS NOT NULL;
