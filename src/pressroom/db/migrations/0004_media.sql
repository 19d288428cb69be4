-- Uploaded media, clips, link cards, and the work that waits to be done for them.

-- Work to be done apart from requests. A row goes when its work is done; a dead one stays 30 days for the operator.
CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,                  -- what the work is about, as its kind understands it
    account_id TEXT NOT NULL,               -- whose share of the workers it takes; empty: everybody's
    tries BIGINT NOT NULL,
    due_at BIGINT,                          -- null: dead
    leased_until BIGINT NOT NULL,
    lease_token TEXT,
    error TEXT,                             -- why the last try failed
    created_at BIGINT NOT NULL,
    UNIQUE (kind, subject)
);
CREATE INDEX jobs_leased ON jobs (kind, account_id, leased_until) WHERE due_at IS NOT NULL AND leased_until > 0;
CREATE INDEX jobs_dead ON jobs (created_at) WHERE due_at IS NULL;
CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE due_at IS NOT NULL;

-- A file of a post or a clip. Retention: with what it belongs to.
CREATE TABLE media (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    owner_id TEXT NOT NULL,                 -- the post or clip that it belongs to
    position BIGINT NOT NULL,
    token TEXT NOT NULL UNIQUE,             -- the part of its address that cannot be guessed
    kind TEXT NOT NULL,                     -- what was uploaded: image/jpeg, video/webm, …
    alt_text TEXT,
    status TEXT NOT NULL,                   -- PROCESSING, READY, FAILED
    reason TEXT,                            -- why it failed
    width BIGINT,
    height BIGINT,
    duration DOUBLE PRECISION,              -- seconds
    size_bytes BIGINT,                      -- of what is served
    placeholder TEXT,                       -- a few bytes of picture, shown until the rest is there
    created_at BIGINT NOT NULL,
    hidden_at BIGINT,                       -- what it belongs to was deleted
    PRIMARY KEY (account_id, id)
);
CREATE INDEX media_id ON media (id);
CREATE UNIQUE INDEX media_owner ON media (owner_id, position);

ALTER TABLE posts ADD COLUMN has_media BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE posts ADD COLUMN preview_url TEXT;          -- the page whose card it bears
ALTER TABLE posts ADD COLUMN preview_forced BOOLEAN NOT NULL DEFAULT FALSE;

-- Cards of pages, by address: every post with the same link shows the same one. Retention: pages without a card are
-- forgotten a day after the last try.
CREATE TABLE link_cards (
    url TEXT PRIMARY KEY,
    status TEXT NOT NULL,                   -- READY, FAILED; FETCHING until the first fetch ended
    title TEXT,
    description TEXT,
    site_name TEXT,
    image_token TEXT,                       -- of our own stored thumbnail
    fetched_at BIGINT NOT NULL,             -- 0: not yet
    leased_until BIGINT NOT NULL,           -- somebody is fetching it until then
    lease_token TEXT
);
CREATE INDEX link_cards_image ON link_cards (image_token) WHERE image_token IS NOT NULL;
CREATE INDEX link_cards_age ON link_cards (fetched_at);

CREATE TABLE clips (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT REFERENCES api_keys (id),
    caption TEXT,
    visibility TEXT NOT NULL,
    hub_id TEXT REFERENCES hubs (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX clips_id ON clips (id);

-- Secrets that all servers of one database share, made when first needed.
CREATE TABLE server_secrets (
    name TEXT PRIMARY KEY,
    secret TEXT NOT NULL
);
