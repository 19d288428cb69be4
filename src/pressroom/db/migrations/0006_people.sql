-- Private accounts, user names that stay reserved, and what an operator does to an account.

ALTER TABLE accounts ADD COLUMN suspended_at BIGINT;    -- nothing of it is shown, and nobody signs in
ALTER TABLE accounts ADD COLUMN deleted_at BIGINT;      -- its personal fields are erased; it stays suspended
ALTER TABLE accounts ADD COLUMN is_admin BOOLEAN NOT NULL DEFAULT FALSE;

-- Posts that stand, by visibility: what a profile says to others than its owner.
ALTER TABLE accounts ADD COLUMN public_posts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN followers_posts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN connections_posts BIGINT NOT NULL DEFAULT 0;
UPDATE accounts SET
    public_posts = (SELECT count(*) FROM posts p WHERE p.account_id = accounts.id
        AND p.visibility = 'PUBLIC' AND p.deleted_at IS NULL),
    followers_posts = (SELECT count(*) FROM posts p WHERE p.account_id = accounts.id
        AND p.visibility = 'FOLLOWERS' AND p.deleted_at IS NULL),
    connections_posts = (SELECT count(*) FROM posts p WHERE p.account_id = accounts.id
        AND p.visibility = 'CONNECTIONS' AND p.deleted_at IS NULL);

-- User names that were given up or erased. Retention: 90 days.
CREATE TABLE reserved_usernames (
    username_key TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),  -- who had it, and may take it back
    reserved_until BIGINT NOT NULL
);
CREATE INDEX reserved_usernames_account ON reserved_usernames (account_id);
CREATE INDEX reserved_usernames_end ON reserved_usernames (reserved_until);

-- Who waits to follow a private account. Retention: until it is answered or taken back.
CREATE TABLE follow_requests (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    followed_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, followed_id)
);
CREATE INDEX follow_requests_waiting ON follow_requests (followed_id, id);

-- An account is told once of each who follows it or asks to.
CREATE UNIQUE INDEX notifications_follow ON notifications (account_id, actor_id, type)
    WHERE type IN ('follow', 'follow.requested');

-- Rows of private and suspended accounts are out of the way of whoever reads a tag's page.
ALTER TABLE post_tags ADD COLUMN hidden BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE post_tags SET hidden = TRUE WHERE account_id IN (SELECT id FROM accounts WHERE is_private);
DROP INDEX post_tags_tag;
CREATE INDEX post_tags_tag ON post_tags (tag, post_id) WHERE NOT hidden;
