-- Who follows whom. Retention: until it is taken back.
CREATE TABLE follows (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    followed_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, followed_id)
);
CREATE INDEX follows_followed ON follows (followed_id, account_id);

-- What an account is told of. Retention: removed after 90 days.
CREATE TABLE notifications (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    type TEXT NOT NULL,
    actor_id TEXT REFERENCES accounts (id),
    post_id TEXT,
    webhook_id TEXT,
    key_id TEXT,
    created_at BIGINT NOT NULL,
    read_at BIGINT,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX notifications_age ON notifications (created_at);

CREATE TABLE hubs (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),  -- who made it
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT,
    members BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

-- Retention: until the account leaves.
CREATE TABLE memberships (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    hub_id TEXT NOT NULL REFERENCES hubs (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, hub_id)
);

-- Posts are kept for good, deleted ones too, for audit; so is what belongs to them.
ALTER TABLE posts ADD COLUMN hub_id TEXT REFERENCES hubs (id);
ALTER TABLE posts ADD COLUMN original_id TEXT;                  -- what a bounce shares: never itself a plain bounce
ALTER TABLE posts ADD COLUMN has_poll BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE posts ADD COLUMN likes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE posts ADD COLUMN comments BIGINT NOT NULL DEFAULT 0;
ALTER TABLE posts ADD COLUMN shares BIGINT NOT NULL DEFAULT 0;  -- plain bounces that stand
ALTER TABLE posts ADD COLUMN share_count BIGINT NOT NULL DEFAULT 0;  -- plain and quote bounces that stand
ALTER TABLE posts ADD COLUMN views BIGINT NOT NULL DEFAULT 0;
CREATE INDEX posts_profile ON posts (account_id, visibility, id) WHERE deleted_at IS NULL;
CREATE INDEX posts_hub ON posts (hub_id, id) WHERE hub_id IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX posts_plain_bounce ON posts (account_id, original_id)
    WHERE type = 'SHARE' AND deleted_at IS NULL;

-- What a post said before each edit.
CREATE TABLE post_versions (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    post_id TEXT NOT NULL,
    id TEXT NOT NULL,
    content TEXT,
    visibility TEXT NOT NULL,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, post_id, id)
);

-- Who may see a CUSTOM post beside its author.
CREATE TABLE post_audiences (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    author_id TEXT NOT NULL REFERENCES accounts (id),
    PRIMARY KEY (post_id, account_id)
);
CREATE INDEX post_audiences_reader ON post_audiences (account_id, author_id, post_id);

-- The hashtags of posts that are PUBLIC and stand, and of no others.
CREATE TABLE post_tags (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    post_id TEXT NOT NULL,
    tag TEXT NOT NULL,                      -- NFKC, case-folded
    PRIMARY KEY (account_id, post_id, tag)
);
CREATE INDEX post_tags_tag ON post_tags (tag, post_id);

-- Who was told of being mentioned in a post: once, however often it is edited.
CREATE TABLE post_mentions (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    PRIMARY KEY (post_id, account_id)
);

CREATE TABLE likes (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (post_id, account_id)
);

CREATE TABLE saves (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (post_id, account_id)
);

CREATE TABLE polls (
    post_id TEXT PRIMARY KEY,
    question TEXT,
    multiple BOOLEAN NOT NULL,
    closes_at BIGINT NOT NULL,
    total_votes BIGINT NOT NULL             -- accounts that voted
);

CREATE TABLE poll_options (
    post_id TEXT NOT NULL REFERENCES polls (post_id),
    position BIGINT NOT NULL,
    label TEXT NOT NULL,
    votes BIGINT NOT NULL,
    PRIMARY KEY (post_id, position)
);

CREATE TABLE poll_votes (
    post_id TEXT NOT NULL REFERENCES polls (post_id),
    account_id TEXT NOT NULL REFERENCES accounts (id),
    choices TEXT NOT NULL,                  -- positions, separated by spaces
    created_at BIGINT NOT NULL,
    PRIMARY KEY (post_id, account_id)
);

-- Kept for good, like the posts that they stand under.
CREATE TABLE comments (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    id TEXT NOT NULL,
    post_id TEXT NOT NULL,
    parent_id TEXT,                         -- the comment replied to
    thread_id TEXT NOT NULL,                -- the comment at the top of its thread, which may be itself
    key_id TEXT REFERENCES api_keys (id),
    content TEXT,
    media_type TEXT,
    media_url TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX comments_post ON comments (post_id, id);
CREATE INDEX comments_thread ON comments (post_id, thread_id, id);
