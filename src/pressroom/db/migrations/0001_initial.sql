-- The data model: every table, by the package that writes it. SQLite and PostgreSQL both run this file.
--
-- Times are milliseconds since 1970, UTC. Identifiers are ULIDs unless a comment says otherwise. `TEXT` is compared byte
-- by byte. A table that grows without end states its retention, and has the index that its retention reads. A comment
-- between slash and star holds what PostgreSQL alone runs: partitions by time (docs/decisions/0020-partitions.md) and its
-- index of words. A line that ends in `-- SQLite alone` is left out there (docs/decisions/0021-search.md).

-- db --------------------------------------------------------------------------------------------------------------------

-- The oldest schema that a program must know to serve this database, one row (docs/development.md#a-migration).
CREATE TABLE oldest_program (schema_version INTEGER PRIMARY KEY);
INSERT INTO oldest_program VALUES (1);

-- accounts --------------------------------------------------------------------------------------------------------------

-- An account. A deleted one stays without its personal fields. Retention: for good.
CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL UNIQUE,      -- case-folded
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,            -- Argon2id
    display_name TEXT NOT NULL,
    bio TEXT,
    avatar_token TEXT,                      -- of a file that is READY
    cover_token TEXT,                       -- of a file that is READY
    verified BOOLEAN NOT NULL,
    email_verified BOOLEAN NOT NULL,
    is_private BOOLEAN NOT NULL,
    discoverable BOOLEAN NOT NULL DEFAULT TRUE,     -- search, explore and suggestions list it while it is not private
    is_creator BOOLEAN NOT NULL,
    is_admin BOOLEAN NOT NULL DEFAULT FALSE,
    is_moderator BOOLEAN NOT NULL DEFAULT FALSE,
    limits TEXT,                            -- JSON: its own limits, in place of those of the settings
    total_followers BIGINT NOT NULL,
    total_following BIGINT NOT NULL,
    total_posts BIGINT NOT NULL,
    public_posts BIGINT NOT NULL DEFAULT 0,         -- posts that are not deleted, by visibility: the numbers that a
    followers_posts BIGINT NOT NULL DEFAULT 0,      -- profile shows to other accounts
    connections_posts BIGINT NOT NULL DEFAULT 0,
    last_entry_id TEXT NOT NULL DEFAULT '',         -- the newest post or clip, deleted or not: timelines begin with the
                                            -- accounts that have the newest one
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    suspended_at BIGINT,                    -- nothing of the account is shown, and its owner cannot sign in
    deleted_at BIGINT                       -- its personal fields are erased; it stays suspended
);
CREATE INDEX accounts_suspended ON accounts (id) WHERE suspended_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX accounts_deleted ON accounts (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX accounts_admins ON accounts (id) WHERE is_admin;
CREATE INDEX accounts_moderators ON accounts (id) WHERE is_moderator;

-- A word by whose beginning an account is found: its user name, a word of its display name. Retention: until it changes.
CREATE TABLE account_words (
    word TEXT NOT NULL,                     -- folded (docs/search.md#words)
    account_id TEXT NOT NULL REFERENCES accounts (id),
    PRIMARY KEY (word, account_id)
);
CREATE INDEX account_words_account ON account_words (account_id);

-- A user name that its account gave up or lost. Retention: 90 days.
CREATE TABLE reserved_usernames (
    username_key TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),  -- the previous owner, who may take it again
    reserved_until BIGINT NOT NULL
);
CREATE INDEX reserved_usernames_account ON reserved_usernames (account_id);
CREATE INDEX reserved_usernames_end ON reserved_usernames (reserved_until);

-- An e-mail address or domain that cannot sign up. Retention: until an admin removes it.
CREATE TABLE blocked_addresses (
    id TEXT PRIMARY KEY,
    pattern TEXT NOT NULL UNIQUE,           -- name@example.org, example.org with its subdomains, 203.0.113.0/24; folded
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- sign_in ---------------------------------------------------------------------------------------------------------------

-- A browser that is signed in. Retention: removed after expiry.
CREATE TABLE sessions (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    token_hash TEXT NOT NULL,               -- SHA-256 of the cookie
    id TEXT NOT NULL,
    agent TEXT NOT NULL,                    -- the User-Agent at the sign-in
    address TEXT NOT NULL,                  -- the client's address at the last use
    created_at BIGINT NOT NULL,
    confirmed_at BIGINT NOT NULL,           -- when the password was given last
    renewed_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,                -- the last use, to the minute
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, token_hash)
);
CREATE INDEX sessions_token ON sessions (token_hash);
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_listed ON sessions (account_id, id);

-- Attempts to sign in to an account or from an address, counted before the password is checked.
-- Retention: removed at the end of the window.
CREATE TABLE sign_in_attempts (
    subject TEXT PRIMARY KEY,               -- account:… or address:…
    failures BIGINT NOT NULL,
    successes BIGINT NOT NULL,
    window_ends_at BIGINT NOT NULL
);
CREATE INDEX sign_in_attempts_window ON sign_in_attempts (window_ends_at);

-- Attempts to sign up from an address. Retention: removed an hour after the last attempt.
CREATE TABLE sign_up_attempts (
    subject TEXT PRIMARY KEY,               -- an address; of IPv6, a /64
    times TEXT NOT NULL,                    -- JSON, milliseconds, in order
    updated_at BIGINT NOT NULL
);
CREATE INDEX sign_up_attempts_age ON sign_up_attempts (updated_at);

-- An address from which an account signed in, the latest of each account. Retention: removed after 90 days.
CREATE TABLE known_addresses (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    address_hash TEXT NOT NULL,             -- SHA-256 of the account's id and the address
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, address_hash)
);
CREATE INDEX known_addresses_age ON known_addresses (seen_at);

-- A link or step that is valid once: to verify an address, set a new password, sign in. Retention: removed after expiry.
CREATE TABLE one_time_tokens (
    token_hash TEXT PRIMARY KEY,            -- SHA-256 of the token, which is not stored
    account_id TEXT NOT NULL REFERENCES accounts (id),
    purpose TEXT NOT NULL,
    email TEXT,                             -- the recipient; the token is valid while the account has this address
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX one_time_tokens_account ON one_time_tokens (account_id, purpose);
CREATE INDEX one_time_tokens_expiry ON one_time_tokens (expires_at);

-- The two-factor sign-in of an account. The secret is readable: codes are computed from it.
CREATE TABLE two_factor (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    secret TEXT NOT NULL,                   -- base32
    created_at BIGINT NOT NULL,
    enabled_at BIGINT,                      -- null until a first code confirmed the set-up
    last_step BIGINT NOT NULL               -- the 30 seconds of the last accepted code: none is accepted twice
);

-- A recovery code of two-factor sign-in, at most ten per account. Retention: removed when it is used.
CREATE TABLE recovery_codes (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    code_hash TEXT NOT NULL,                -- SHA-256
    PRIMARY KEY (account_id, code_hash)
);

-- A passkey (WebAuthn): signs in without the password, and confirms it.
CREATE TABLE passkeys (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    id TEXT NOT NULL,
    credential_id TEXT NOT NULL UNIQUE,     -- base64url, as the authenticator named it
    public_key TEXT NOT NULL,               -- base64url of its COSE form
    sign_count BIGINT NOT NULL,             -- of the last use; 0: the authenticator does not count
    name TEXT NOT NULL,                     -- by the owner
    created_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (account_id, id)
);

-- sign_up ---------------------------------------------------------------------------------------------------------------

-- A token that a server without accounts printed. Retention: removed when the first account is made.
CREATE TABLE setup_tokens (
    token_hash TEXT PRIMARY KEY,            -- SHA-256 of the token, which is not stored
    created_at BIGINT NOT NULL
);

-- A link that allows one sign-up. Retention: 30 days after its end.
CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,        -- SHA-256 of the token, which is not stored
    account_id TEXT NOT NULL REFERENCES accounts (id),  -- the admin who made it
    note TEXT,                              -- the admin's note about the recipient
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    used_by TEXT REFERENCES accounts (id),
    revoked_at BIGINT
);
CREATE INDEX invitations_expiry ON invitations (expires_at);
CREATE INDEX invitations_used_by ON invitations (used_by) WHERE used_by IS NOT NULL;
CREATE INDEX invitations_account ON invitations (account_id);

-- keys ------------------------------------------------------------------------------------------------------------------

-- An API key. Retention: for good.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    secret_hash TEXT NOT NULL UNIQUE,       -- SHA-256 of the whole key
    key_prefix TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,                   -- separated by spaces
    ip_allowlist TEXT NOT NULL,             -- networks, separated by spaces; empty: any address
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT,
    revoked_by TEXT,
    reason TEXT,
    note TEXT,                              -- the owner's own words about it
    warn_at BIGINT                          -- when the owner is notified of the expiry; null: never, or notified already
);
CREATE INDEX api_keys_warning ON api_keys (warn_at) WHERE warn_at IS NOT NULL;
CREATE INDEX api_keys_account ON api_keys (account_id, id);
-- The active keys of an account, however many have ended. Keys without an expiry sort last.
CREATE INDEX api_keys_active ON api_keys (account_id, coalesce(expires_at, 9223372036854775807))
    WHERE revoked_at IS NULL;

-- The responses to a key in one hour (docs/keys.md#usage). Retention: removed after 31 days.
CREATE TABLE api_key_usage (
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    hour BIGINT NOT NULL,                   -- hours since 1970
    accepted BIGINT NOT NULL,               -- 1xx to 3xx
    limited BIGINT NOT NULL,                -- 429
    refused BIGINT NOT NULL,                -- other 4xx
    failed BIGINT NOT NULL,                 -- 5xx
    PRIMARY KEY (key_id, hour)
);
CREATE INDEX api_key_usage_hour ON api_key_usage (hour);

-- A response 4xx to a key, the last 50 of each. Retention: removed after 31 days.
CREATE TABLE api_key_refusals (
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    id TEXT NOT NULL,
    refused_at BIGINT NOT NULL,
    method TEXT NOT NULL,
    route TEXT NOT NULL,                    -- as declared: /api/posts/{id}
    status INTEGER NOT NULL,
    label TEXT NOT NULL,                    -- the error's label
    address TEXT NOT NULL,                  -- the client's address
    request_id TEXT NOT NULL,
    PRIMARY KEY (key_id, id)
);
CREATE INDEX api_key_refusals_age ON api_key_refusals (refused_at);

-- limits ----------------------------------------------------------------------------------------------------------------

-- The rate windows of a key or an account, saved after they changed in memory.
-- Retention: removed a day after the last request.
CREATE TABLE rate_windows (
    key_id TEXT PRIMARY KEY,                -- a key's id, or `account:` and an account's
    state TEXT NOT NULL,                    -- JSON, domains/limits/windows.py
    updated_at BIGINT NOT NULL
);
CREATE INDEX rate_windows_age ON rate_windows (updated_at);

-- The process that keeps rate windows in its memory, one row. Retention: for good.
CREATE TABLE rate_window_holders (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,                   -- the process, see process_identity.py
    clean BOOLEAN NOT NULL,                 -- it stopped in order: the saved windows are complete
    taken_at BIGINT NOT NULL
);

-- The content that an account wrote in one UTC day. Retention: removed after a week.
CREATE TABLE content_quotas (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    day BIGINT NOT NULL,                    -- days since 1970
    used BIGINT NOT NULL,                   -- by key
    used_signed_in BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, day)
);
CREATE INDEX content_quotas_day ON content_quotas (day);

-- idempotency -----------------------------------------------------------------------------------------------------------

-- The stored answer of a write, for replay. Retention: removed after 24 hours.
CREATE TABLE idempotent_answers (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    body TEXT NOT NULL,                     -- of the answer
    body_hash TEXT NOT NULL,                -- of the request's body, keyed
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, idempotency_key, method, path)
);
CREATE INDEX idempotent_answers_age ON idempotent_answers (created_at);

-- audit -----------------------------------------------------------------------------------------------------------------

-- An act on an account or its keys, with actor and address. Retention: removed after a year.
CREATE TABLE audit_entries (
    account_id TEXT NOT NULL,               -- empty: no account, as for a job that an admin retried
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,                     -- the last time, for entries that count
    times BIGINT NOT NULL,
    actor TEXT NOT NULL,                    -- self, admin, operator or service
    admin_id TEXT,                          -- the account of the admin who acted
    operator TEXT,                          -- the name of the person who ran the command
    address TEXT NOT NULL,                  -- the client's address; empty for operator and service
    detail TEXT NOT NULL,                   -- JSON of names and short values, never a secret
    counted_as TEXT,                        -- failures of one address and hour are one entry
    PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX audit_entries_counted ON audit_entries (account_id, counted_as) WHERE counted_as IS NOT NULL;
CREATE INDEX audit_entries_age ON audit_entries (at);
CREATE INDEX audit_entries_admin ON audit_entries (id) WHERE actor IN ('admin', 'operator');
CREATE INDEX audit_entries_acts ON audit_entries (admin_id) WHERE admin_id IS NOT NULL AND address <> '';

-- shared state ----------------------------------------------------------------------------------------------------------

-- A version of a secret that all servers of one database share, made at the first start. Retention: until it expires.
CREATE TABLE server_secrets (
    name TEXT NOT NULL,
    secret TEXT NOT NULL,
    signs_from BIGINT NOT NULL,
    expires_at BIGINT,                      -- when it verifies no longer; null: no version follows it
    PRIMARY KEY (name, secret)
);
CREATE UNIQUE INDEX server_secrets_newest ON server_secrets (name) WHERE expires_at IS NULL;

-- Maintenance mode: one row while it is on.
CREATE TABLE maintenance (
    place BIGINT PRIMARY KEY,               -- always 1
    message TEXT NOT NULL,
    since BIGINT NOT NULL
);

-- events ----------------------------------------------------------------------------------------------------------------

-- An event, appended in the transaction of the write that caused it. Retention: 30 days, or its last open delivery.
-- Without foreign keys: to add or detach a partition would lock the table that they refer to.
CREATE TABLE events (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    key_id TEXT,                            -- set when the event concerns one key alone
    type TEXT NOT NULL,
    data TEXT NOT NULL,                     -- JSON, as it is sent
    trace TEXT,                             -- of the request, continued by deliveries (docs/operations.md#tracing)
    number BIGINT,                          -- its place among the account's events, in the order of their commits; null:
                                            -- a test, which no stream has
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
) /* PARTITION BY RANGE (id) */;
/* CREATE TABLE events_rest PARTITION OF events DEFAULT; */
CREATE INDEX events_id ON events (id);
CREATE INDEX events_type ON events (account_id, type, id);
CREATE INDEX events_number ON events (account_id, number);

-- The number of an account's latest event. Whoever emits locks the row until the commit, so that numbers follow commits
-- (docs/events.md#order). Retention: until the account is deleted.
CREATE TABLE event_counters (
    account_id TEXT NOT NULL PRIMARY KEY,
    latest BIGINT NOT NULL
);

-- follows ---------------------------------------------------------------------------------------------------------------

-- An account follows another. Retention: until it is withdrawn.
CREATE TABLE follows (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    followed_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, followed_id)
);
CREATE INDEX follows_followed ON follows (followed_id, account_id);

-- An account asks to follow a private one. Retention: until it is answered or withdrawn.
CREATE TABLE follow_requests (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    followed_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, followed_id)
);
CREATE INDEX follow_requests_waiting ON follow_requests (followed_id, id);

-- Two accounts, one blocking the other: neither sees anything of the other. There is a row for each direction, so
-- that one look tells. Retention: until it is taken back.
CREATE TABLE blocks (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    other_id TEXT NOT NULL REFERENCES accounts (id),
    is_own BOOLEAN NOT NULL,                -- account_id blocks other_id; else the other one blocks alone
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, other_id)
);
CREATE INDEX blocks_other ON blocks (other_id, account_id);

-- An account mutes another: it does not meet the other in lists of its own. Retention: until it is taken back.
CREATE TABLE mutes (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    muted_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, muted_id)
);
CREATE INDEX mutes_muted ON mutes (muted_id, account_id);

-- privacy ---------------------------------------------------------------------------------------------------------------

-- A word or phrase that an account does not want to meet, at most 100 of each. Retention: until it is replaced.
CREATE TABLE word_filters (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    position BIGINT NOT NULL,
    text TEXT NOT NULL,
    whole_word BOOLEAN NOT NULL,            -- it does not match inside other words
    timeline BOOLEAN NOT NULL,              -- it applies to the timeline
    notifications BOOLEAN NOT NULL,         -- it applies to notifications
    PRIMARY KEY (account_id, position)
);

-- hubs ------------------------------------------------------------------------------------------------------------------

-- A hub. Retention: for good.
CREATE TABLE hubs (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),  -- its founder
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT,
    members BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX hubs_members ON hubs (members, id);

-- A word by whose beginning a hub is found: its slug, a word of its name. Retention: that of the hub.
CREATE TABLE hub_words (
    word TEXT NOT NULL,                     -- folded
    hub_id TEXT NOT NULL REFERENCES hubs (id),
    PRIMARY KEY (word, hub_id)
);

-- The membership of an account in a hub. Retention: until the account leaves.
CREATE TABLE memberships (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    hub_id TEXT NOT NULL REFERENCES hubs (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, hub_id)
);

-- media -----------------------------------------------------------------------------------------------------------------

-- A file of a post, clip or draft, or a picture of an account. Retention: that of its post, clip or draft.
CREATE TABLE media (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    owner_id TEXT NOT NULL,                 -- the post, clip or draft that it belongs to
    position BIGINT NOT NULL,
    token TEXT NOT NULL UNIQUE,             -- the secret part of its address
    kind TEXT NOT NULL,                     -- of the upload: image/jpeg, video/webm, …
    alt_text TEXT,
    status TEXT NOT NULL,                   -- PROCESSING, READY, FAILED
    reason TEXT,                            -- of a failure
    width BIGINT,
    height BIGINT,
    duration DOUBLE PRECISION,              -- seconds
    size_bytes BIGINT,                      -- of the file that is served
    stored_bytes BIGINT NOT NULL,           -- its share of stored_media: of the upload, then of the served file
    placeholder TEXT,                       -- a few bytes of picture, shown until the rest is there
    has_medium BOOLEAN NOT NULL DEFAULT FALSE,  -- whether there is a rendition between thumbnail and served file
    created_at BIGINT NOT NULL,
    hidden_at BIGINT,                       -- when its post or clip was deleted
    PRIMARY KEY (account_id, id)
);
CREATE INDEX media_id ON media (id);
CREATE UNIQUE INDEX media_owner ON media (owner_id, position);

-- The bytes of media that an account stores. Retention: for good.
CREATE TABLE stored_media (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    bytes BIGINT NOT NULL
);


-- previews --------------------------------------------------------------------------------------------------------------

-- The card of a page, shared by all posts that link to it. Retention: a page without a card is removed a day after the
-- last try.
CREATE TABLE link_cards (
    url TEXT PRIMARY KEY,
    status TEXT NOT NULL,                   -- READY, FAILED; FETCHING until the first fetch ended
    title TEXT,
    description TEXT,
    site_name TEXT,
    image_token TEXT,                       -- of the stored thumbnail
    fetched_at BIGINT NOT NULL,             -- 0: not yet
    leased_until BIGINT NOT NULL,           -- a process fetches it until then
    lease_token TEXT
);
CREATE INDEX link_cards_image ON link_cards (image_token) WHERE image_token IS NOT NULL;
CREATE INDEX link_cards_age ON link_cards (fetched_at);

-- posts -----------------------------------------------------------------------------------------------------------------

-- A post, bounce or quote. Retention: for good, deleted ones too, for audit; so are the rows that belong to them.
CREATE TABLE posts (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT REFERENCES api_keys (id),   -- null: written in a session
    type TEXT NOT NULL,
    content TEXT,
    visibility TEXT NOT NULL,
    commenters TEXT NOT NULL DEFAULT 'everyone',    -- who may comment: everyone, followers, nobody
    hub_id TEXT REFERENCES hubs (id),
    location_name TEXT,
    latitude DOUBLE PRECISION,
    longitude DOUBLE PRECISION,
    original_id TEXT,                       -- the post that a bounce shares, never itself a plain bounce
    has_poll BOOLEAN NOT NULL DEFAULT FALSE,
    has_media BOOLEAN NOT NULL DEFAULT FALSE,
    preview_url TEXT,                       -- the page whose card it bears
    preview_forced BOOLEAN NOT NULL DEFAULT FALSE,
    likes BIGINT NOT NULL DEFAULT 0,
    comments BIGINT NOT NULL DEFAULT 0,
    shares BIGINT NOT NULL DEFAULT 0,       -- plain bounces that are not deleted
    share_count BIGINT NOT NULL DEFAULT 0,  -- bounces and quotes that are not deleted
    views BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    edited_at BIGINT,
    hidden_at BIGINT,                       -- an admin hid it: it stays PRIVATE until an admin shows it again
    deleted_at BIGINT,
    deleted_by_key TEXT,                    -- the key that deleted it; null: deleted in a session, or not deleted
    imported_as TEXT,                       -- names its source, for which no other post of the account is imported
    PRIMARY KEY (account_id, id)
);
CREATE INDEX posts_id ON posts (id, account_id);
CREATE UNIQUE INDEX posts_imported ON posts (account_id, imported_as) WHERE imported_as IS NOT NULL;
CREATE INDEX posts_profile ON posts (account_id, visibility, id) WHERE deleted_at IS NULL;
CREATE INDEX posts_profile_media ON posts (account_id, visibility, id) WHERE has_media AND deleted_at IS NULL;
CREATE UNIQUE INDEX posts_plain_bounce ON posts (original_id, account_id)
    WHERE type = 'SHARE' AND deleted_at IS NULL;
-- No other statement has this condition: while the index is empty, PostgreSQL would take it for any other of bounces.
CREATE INDEX posts_bounces ON posts (id) WHERE original_id > '' AND deleted_at IS NULL;
CREATE INDEX posts_deleted_by_key ON posts (deleted_by_key, deleted_at) WHERE deleted_by_key IS NOT NULL;
-- The page of a hub is read by visibility, so it passes no post that its reader may not see.
CREATE INDEX posts_hub_public ON posts (hub_id, id)
    WHERE hub_id IS NOT NULL AND visibility = 'PUBLIC' AND deleted_at IS NULL;
CREATE INDEX posts_hub_author ON posts (hub_id, account_id, visibility, id)
    WHERE hub_id IS NOT NULL AND deleted_at IS NULL;

-- The text of a post before an edit. Retention: for good.
CREATE TABLE post_versions (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    post_id TEXT NOT NULL,
    id TEXT NOT NULL,
    content TEXT,
    visibility TEXT NOT NULL,
    written_at BIGINT NOT NULL,
    replaced_at BIGINT,                     -- when the edit was made
    replaced_by_key TEXT,                   -- the key that made it; null: made in a session
    PRIMARY KEY (account_id, post_id, id)
);
CREATE INDEX post_versions_key ON post_versions (replaced_by_key, replaced_at) WHERE replaced_by_key IS NOT NULL;

-- A reader of a CUSTOM post other than its author.
CREATE TABLE post_audiences (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    author_id TEXT NOT NULL REFERENCES accounts (id),
    hub_id TEXT,                            -- the post's
    live BOOLEAN NOT NULL,                  -- the post is CUSTOM and not deleted
    PRIMARY KEY (post_id, account_id)
);
CREATE INDEX post_audiences_reader ON post_audiences (account_id, author_id, post_id) WHERE live;
CREATE INDEX post_audiences_hub ON post_audiences (account_id, hub_id, post_id) WHERE live AND hub_id IS NOT NULL;
CREATE INDEX post_audiences_account ON post_audiences (account_id, post_id);

-- A hashtag of a PUBLIC post that is not deleted.
CREATE TABLE post_tags (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    post_id TEXT NOT NULL,
    tag TEXT NOT NULL,                      -- NFKC, case-folded
    hidden BOOLEAN NOT NULL,                -- the account is private or suspended
    PRIMARY KEY (account_id, post_id, tag)
);
CREATE INDEX post_tags_tag ON post_tags (tag, post_id) WHERE NOT hidden;
CREATE INDEX post_tags_newest ON post_tags (post_id, tag) WHERE NOT hidden;

-- An account that was notified of a mention in a post: once, however often the post is edited.
CREATE TABLE post_mentions (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    PRIMARY KEY (post_id, account_id)
);
CREATE INDEX post_mentions_account ON post_mentions (account_id, post_id);

-- A post whose search words are out of date: it was written, edited or deleted. Retention: until it is indexed again,
-- about a second (docs/search.md#the-index).
CREATE TABLE unindexed_posts (
    post_id TEXT PRIMARY KEY
);

-- The poll of a post.
CREATE TABLE polls (
    post_id TEXT PRIMARY KEY,
    question TEXT,
    multiple BOOLEAN NOT NULL,
    closes_at BIGINT NOT NULL,
    total_votes BIGINT NOT NULL             -- accounts that voted
);

-- An option of a poll.
CREATE TABLE poll_options (
    post_id TEXT NOT NULL REFERENCES polls (post_id),
    position BIGINT NOT NULL,
    label TEXT NOT NULL,
    votes BIGINT NOT NULL,
    PRIMARY KEY (post_id, position)
);

-- The vote of an account in a poll.
CREATE TABLE poll_votes (
    post_id TEXT NOT NULL REFERENCES polls (post_id),
    account_id TEXT NOT NULL REFERENCES accounts (id),
    choices TEXT NOT NULL,                  -- positions, separated by spaces
    created_at BIGINT NOT NULL,
    PRIMARY KEY (post_id, account_id)
);
CREATE INDEX poll_votes_account ON poll_votes (account_id, post_id);

-- An account likes a post.
CREATE TABLE likes (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (post_id, account_id)
);
CREATE INDEX likes_account ON likes (account_id, post_id);
CREATE INDEX likes_newest ON likes (created_at);

-- A post that an account saved.
CREATE TABLE saves (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (post_id, account_id)
);
CREATE INDEX saves_account ON saves (account_id, post_id);

-- comments --------------------------------------------------------------------------------------------------------------

-- A comment on a post, or a reply to one. Retention: for good, like the post's.
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
    edited_at BIGINT,
    deleted_at BIGINT,                      -- a deleted comment stays for audit, like a post
    PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX comments_id ON comments (id);
CREATE INDEX comments_post ON comments (post_id, id) WHERE deleted_at IS NULL;
CREATE INDEX comments_thread ON comments (post_id, thread_id, id) WHERE deleted_at IS NULL;

-- clips -----------------------------------------------------------------------------------------------------------------

-- A clip. Retention: for good, deleted ones too, for audit.
CREATE TABLE clips (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT REFERENCES api_keys (id),
    caption TEXT,
    visibility TEXT NOT NULL,
    hub_id TEXT REFERENCES hubs (id),
    created_at BIGINT NOT NULL,
    edited_at BIGINT,
    deleted_at BIGINT,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX clips_id ON clips (id, account_id);
CREATE INDEX clips_profile ON clips (account_id, visibility, id) WHERE deleted_at IS NULL;
CREATE INDEX clips_hub_public ON clips (hub_id, id)
    WHERE hub_id IS NOT NULL AND visibility = 'PUBLIC' AND deleted_at IS NULL;

-- search ----------------------------------------------------------------------------------------------------------------

-- A post that search finds. Retention: until the post is deleted.
CREATE TABLE indexed_posts (
    number BIGINT PRIMARY KEY,              -- in the order of the posts' ids, but for those indexed late
    post_id TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL                -- its author
    /* , words TSVECTOR NOT NULL */
);
/* CREATE INDEX indexed_posts_words ON indexed_posts USING gin (words) WITH (fastupdate = off); */
-- The words of those posts, which are not stored, by their number.
CREATE VIRTUAL TABLE indexed_words USING fts5 ( -- SQLite alone
    words, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '#@:~_'" -- SQLite alone
); -- SQLite alone

-- drafts ----------------------------------------------------------------------------------------------------------------

-- A post that is not published yet. Retention: until it is deleted; 30 days after it was published.
CREATE TABLE drafts (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT REFERENCES api_keys (id),   -- the key that made it; null: made in a session
    version BIGINT NOT NULL,                -- grows with each change
    state TEXT NOT NULL,                    -- draft, scheduled, refused, published
    fields TEXT NOT NULL,                   -- JSON of the fields of the post
    publish_at BIGINT,
    scheduled_by_key BOOLEAN NOT NULL,      -- and not by a person
    needs_approval BOOLEAN NOT NULL,
    refusal TEXT,
    post_id TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX drafts_state ON drafts (account_id, state, id);
CREATE INDEX drafts_key ON drafts (key_id, id) WHERE key_id IS NOT NULL;
CREATE INDEX drafts_published ON drafts (updated_at) WHERE state = 'published';

-- The row that a transaction locks which changes drafts of an account. Retention: for good.
CREATE TABLE draft_locks (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id)
);

-- notifications ---------------------------------------------------------------------------------------------------------

-- A notification of an account. Likes of one post share a row, and so do its bounces. Retention: removed after 90 days.
CREATE TABLE notifications (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    type TEXT NOT NULL,
    actor_id TEXT REFERENCES accounts (id), -- of likes and bounces: the account that liked or bounced last
    post_id TEXT,
    comment_id TEXT,
    webhook_id TEXT,
    key_id TEXT,
    case_id TEXT,                           -- of a report
    draft_id TEXT,
    created_at BIGINT NOT NULL,
    read_at BIGINT,
    mail TEXT,                              -- wanted, or queued: a job mails it; null: not mailed, or mailed already
    PRIMARY KEY (account_id, id)
);
CREATE INDEX notifications_age ON notifications (created_at);
CREATE INDEX notifications_wanted ON notifications (account_id, id) WHERE mail = 'wanted';
CREATE INDEX notifications_queued ON notifications (account_id, id) WHERE mail = 'queued';
CREATE INDEX notifications_unread ON notifications (account_id, id) WHERE read_at IS NULL;
CREATE INDEX notifications_read ON notifications (account_id, id) WHERE read_at IS NOT NULL;
CREATE INDEX notifications_actor ON notifications (actor_id, account_id, id) WHERE actor_id IS NOT NULL;
-- An account is notified once of each follower, of each request to follow, and of each accepted request.
CREATE UNIQUE INDEX notifications_follow ON notifications (account_id, actor_id, type)
    WHERE type IN ('follow', 'follow.requested', 'follow.accepted');
CREATE UNIQUE INDEX notifications_group ON notifications (post_id, type) WHERE type IN ('like', 'bounce');
CREATE UNIQUE INDEX notifications_case ON notifications (case_id, account_id, type) WHERE case_id IS NOT NULL;

-- The way in which an account hears of a type of notification, where it is not the usual one. Retention: for good.
CREATE TABLE notification_settings (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    type TEXT NOT NULL,
    way TEXT NOT NULL,                      -- app, mail (and app) or off
    PRIMARY KEY (account_id, type)
);

-- reports ---------------------------------------------------------------------------------------------------------------

-- The case of a reported post, comment or account. At most one case of a subject is open.
-- Retention: a year after the decision.
CREATE TABLE report_cases (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,                     -- post, comment or account
    subject_id TEXT NOT NULL,
    owner_id TEXT NOT NULL REFERENCES accounts (id),
    material TEXT NOT NULL,                 -- JSON: the subject at the first report
    reports INTEGER NOT NULL DEFAULT 0,
    opened_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT REFERENCES accounts (id),
    decision TEXT,                          -- hidden, shown, deleted, suspended or dismissed
    reason TEXT                             -- shown to the owner
);
CREATE UNIQUE INDEX report_cases_open ON report_cases (type, subject_id) WHERE decided_at IS NULL;
CREATE INDEX report_cases_waiting ON report_cases (id) WHERE decided_at IS NULL;
CREATE INDEX report_cases_decided ON report_cases (decided_at, id) WHERE decided_at IS NOT NULL;
CREATE INDEX report_cases_owner ON report_cases (owner_id, id);

-- The report of one account in a case. Retention: that of the case.
CREATE TABLE reports (
    case_id TEXT NOT NULL REFERENCES report_cases (id),
    reporter_id TEXT NOT NULL REFERENCES accounts (id),
    id TEXT NOT NULL,
    reason TEXT NOT NULL,
    material TEXT NOT NULL,                 -- JSON: the subject at this report
    created_at BIGINT NOT NULL,
    PRIMARY KEY (case_id, reporter_id)
);
CREATE INDEX reports_reporter ON reports (reporter_id, id);

-- explore ---------------------------------------------------------------------------------------------------------------

-- A pick of the last run of explore's job. Each read decides whether its reader may see it.
-- Retention: until the job replaces all of them, every five minutes.
CREATE TABLE explore_picks (
    kind TEXT NOT NULL,                     -- tag, post, account, hub
    rank BIGINT NOT NULL,                   -- from 0, the best
    subject TEXT NOT NULL,                  -- the identity of a hashtag, or an id
    account_id TEXT,                        -- the author of a post
    posts BIGINT NOT NULL,                  -- of a hashtag: posts with it in the last day
    accounts BIGINT NOT NULL,               -- accounts that used the hashtag, or liked or bounced the post, in the last day
    PRIMARY KEY (kind, rank)
);

-- A hashtag, post, account or hub that an admin took out of explore. Retention: until an admin puts it back, or its
-- account is deleted.
CREATE TABLE explore_exclusions (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,                     -- tag, post, account, hub
    subject TEXT NOT NULL,                  -- the identity of a hashtag, or an id
    account_id TEXT REFERENCES accounts (id),   -- the account, or the author of the post
    reason TEXT NOT NULL,
    admin_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX explore_exclusions_subject ON explore_exclusions (kind, subject);
CREATE INDEX explore_exclusions_account ON explore_exclusions (account_id) WHERE account_id IS NOT NULL;

-- site_texts ------------------------------------------------------------------------------------------------------------

-- A text in which the operator describes the server. Retention: until an admin withdraws it.
CREATE TABLE site_texts (
    name TEXT PRIMARY KEY,                  -- about, rules, terms, privacy, announcement
    source TEXT NOT NULL,                   -- Markdown
    html TEXT NOT NULL,                     -- the same, rendered when it was published
    updated_at BIGINT NOT NULL,
    ends_at BIGINT                          -- of an announcement: it is shown until then
);

-- webhooks --------------------------------------------------------------------------------------------------------------

-- An endpoint that receives an account's events. It is the unit of work: a worker leases an endpoint and sends its
-- deliveries in order. Retention: 30 days after it was removed.
CREATE TABLE webhooks (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    origin_id TEXT NOT NULL,                -- the first endpoint of those with the same key and URL that it continues:
                                            -- their envelopes can still be redelivered
    url TEXT NOT NULL,
    label TEXT,                             -- the owner's name for it
    events TEXT NOT NULL,                   -- event types, separated by spaces
    secret TEXT NOT NULL,                   -- in clear: requests are signed with it
    previous_secret_expires_at BIGINT,
    speed TEXT NOT NULL,                    -- new, quick, slow: the slots that it is sent from
    created_at BIGINT NOT NULL,
    key_expires_at BIGINT,                  -- nothing is queued from then on
    closed_at BIGINT,                       -- the key was revoked, or expired a day ago: nothing is queued, and every
                                            -- delivery but the news of it is cancelled
    paused_at BIGINT,                       -- by the owner: deliveries wait until it is resumed, and spend no attempt
    disabled_at BIGINT,                     -- it failed too often: nothing is queued, and waiting deliveries are held
    disabled_reason TEXT,
    removed_at BIGINT,                      -- it is hidden; the sweep removes its rows
    consecutive_failures BIGINT NOT NULL,
    probe_at BIGINT,                        -- the next attempt while it fails
    next_due_at BIGINT,                     -- the next work; null: none
    lease_token TEXT,
    leased_until BIGINT NOT NULL,
    sweep_at BIGINT,                        -- when its waiting deliveries, or it, are removed
    PRIMARY KEY (account_id, id)
);
CREATE INDEX webhooks_due ON webhooks (speed, next_due_at) WHERE next_due_at IS NOT NULL;
CREATE INDEX webhooks_live ON webhooks (account_id, id)
    WHERE removed_at IS NULL AND disabled_at IS NULL AND closed_at IS NULL;
CREATE INDEX webhooks_expiry ON webhooks (key_expires_at) WHERE closed_at IS NULL AND key_expires_at IS NOT NULL;
CREATE INDEX webhooks_key ON webhooks (key_id, id) WHERE removed_at IS NULL;
CREATE INDEX webhooks_removed ON webhooks (key_id, removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX webhooks_origin ON webhooks (account_id, origin_id);
CREATE INDEX webhooks_paused ON webhooks (paused_at) WHERE paused_at IS NOT NULL;
CREATE INDEX webhooks_sweep ON webhooks (sweep_at) WHERE sweep_at IS NOT NULL;

-- The delivery of an event to an endpoint: its envelope and its outcome. Held and cancelled are no states of the row,
-- they follow from the endpoint. Retention: 30 days after it was finished, or that of its endpoint.
CREATE TABLE deliveries (
    account_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    envelope_id TEXT NOT NULL,              -- evt_ and a UUID v4
    event_type TEXT NOT NULL,
    state TEXT NOT NULL,                    -- pending, delivered, failed
    code TEXT NOT NULL,                     -- of the latest attempt: 2xx, 3xx, 4xx, 5xx, none (no complete answer);
                                            -- empty: no attempt yet
    redelivery BOOLEAN NOT NULL,
    tries BIGINT NOT NULL,                  -- since it was queued, or queued again
    attempts TEXT NOT NULL,                 -- JSON: the latest attempts, oldest first
    due_at BIGINT NOT NULL,
    finished_at BIGINT,
    PRIMARY KEY (account_id, webhook_id, event_id)
) /* PARTITION BY RANGE (event_id) */;
/* CREATE TABLE deliveries_rest PARTITION OF deliveries DEFAULT; */
CREATE INDEX deliveries_pending ON deliveries (account_id, webhook_id, event_id, due_at) WHERE state = 'pending';
CREATE INDEX deliveries_tests ON deliveries (account_id, webhook_id, event_id)
    WHERE state = 'pending' AND event_type = 'webhook.test';
CREATE INDEX deliveries_last_test ON deliveries (account_id, webhook_id, event_id) WHERE event_type = 'webhook.test';
CREATE INDEX deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;
-- A filter compares all its columns for equality, so one that finds nothing reads nothing.
CREATE INDEX deliveries_found ON deliveries (account_id, webhook_id, state, event_type, code, event_id);
CREATE INDEX deliveries_envelope ON deliveries (envelope_id);

-- The attempts at an endpoint in one hour, tests included (docs/webhooks.md#statistics). Retention: removed after 31 days.
CREATE TABLE webhook_hours (
    account_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    hour BIGINT NOT NULL,                   -- hours since 1970
    accepted BIGINT NOT NULL,               -- 2xx
    redirected BIGINT NOT NULL,             -- 3xx
    refused BIGINT NOT NULL,                -- 4xx
    failed BIGINT NOT NULL,                 -- 5xx
    unanswered BIGINT NOT NULL,             -- no complete answer
    -- Of the answered attempts, those that took so many milliseconds at most, and more than the column before.
    took_20 BIGINT NOT NULL,
    took_50 BIGINT NOT NULL,
    took_100 BIGINT NOT NULL,
    took_200 BIGINT NOT NULL,
    took_350 BIGINT NOT NULL,
    took_500 BIGINT NOT NULL,
    took_750 BIGINT NOT NULL,
    took_1000 BIGINT NOT NULL,
    took_1500 BIGINT NOT NULL,
    took_2000 BIGINT NOT NULL,
    took_3500 BIGINT NOT NULL,
    took_5000 BIGINT NOT NULL,
    took_7500 BIGINT NOT NULL,
    took_10000 BIGINT NOT NULL,
    PRIMARY KEY (account_id, webhook_id, hour)
);
CREATE INDEX webhook_hours_hour ON webhook_hours (hour);

-- jobs ------------------------------------------------------------------------------------------------------------------

-- A job, done apart from requests. Retention: removed when it is done; a dead one after 30 days.
CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,                  -- read by the code of its kind
    account_id TEXT NOT NULL,               -- whose share of the workers it takes; empty: everybody's
    tries BIGINT NOT NULL,
    kills BIGINT NOT NULL DEFAULT 0,        -- leases that expired: the worker was killed
    deferrals BIGINT NOT NULL DEFAULT 0,    -- times that the machine lacked memory or disk for it
    due_at BIGINT,                          -- null: dead
    leased_until BIGINT NOT NULL,
    lease_token TEXT,
    error TEXT,                             -- of the last failed try
    created_at BIGINT NOT NULL,
    UNIQUE (kind, subject)
);
CREATE INDEX jobs_leased ON jobs (kind, account_id, leased_until) WHERE due_at IS NOT NULL AND leased_until > 0;
CREATE INDEX jobs_of_account ON jobs (kind, account_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_dead ON jobs (created_at) WHERE due_at IS NULL;
CREATE INDEX jobs_dead_listed ON jobs (id) WHERE due_at IS NULL;

-- The queue of an account's jobs of one kind, due when one of them may be claimed: perhaps in vain, never late.
CREATE TABLE job_queues (
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    claims BIGINT NOT NULL,                 -- so far: of two queues that are due, the one with fewer goes first
    PRIMARY KEY (kind, account_id)
);
CREATE INDEX job_queues_due ON job_queues (kind, due_at, claims);

-- A group of clean-ups that one process at a time does under a lease. Retention: for good.
CREATE TABLE sweeps (
    name TEXT PRIMARY KEY,
    next_at BIGINT NOT NULL,                -- when the group is due again
    leased_until BIGINT NOT NULL,
    lease_token TEXT NOT NULL
);

-- personal_data ---------------------------------------------------------------------------------------------------------

-- The copy of an account's data, at most one. Retention: removed seven days after it was made.
CREATE TABLE exports (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    state TEXT NOT NULL,                    -- pending, ready, failed
    requested_at BIGINT NOT NULL,           -- with the account's id, the name of its file in the store
    finished_at BIGINT,
    expires_at BIGINT,
    size_bytes BIGINT
);
CREATE INDEX exports_expiry ON exports (expires_at) WHERE expires_at IS NOT NULL;

-- operations ------------------------------------------------------------------------------------------------------------

-- A transfer from SQLite into this database. Until it has ended, no server starts on the database. Retention: for good.
CREATE TABLE transfers (
    id TEXT PRIMARY KEY,                    -- also in the file beside the source
    started_at BIGINT NOT NULL,
    finished_at BIGINT                      -- null: not complete
);
