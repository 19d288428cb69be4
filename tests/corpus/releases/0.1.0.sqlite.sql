-- SQLite dump (by APSW 3.54.1.0)
-- SQLite version 3.54.1
-- Date: Sun Nov 22 18:05:10 2026
-- Tables like: (All)
-- Database: /tmp/tmpsu_o0ezj/sqlite/data/pressroom.db
-- User: root @ vm

-- The values of various per-database settings
PRAGMA page_size=4096;
-- PRAGMA encoding='UTF-8';
-- PRAGMA auto_vacuum=NONE;
-- PRAGMA max_page_count=4294967294;

BEGIN TRANSACTION;

-- Table  accounts
DROP TABLE IF EXISTS accounts;
CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL UNIQUE,      -- the user name without regard to case
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,            -- Argon2id
    display_name TEXT NOT NULL,
    bio TEXT,
    verified BOOLEAN NOT NULL,
    email_verified BOOLEAN NOT NULL,
    is_private BOOLEAN NOT NULL,
    is_creator BOOLEAN NOT NULL,
    total_followers BIGINT NOT NULL,
    total_following BIGINT NOT NULL,
    total_posts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
, suspended_at BIGINT, deleted_at BIGINT, is_admin BOOLEAN NOT NULL DEFAULT FALSE, public_posts BIGINT NOT NULL DEFAULT 0, followers_posts BIGINT NOT NULL DEFAULT 0, connections_posts BIGINT NOT NULL DEFAULT 0, avatar_token TEXT, cover_token TEXT);
INSERT INTO accounts VALUES('01M826XWVEF4CV2EW70PZ4ZCH4','editor','editor','editor@example.org','editor@example.org','$argon2id$v=19$m=19456,t=2,p=1$QvJ1xrBvhVv3JVOBimdYSA$EwFEck2B/0wY9Umvyw5E3uCXqTJwZ1R57sJ3NojuV/0','editor',NULL,0,0,0,0,0,0,0,1795370709870,1795370709885,NULL,NULL,0,0,0,0,NULL,NULL);
INSERT INTO accounts VALUES('01M826XX3061QAH5GHE1MV0QEM','alice','alice','alice@example.org','alice@example.org','$argon2id$v=19$m=19456,t=2,p=1$TmioNUCLWNWpZ9waTVuCbg$dymhR8I6y3ba5QMD3jjnLxyK8U/AGIyM/ZOgLJJqfAc','alice',NULL,0,0,0,0,1,0,3,1795370710112,1795370710390,NULL,NULL,0,3,0,0,NULL,NULL);
INSERT INTO accounts VALUES('01M826XX7BYKF01TTGARV7XT0H','bob','bob','bob@example.org','bob@example.org','$argon2id$v=19$m=19456,t=2,p=1$bjr3ReaCq6AIuKGG87FVtA$0qfpyFN/29mjE0NISbllqPI5YV6LAMRvuZCj3t2EJTY','bob',NULL,0,0,0,0,0,1,0,1795370710251,1795370710251,NULL,NULL,0,0,0,0,NULL,NULL);
-- Triggers and indices on  accounts
CREATE INDEX accounts_admins ON accounts (id) WHERE is_admin;
CREATE INDEX accounts_deleted ON accounts (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX accounts_suspended ON accounts (id) WHERE suspended_at IS NOT NULL AND deleted_at IS NULL;

-- Table  api_key_refusals
DROP TABLE IF EXISTS api_key_refusals;
CREATE TABLE api_key_refusals (
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    id TEXT NOT NULL,
    refused_at BIGINT NOT NULL,
    method TEXT NOT NULL,
    route TEXT NOT NULL,                    -- as declared: /api/posts/{id}
    status INTEGER NOT NULL,
    label TEXT NOT NULL,                    -- the error's label
    address TEXT NOT NULL,                  -- where the request came from
    request_id TEXT NOT NULL,
    PRIMARY KEY (key_id, id)
);
-- Triggers and indices on  api_key_refusals
CREATE INDEX api_key_refusals_age ON api_key_refusals (refused_at);

-- Table  api_key_usage
DROP TABLE IF EXISTS api_key_usage;
CREATE TABLE api_key_usage (
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    hour BIGINT NOT NULL,
    accepted BIGINT NOT NULL,               -- 1xx to 3xx
    limited BIGINT NOT NULL,                -- 429
    refused BIGINT NOT NULL,                -- other 4xx
    failed BIGINT NOT NULL,                 -- 5xx
    PRIMARY KEY (key_id, hour)
);
INSERT INTO api_key_usage VALUES('01M826XX7GB1XZN151SQW2JYMM',498714,5,0,0,0);
-- Triggers and indices on  api_key_usage
CREATE INDEX api_key_usage_hour ON api_key_usage (hour);

-- Table  api_keys
DROP TABLE IF EXISTS api_keys;
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
    reason TEXT
);
INSERT INTO api_keys VALUES('01M826XWVX8CMH3CCWAM84D0KT','01M826XWVEF4CV2EW70PZ4ZCH4','27a07fc7ebe199526fa34dae993430dc21a32b860eae2171b36666a87ea84b97','svc_live_0QAyUg','First key','posts:write posts:delete media:write bounces:write comments:write clips:write','',1795370709885,NULL,NULL,NULL,NULL,NULL);
INSERT INTO api_keys VALUES('01M826XX7GB1XZN151SQW2JYMM','01M826XX3061QAH5GHE1MV0QEM','d37f04d39831e44080d03c7e154464df6ef9c7ec974e57db7b27592ee486cac8','svc_live_oX1BZs','release','posts:write media:write comments:write bounces:write','',1795370710256,NULL,1795370700000,NULL,NULL,NULL);
-- Triggers and indices on  api_keys
CREATE INDEX api_keys_account ON api_keys (account_id, id);
CREATE INDEX api_keys_active ON api_keys (account_id, coalesce(expires_at, 9223372036854775807))
    WHERE revoked_at IS NULL;

-- Table  audit_entries
DROP TABLE IF EXISTS audit_entries;
CREATE TABLE audit_entries (
    account_id TEXT NOT NULL,               -- empty: of no account, as a job that an admin retried
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,                     -- of entries that count, the last time
    times BIGINT NOT NULL,
    actor TEXT NOT NULL,                    -- self, admin, operator or service
    admin_id TEXT,                          -- the account of the admin who acted
    address TEXT NOT NULL,                  -- where the request came from; empty for operator and service
    detail TEXT NOT NULL,                   -- JSON of names and short values, never a secret
    counted_as TEXT,                        -- failures of one address and hour are one entry
    PRIMARY KEY (account_id, id)
);
INSERT INTO audit_entries VALUES('01M826XWVEF4CV2EW70PZ4ZCH4','01M826XWVEF4CV2EW70PZ4ZCH5','account.created',1795370709870,1,'operator',NULL,'','{}',NULL);
INSERT INTO audit_entries VALUES('01M826XWVEF4CV2EW70PZ4ZCH4','01M826XWVX8CMH3CCWAM84D0KV','key.made',1795370709885,1,'operator',NULL,'','{"keyId":"01M826XWVX8CMH3CCWAM84D0KT","label":"First key"}',NULL);
INSERT INTO audit_entries VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XX3061QAH5GHE1MV0QEN','account.created',1795370710112,1,'self',NULL,'127.0.0.1','{}',NULL);
INSERT INTO audit_entries VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XX3061QAH5GHE1MV0QER','session.started',1795370710112,1,'self',NULL,'127.0.0.1','{}',NULL);
INSERT INTO audit_entries VALUES('01M826XX7BYKF01TTGARV7XT0H','01M826XX7BYKF01TTGARV7XT0J','account.created',1795370710251,1,'self',NULL,'127.0.0.1','{}',NULL);
INSERT INTO audit_entries VALUES('01M826XX7BYKF01TTGARV7XT0H','01M826XX7BYKF01TTGARV7XT0N','session.started',1795370710251,1,'self',NULL,'127.0.0.1','{}',NULL);
INSERT INTO audit_entries VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XX7GB1XZN151SQW2JYMN','key.made',1795370710256,1,'self',NULL,'127.0.0.1','{"keyId":"01M826XX7GB1XZN151SQW2JYMM","label":"release"}',NULL);
INSERT INTO audit_entries VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XX7ME5FVZTSQXERQEXJ1','endpoint.added',1795370710260,1,'self',NULL,'127.0.0.1','{"webhookId":"01M826XX7ME5FVZTSQXERQEXJ0","host":"127.0.0.1:9"}',NULL);
-- Triggers and indices on  audit_entries
CREATE INDEX audit_entries_acts ON audit_entries (admin_id) WHERE admin_id IS NOT NULL AND address <> '';
CREATE INDEX audit_entries_admin ON audit_entries (id) WHERE actor IN ('admin', 'operator');
CREATE INDEX audit_entries_age ON audit_entries (at);
CREATE UNIQUE INDEX audit_entries_counted ON audit_entries (account_id, counted_as) WHERE counted_as IS NOT NULL;

-- Table  blocked_addresses
DROP TABLE IF EXISTS blocked_addresses;
CREATE TABLE blocked_addresses (
    id TEXT PRIMARY KEY,
    pattern TEXT NOT NULL UNIQUE,           -- name@example.org, or example.org and what lies below it; folded
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- Table  clips
DROP TABLE IF EXISTS clips;
CREATE TABLE clips (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT REFERENCES api_keys (id),
    caption TEXT,
    visibility TEXT NOT NULL,
    hub_id TEXT REFERENCES hubs (id),
    created_at BIGINT NOT NULL, edited_at BIGINT, deleted_at BIGINT,
    PRIMARY KEY (account_id, id)
);
-- Triggers and indices on  clips
CREATE INDEX clips_id ON clips (id);
CREATE INDEX clips_profile ON clips (account_id, visibility, id) WHERE deleted_at IS NULL;

-- Table  comments
DROP TABLE IF EXISTS comments;
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
    created_at BIGINT NOT NULL, edited_at BIGINT, deleted_at BIGINT,
    PRIMARY KEY (account_id, id)
);
INSERT INTO comments VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XXBPKGSH6RX72X6HGW8J','01M826XXB64RX0EAF1TT10A9AN',NULL,'01M826XXBPKGSH6RX72X6HGW8J','01M826XX7GB1XZN151SQW2JYMM','A comment.',NULL,NULL,1795370710390,NULL,NULL);
-- Triggers and indices on  comments
CREATE UNIQUE INDEX comments_id ON comments (id);
CREATE INDEX comments_post ON comments (post_id, id) WHERE deleted_at IS NULL;
CREATE INDEX comments_thread ON comments (post_id, thread_id, id) WHERE deleted_at IS NULL;

-- Table  content_quotas
DROP TABLE IF EXISTS content_quotas;
CREATE TABLE content_quotas (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    day BIGINT NOT NULL,
    used BIGINT NOT NULL, used_signed_in BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, day)
);
INSERT INTO content_quotas VALUES('01M826XX3061QAH5GHE1MV0QEM',20779,3,0);
-- Triggers and indices on  content_quotas
CREATE INDEX content_quotas_day ON content_quotas (day);

-- Table  deliveries
DROP TABLE IF EXISTS deliveries;
CREATE TABLE deliveries (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    webhook_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    envelope_id TEXT NOT NULL,              -- evt_ and a UUID v4
    event_type TEXT NOT NULL,
    state TEXT NOT NULL,                    -- pending, delivered, failed
    redelivery BOOLEAN NOT NULL,
    tries BIGINT NOT NULL,                  -- since it was queued, or queued again
    attempts TEXT NOT NULL,                 -- JSON: the latest attempts, oldest first
    due_at BIGINT NOT NULL,
    finished_at BIGINT, code TEXT NOT NULL DEFAULT '2xx',
    PRIMARY KEY (account_id, webhook_id, event_id)
);
INSERT INTO deliveries VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XX7ME5FVZTSQXERQEXJ0','01M826XXB64RX0EAF1TT10A9AQ','evt_15dc85d1-e289-4238-821b-8b90a3781340','post.created','pending',0,1,'[{"number":1,"at":"2026-11-22T18:05:10.383Z","status":"failed","httpCode":null,"error":"The connection was refused.","durationMs":2,"responseBody":null,"signedWith":"whsec_rz8BRD","signature":"t=1795370710,v1=3e8fa48de2a005ecbbfb40795bc147cfa062dfc4d723675b16fff9cd3148924c","userAgent":"Pressroom/0.1.0"}]',1795370774312,NULL,'none');
INSERT INTO deliveries VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XX7ME5FVZTSQXERQEXJ0','01M826XXBW213N600HRX9HN7BX','evt_d2e3e64c-f921-482e-9b14-f7eeba51cddd','post.created','pending',0,0,'[]',1795370710396,NULL,'');
INSERT INTO deliveries VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XX7ME5FVZTSQXERQEXJ0','01M826XXCKRD7GCXPKJNQR0CZE','evt_3c83623c-f04f-4554-a61e-b0b862d26fd9','post.created','pending',0,0,'[]',1795370710419,NULL,'');
-- Triggers and indices on  deliveries
CREATE INDEX deliveries_envelope ON deliveries (envelope_id);
CREATE INDEX deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX deliveries_found ON deliveries (account_id, webhook_id, state, event_type, code, event_id);
CREATE INDEX deliveries_last_test ON deliveries (account_id, webhook_id, event_id) WHERE event_type = 'webhook.test';
CREATE INDEX deliveries_pending ON deliveries (account_id, webhook_id, event_id, due_at) WHERE state = 'pending';
CREATE INDEX deliveries_tests ON deliveries (account_id, webhook_id, event_id)
    WHERE state = 'pending' AND event_type = 'webhook.test';

-- Table  events
DROP TABLE IF EXISTS events;
CREATE TABLE events (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT,                            -- set when the event concerns one key alone
    type TEXT NOT NULL,
    data TEXT NOT NULL,                     -- JSON, as it is sent
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
INSERT INTO events VALUES('01M826XXB64RX0EAF1TT10A9AQ','01M826XX3061QAH5GHE1MV0QEM',NULL,'post.created','{"post":{"id":"01M826XXB64RX0EAF1TT10A9AN","authorId":"01M826XX3061QAH5GHE1MV0QEM","content":"Of a #release. @bob","type":"POST","visibility":"PUBLIC","isShare":false,"originalPostId":null,"hubId":null,"createdAt":"2026-11-22T18:05:10.374Z"}}',1795370710374);
INSERT INTO events VALUES('01M826XXBPKGSH6RX72X6HGW8K','01M826XX3061QAH5GHE1MV0QEM',NULL,'comment.created','{"comment":{"id":"01M826XXBPKGSH6RX72X6HGW8J","postId":"01M826XXB64RX0EAF1TT10A9AN","authorId":"01M826XX3061QAH5GHE1MV0QEM","parentId":null,"content":"A comment.","createdAt":"2026-11-22T18:05:10.390Z"}}',1795370710390);
INSERT INTO events VALUES('01M826XXBW213N600HRX9HN7BX','01M826XX3061QAH5GHE1MV0QEM',NULL,'post.created','{"post":{"id":"01M826XXBW213N600HRX9HN7BW","authorId":"01M826XX3061QAH5GHE1MV0QEM","content":"A quote.","type":"QUOTE","visibility":"PUBLIC","isShare":true,"originalPostId":"01M826XXB64RX0EAF1TT10A9AN","hubId":null,"createdAt":"2026-11-22T18:05:10.396Z"}}',1795370710396);
INSERT INTO events VALUES('01M826XXCKRD7GCXPKJNQR0CZE','01M826XX3061QAH5GHE1MV0QEM',NULL,'post.created','{"post":{"id":"01M826XXCKRD7GCXPKJNQR0CZD","authorId":"01M826XX3061QAH5GHE1MV0QEM","content":null,"type":"POST","visibility":"PUBLIC","isShare":false,"originalPostId":null,"hubId":null,"createdAt":"2026-11-22T18:05:10.419Z"}}',1795370710419);
-- Triggers and indices on  events
CREATE INDEX events_age ON events (created_at);
CREATE INDEX events_type ON events (account_id, type, id);

-- Table  exports
DROP TABLE IF EXISTS exports;
CREATE TABLE exports (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    state TEXT NOT NULL,                    -- pending, ready, failed
    requested_at BIGINT NOT NULL,           -- with the account's id, the name of its file in the store
    finished_at BIGINT,
    expires_at BIGINT,
    size_bytes BIGINT
);
-- Triggers and indices on  exports
CREATE INDEX exports_expiry ON exports (expires_at) WHERE expires_at IS NOT NULL;

-- Table  follow_requests
DROP TABLE IF EXISTS follow_requests;
CREATE TABLE follow_requests (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    followed_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, followed_id)
);
-- Triggers and indices on  follow_requests
CREATE INDEX follow_requests_waiting ON follow_requests (followed_id, id);

-- Table  follows
DROP TABLE IF EXISTS follows;
CREATE TABLE follows (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    followed_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, followed_id)
);
INSERT INTO follows VALUES('01M826XX7BYKF01TTGARV7XT0H','01M826XX3061QAH5GHE1MV0QEM',1795370710408);
-- Triggers and indices on  follows
CREATE INDEX follows_followed ON follows (followed_id, account_id);

-- Table  hubs
DROP TABLE IF EXISTS hubs;
CREATE TABLE hubs (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),  -- who made it
    slug TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT,
    members BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
INSERT INTO hubs VALUES('01M826XXCBGRVY8G8DNKAMRSXB','01M826XX7BYKF01TTGARV7XT0H','a-hub','A hub',NULL,1,1795370710411);

-- Table  idempotent_answers
DROP TABLE IF EXISTS idempotent_answers;
CREATE TABLE idempotent_answers (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL, body_hash TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (account_id, idempotency_key, method, path)
);
-- Triggers and indices on  idempotent_answers
CREATE INDEX idempotent_answers_age ON idempotent_answers (created_at);

-- Table  invitations
DROP TABLE IF EXISTS invitations;
CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,        -- SHA-256 of the token, which nothing stores
    account_id TEXT NOT NULL REFERENCES accounts (id),  -- the admin who made it
    note TEXT,                              -- for whom, in the admin's words
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    used_by TEXT REFERENCES accounts (id),
    revoked_at BIGINT
);
-- Triggers and indices on  invitations
CREATE INDEX invitations_account ON invitations (account_id);
CREATE INDEX invitations_expiry ON invitations (expires_at);
CREATE INDEX invitations_used_by ON invitations (used_by) WHERE used_by IS NOT NULL;

-- Table  job_queues
DROP TABLE IF EXISTS job_queues;
CREATE TABLE job_queues (
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    claims BIGINT NOT NULL,                 -- so far: of two that are due together, the one with fewer goes first
    PRIMARY KEY (kind, account_id)
);
-- Triggers and indices on  job_queues
CREATE INDEX job_queues_due ON job_queues (kind, due_at, claims);

-- Table  jobs
DROP TABLE IF EXISTS jobs;
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
    created_at BIGINT NOT NULL, kills BIGINT NOT NULL DEFAULT 0, deferrals BIGINT NOT NULL DEFAULT 0,
    UNIQUE (kind, subject)
);
-- Triggers and indices on  jobs
CREATE INDEX jobs_dead ON jobs (created_at) WHERE due_at IS NULL;
CREATE INDEX jobs_dead_listed ON jobs (id) WHERE due_at IS NULL;
CREATE INDEX jobs_leased ON jobs (kind, account_id, leased_until) WHERE due_at IS NOT NULL AND leased_until > 0;
CREATE INDEX jobs_of_account ON jobs (kind, account_id, due_at, id) WHERE due_at IS NOT NULL;

-- Table  known_addresses
DROP TABLE IF EXISTS known_addresses;
CREATE TABLE known_addresses (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    address_hash TEXT NOT NULL,             -- SHA-256 of the account's id and the address
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, address_hash)
);
INSERT INTO known_addresses VALUES('01M826XX3061QAH5GHE1MV0QEM','9f0eb9c1d2b05e7b5e38085584a7772c73aa5484ddbc2e8e2df33a3a50777db9',1795370710112);
INSERT INTO known_addresses VALUES('01M826XX7BYKF01TTGARV7XT0H','3bb138b5e40f286ad212b2e57fb7195a1ecf7bc5c7be75a6dd2b9c3a0c2c5490',1795370710251);
-- Triggers and indices on  known_addresses
CREATE INDEX known_addresses_age ON known_addresses (seen_at);

-- Table  likes
DROP TABLE IF EXISTS likes;
CREATE TABLE likes (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (post_id, account_id)
);
INSERT INTO likes VALUES('01M826XXB64RX0EAF1TT10A9AN','01M826XX7BYKF01TTGARV7XT0H',1795370710401);
-- Triggers and indices on  likes
CREATE INDEX likes_account ON likes (account_id, post_id);

-- Table  link_cards
DROP TABLE IF EXISTS link_cards;
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
-- Triggers and indices on  link_cards
CREATE INDEX link_cards_age ON link_cards (fetched_at);
CREATE INDEX link_cards_image ON link_cards (image_token) WHERE image_token IS NOT NULL;

-- Table  media
DROP TABLE IF EXISTS media;
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
    hidden_at BIGINT, stored_bytes BIGINT NOT NULL DEFAULT 0,                       -- what it belongs to was deleted
    PRIMARY KEY (account_id, id)
);
INSERT INTO media VALUES('01M826XXCHWTMY3T84Z45577PV','01M826XX3061QAH5GHE1MV0QEM','01M826XXCKRD7GCXPKJNQR0CZD',0,'SLn4kvcvoCf3GpwFSEF5IhTyhWjAyAQH','image/jpeg',NULL,'READY',NULL,60,40,NULL,86,'data:image/webp;base64,UklGRjoAAABXRUJQVlA4IC4AAACQAQCdASoQAAsAAsBMJaACdLoAA5gA/u52f/FtI6FTq/+2h/+tD/9aH/SgAAAA',1795370710419,NULL,178);
-- Triggers and indices on  media
CREATE INDEX media_id ON media (id);
CREATE UNIQUE INDEX media_owner ON media (owner_id, position);

-- Table  memberships
DROP TABLE IF EXISTS memberships;
CREATE TABLE memberships (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    hub_id TEXT NOT NULL REFERENCES hubs (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, hub_id)
);
INSERT INTO memberships VALUES('01M826XX7BYKF01TTGARV7XT0H','01M826XXCBGRVY8G8DNKAMRSXB',1795370710411);

-- Table  notifications
DROP TABLE IF EXISTS notifications;
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
INSERT INTO notifications VALUES('01M826XXB64RX0EAF1TT10A9AP','01M826XX7BYKF01TTGARV7XT0H','mention','01M826XX3061QAH5GHE1MV0QEM','01M826XXB64RX0EAF1TT10A9AN',NULL,NULL,1795370710374,NULL);
INSERT INTO notifications VALUES('01M826XXC8Z1YMHB0NQAX5HMV7','01M826XX3061QAH5GHE1MV0QEM','follow','01M826XX7BYKF01TTGARV7XT0H',NULL,NULL,NULL,1795370710408,NULL);
-- Triggers and indices on  notifications
CREATE INDEX notifications_actor ON notifications (actor_id, account_id, id) WHERE actor_id IS NOT NULL;
CREATE INDEX notifications_age ON notifications (created_at);
CREATE UNIQUE INDEX notifications_follow ON notifications (account_id, actor_id, type)
    WHERE type IN ('follow', 'follow.requested');
CREATE INDEX notifications_read ON notifications (account_id, id) WHERE read_at IS NOT NULL;
CREATE INDEX notifications_unread ON notifications (account_id, id) WHERE read_at IS NULL;

-- Table  one_time_tokens
DROP TABLE IF EXISTS one_time_tokens;
CREATE TABLE one_time_tokens (
    token_hash TEXT PRIMARY KEY,            -- SHA-256 of the token, which nothing stores
    account_id TEXT NOT NULL REFERENCES accounts (id),
    purpose TEXT NOT NULL,
    email TEXT,                             -- the address it was sent to; it holds while the account has that one
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
INSERT INTO one_time_tokens VALUES('a95d9188410591e903895e780f58f2e2a1fe3f6db449668eac6594b6f4f2eedf','01M826XWVEF4CV2EW70PZ4ZCH4','sign-in',NULL,1795370709887,1795374309887);
INSERT INTO one_time_tokens VALUES('45957ea931d71c720b024ac94ba9ee8bb5119ce7c5c1a42149db0868ab19dc84','01M826XX3061QAH5GHE1MV0QEM','verify','alice@example.org',1795370710127,1795457110127);
INSERT INTO one_time_tokens VALUES('c744b614061c7cc616025ee1ca96d7490b1d38463b25075a90504b477ce7aae4','01M826XX7BYKF01TTGARV7XT0H','verify','bob@example.org',1795370710257,1795457110257);
-- Triggers and indices on  one_time_tokens
CREATE INDEX one_time_tokens_account ON one_time_tokens (account_id, purpose);
CREATE INDEX one_time_tokens_expiry ON one_time_tokens (expires_at);

-- Table  poll_options
DROP TABLE IF EXISTS poll_options;
CREATE TABLE poll_options (
    post_id TEXT NOT NULL REFERENCES polls (post_id),
    position BIGINT NOT NULL,
    label TEXT NOT NULL,
    votes BIGINT NOT NULL,
    PRIMARY KEY (post_id, position)
);
INSERT INTO poll_options VALUES('01M826XXB64RX0EAF1TT10A9AN',0,'yes',1);
INSERT INTO poll_options VALUES('01M826XXB64RX0EAF1TT10A9AN',1,'no',0);

-- Table  poll_votes
DROP TABLE IF EXISTS poll_votes;
CREATE TABLE poll_votes (
    post_id TEXT NOT NULL REFERENCES polls (post_id),
    account_id TEXT NOT NULL REFERENCES accounts (id),
    choices TEXT NOT NULL,                  -- positions, separated by spaces
    created_at BIGINT NOT NULL,
    PRIMARY KEY (post_id, account_id)
);
INSERT INTO poll_votes VALUES('01M826XXB64RX0EAF1TT10A9AN','01M826XX7BYKF01TTGARV7XT0H','0',1795370710406);
-- Triggers and indices on  poll_votes
CREATE INDEX poll_votes_account ON poll_votes (account_id, post_id);

-- Table  polls
DROP TABLE IF EXISTS polls;
CREATE TABLE polls (
    post_id TEXT PRIMARY KEY,
    question TEXT,
    multiple BOOLEAN NOT NULL,
    closes_at BIGINT NOT NULL,
    total_votes BIGINT NOT NULL             -- accounts that voted
);
INSERT INTO polls VALUES('01M826XXB64RX0EAF1TT10A9AN',NULL,0,1795457110374,1);

-- Table  post_audiences
DROP TABLE IF EXISTS post_audiences;
CREATE TABLE post_audiences (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    author_id TEXT NOT NULL REFERENCES accounts (id), hub_id TEXT, live BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (post_id, account_id)
);
-- Triggers and indices on  post_audiences
CREATE INDEX post_audiences_account ON post_audiences (account_id, post_id);
CREATE INDEX post_audiences_hub ON post_audiences (account_id, hub_id, post_id) WHERE live AND hub_id IS NOT NULL;
CREATE INDEX post_audiences_reader ON post_audiences (account_id, author_id, post_id) WHERE live;

-- Table  post_mentions
DROP TABLE IF EXISTS post_mentions;
CREATE TABLE post_mentions (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    PRIMARY KEY (post_id, account_id)
);
INSERT INTO post_mentions VALUES('01M826XXB64RX0EAF1TT10A9AN','01M826XX7BYKF01TTGARV7XT0H');
-- Triggers and indices on  post_mentions
CREATE INDEX post_mentions_account ON post_mentions (account_id, post_id);

-- Table  post_tags
DROP TABLE IF EXISTS post_tags;
CREATE TABLE post_tags (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    post_id TEXT NOT NULL,
    tag TEXT NOT NULL, hidden BOOLEAN NOT NULL DEFAULT FALSE,                      -- NFKC, case-folded
    PRIMARY KEY (account_id, post_id, tag)
);
INSERT INTO post_tags VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XXB64RX0EAF1TT10A9AN','release',0);
-- Triggers and indices on  post_tags
CREATE INDEX post_tags_tag ON post_tags (tag, post_id) WHERE NOT hidden;

-- Table  post_versions
DROP TABLE IF EXISTS post_versions;
CREATE TABLE post_versions (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    post_id TEXT NOT NULL,
    id TEXT NOT NULL,
    content TEXT,
    visibility TEXT NOT NULL,
    written_at BIGINT NOT NULL, replaced_at BIGINT, replaced_by_key TEXT,
    PRIMARY KEY (account_id, post_id, id)
);
INSERT INTO post_versions VALUES('01M826XX3061QAH5GHE1MV0QEM','01M826XXB64RX0EAF1TT10A9AN','01M826XXBDCG6YJTV5FXHZXG0P','Of a #release. @bob','PUBLIC',1795370710374,1795370710381,'01M826XX7GB1XZN151SQW2JYMM');
-- Triggers and indices on  post_versions
CREATE INDEX post_versions_key ON post_versions (replaced_by_key, replaced_at) WHERE replaced_by_key IS NOT NULL;

-- Table  posts
DROP TABLE IF EXISTS posts;
CREATE TABLE posts (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT REFERENCES api_keys (id),
    type TEXT NOT NULL,
    content TEXT,
    visibility TEXT NOT NULL,
    location_name TEXT,
    latitude DOUBLE PRECISION,
    longitude DOUBLE PRECISION,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    edited_at BIGINT,
    deleted_at BIGINT, hub_id TEXT REFERENCES hubs (id), original_id TEXT, has_poll BOOLEAN NOT NULL DEFAULT FALSE, likes BIGINT NOT NULL DEFAULT 0, comments BIGINT NOT NULL DEFAULT 0, shares BIGINT NOT NULL DEFAULT 0, share_count BIGINT NOT NULL DEFAULT 0, views BIGINT NOT NULL DEFAULT 0, has_media BOOLEAN NOT NULL DEFAULT FALSE, preview_url TEXT, preview_forced BOOLEAN NOT NULL DEFAULT FALSE, deleted_by_key TEXT, hidden_at BIGINT,
    PRIMARY KEY (account_id, id)
);
INSERT INTO posts VALUES('01M826XXB64RX0EAF1TT10A9AN','01M826XX3061QAH5GHE1MV0QEM','01M826XX7GB1XZN151SQW2JYMM','POST','Of an earlier #release. @bob','PUBLIC',NULL,NULL,NULL,1795370710374,1795370710381,1795370710381,NULL,NULL,NULL,1,1,1,0,1,0,0,NULL,0,NULL,NULL);
INSERT INTO posts VALUES('01M826XXBW213N600HRX9HN7BW','01M826XX3061QAH5GHE1MV0QEM','01M826XX7GB1XZN151SQW2JYMM','QUOTE','A quote.','PUBLIC',NULL,NULL,NULL,1795370710396,1795370710396,NULL,NULL,NULL,'01M826XXB64RX0EAF1TT10A9AN',0,0,0,0,0,0,0,NULL,0,NULL,NULL);
INSERT INTO posts VALUES('01M826XXCKRD7GCXPKJNQR0CZD','01M826XX3061QAH5GHE1MV0QEM','01M826XX7GB1XZN151SQW2JYMM','POST',NULL,'PUBLIC',NULL,NULL,NULL,1795370710419,1795370710419,NULL,NULL,NULL,NULL,0,0,0,0,0,0,1,NULL,0,NULL,NULL);
-- Triggers and indices on  posts
CREATE INDEX posts_deleted_by_key ON posts (deleted_by_key, deleted_at) WHERE deleted_by_key IS NOT NULL;
CREATE INDEX posts_hub_author ON posts (hub_id, account_id, visibility, id)
    WHERE hub_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX posts_hub_public ON posts (hub_id, id)
    WHERE hub_id IS NOT NULL AND visibility = 'PUBLIC' AND deleted_at IS NULL;
CREATE INDEX posts_id ON posts (id);
CREATE UNIQUE INDEX posts_plain_bounce ON posts (account_id, original_id)
    WHERE type = 'SHARE' AND deleted_at IS NULL;
CREATE INDEX posts_profile ON posts (account_id, visibility, id) WHERE deleted_at IS NULL;

-- Table  rate_window_holders
DROP TABLE IF EXISTS rate_window_holders;
CREATE TABLE rate_window_holders (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,                   -- which process, see process_identity.py
    clean BOOLEAN NOT NULL,                 -- it stopped in order: what it saved is all that it counted
    taken_at BIGINT NOT NULL
);
INSERT INTO rate_window_holders VALUES('api','e6e614f9-d33f-43e3-a1cd-f58b09f57884:pid:[4026531836]:31178:6163710',1,1795370709679);

-- Table  rate_windows
DROP TABLE IF EXISTS rate_windows;
CREATE TABLE "rate_windows" (
    key_id TEXT PRIMARY KEY,
    state TEXT NOT NULL,                    -- JSON, domains/limits/windows.py
    updated_at BIGINT NOT NULL
);
INSERT INTO rate_windows VALUES('01M826XX7GB1XZN151SQW2JYMM','{"attempts":[1795370710374,1795370710381,1795370710387,1795370710396,1795370710416],"posts":[1795370710374],"day":[[29922845,5]],"refusals":[],"saved_at":1795370710694}',1795370710695);
INSERT INTO rate_windows VALUES('account:01M826XX3061QAH5GHE1MV0QEM','{"attempts":[1795370710256,1795370710259],"posts":[],"day":[],"refusals":[],"saved_at":1795370710694}',1795370710695);
INSERT INTO rate_windows VALUES('account:01M826XX7BYKF01TTGARV7XT0H','{"attempts":[1795370710401,1795370710402,1795370710406,1795370710408,1795370710411],"posts":[],"day":[],"refusals":[],"saved_at":1795370710694}',1795370710695);
-- Triggers and indices on  rate_windows
CREATE INDEX rate_windows_age ON rate_windows (updated_at);

-- Table  recovery_codes
DROP TABLE IF EXISTS recovery_codes;
CREATE TABLE recovery_codes (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    code_hash TEXT NOT NULL,                -- SHA-256
    PRIMARY KEY (account_id, code_hash)
);

-- Table  report_cases
DROP TABLE IF EXISTS report_cases;
CREATE TABLE report_cases (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,                     -- post, comment or account
    subject_id TEXT NOT NULL,
    owner_id TEXT NOT NULL REFERENCES accounts (id),
    material TEXT NOT NULL,                 -- JSON: what it was when it was first reported
    reports INTEGER NOT NULL DEFAULT 0,
    opened_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT REFERENCES accounts (id),
    decision TEXT,                          -- hidden, shown, deleted, suspended or dismissed
    reason TEXT                             -- what the owner is told
);
-- Triggers and indices on  report_cases
CREATE INDEX report_cases_decided ON report_cases (decided_at, id) WHERE decided_at IS NOT NULL;
CREATE UNIQUE INDEX report_cases_open ON report_cases (type, subject_id) WHERE decided_at IS NULL;
CREATE INDEX report_cases_owner ON report_cases (owner_id, id);
CREATE INDEX report_cases_waiting ON report_cases (id) WHERE decided_at IS NULL;

-- Table  reports
DROP TABLE IF EXISTS reports;
CREATE TABLE reports (
    case_id TEXT NOT NULL REFERENCES report_cases (id),
    reporter_id TEXT NOT NULL REFERENCES accounts (id),
    id TEXT NOT NULL,
    reason TEXT NOT NULL,
    material TEXT NOT NULL,                 -- JSON: what it was at this report
    created_at BIGINT NOT NULL,
    PRIMARY KEY (case_id, reporter_id)
);
-- Triggers and indices on  reports
CREATE INDEX reports_reporter ON reports (reporter_id, id);

-- Table  reserved_usernames
DROP TABLE IF EXISTS reserved_usernames;
CREATE TABLE reserved_usernames (
    username_key TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),  -- who had it, and may take it back
    reserved_until BIGINT NOT NULL
);
-- Triggers and indices on  reserved_usernames
CREATE INDEX reserved_usernames_account ON reserved_usernames (account_id);
CREATE INDEX reserved_usernames_end ON reserved_usernames (reserved_until);

-- Table  saves
DROP TABLE IF EXISTS saves;
CREATE TABLE saves (
    post_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (post_id, account_id)
);
INSERT INTO saves VALUES('01M826XXB64RX0EAF1TT10A9AN','01M826XX7BYKF01TTGARV7XT0H',1795370710402);
-- Triggers and indices on  saves
CREATE INDEX saves_account ON saves (account_id, post_id);

-- Table  schema_migrations
DROP TABLE IF EXISTS schema_migrations;
CREATE TABLE schema_migrations (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO schema_migrations VALUES(1,'spine');
INSERT INTO schema_migrations VALUES(2,'publishing');
INSERT INTO schema_migrations VALUES(3,'webhooks');
INSERT INTO schema_migrations VALUES(4,'media');
INSERT INTO schema_migrations VALUES(5,'account_limits');
INSERT INTO schema_migrations VALUES(6,'people');
INSERT INTO schema_migrations VALUES(7,'continued_endpoints');
INSERT INTO schema_migrations VALUES(8,'jobs');
INSERT INTO schema_migrations VALUES(9,'limits');
INSERT INTO schema_migrations VALUES(10,'replays');
INSERT INTO schema_migrations VALUES(11,'hub_pages');
INSERT INTO schema_migrations VALUES(12,'one_time_tokens');
INSERT INTO schema_migrations VALUES(13,'two_factor');
INSERT INTO schema_migrations VALUES(14,'key_usage');
INSERT INTO schema_migrations VALUES(15,'deliveries');
INSERT INTO schema_migrations VALUES(16,'last_test');
INSERT INTO schema_migrations VALUES(17,'events_by_type');
INSERT INTO schema_migrations VALUES(18,'clip_edits');
INSERT INTO schema_migrations VALUES(19,'comment_edits');
INSERT INTO schema_migrations VALUES(20,'notifications_read');
INSERT INTO schema_migrations VALUES(21,'account_security');
INSERT INTO schema_migrations VALUES(22,'deletion');
INSERT INTO schema_migrations VALUES(23,'administration');
INSERT INTO schema_migrations VALUES(24,'reports');
INSERT INTO schema_migrations VALUES(26,'first_account');
INSERT INTO schema_migrations VALUES(27,'exports');
INSERT INTO schema_migrations VALUES(28,'invitations');
INSERT INTO schema_migrations VALUES(30,'clips_of_accounts');
INSERT INTO schema_migrations VALUES(31,'keyed_body_hashes');
INSERT INTO schema_migrations VALUES(32,'deletion_of_what_names');
INSERT INTO schema_migrations VALUES(33,'avatars');
INSERT INTO schema_migrations VALUES(34,'covers');
INSERT INTO schema_migrations VALUES(35,'standing_comments');
INSERT INTO schema_migrations VALUES(36,'sweeps');
INSERT INTO schema_migrations VALUES(37,'transfers');

-- Table  server_secrets
DROP TABLE IF EXISTS server_secrets;
CREATE TABLE server_secrets (
    name TEXT PRIMARY KEY,
    secret TEXT NOT NULL
);
INSERT INTO server_secrets VALUES('media','nC3ZU92HtU5rkdCb6Hzvd1P033UZKWXr');
INSERT INTO server_secrets VALUES('body hashes','DEQsuwbbOubUim0TktV7yAD6cUVQXgTc');

-- Table  sessions
DROP TABLE IF EXISTS sessions;
CREATE TABLE sessions (
    account_id TEXT NOT NULL REFERENCES accounts (id),
    token_hash TEXT NOT NULL,               -- SHA-256 of the cookie
    created_at BIGINT NOT NULL,
    renewed_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, confirmed_at BIGINT NOT NULL DEFAULT 0, id TEXT, agent TEXT NOT NULL DEFAULT '', address TEXT NOT NULL DEFAULT '', seen_at BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, token_hash)
);
INSERT INTO sessions VALUES('01M826XX3061QAH5GHE1MV0QEM','42a84072ffa185f9e7385bea9f3c57ee0922b322b0a58f8388d3f55e680334a9',1795370710112,1795370710112,1797962710112,1795370710112,'01M826XX3061QAH5GHE1MV0QEQ','','127.0.0.1',1795370710112);
INSERT INTO sessions VALUES('01M826XX7BYKF01TTGARV7XT0H','dfc1ad9ed10dac712dc8391e5d0780d17b3a3c968d178df0be808b239e6ab933',1795370710251,1795370710251,1797962710251,1795370710251,'01M826XX7BYKF01TTGARV7XT0M','','127.0.0.1',1795370710251);
-- Triggers and indices on  sessions
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_listed ON sessions (account_id, coalesce(id, upper(substr(token_hash, 1, 26))));
CREATE INDEX sessions_token ON sessions (token_hash);

-- Table  setup_tokens
DROP TABLE IF EXISTS setup_tokens;
CREATE TABLE setup_tokens (
    token_hash TEXT PRIMARY KEY,            -- SHA-256 of the token, which nothing stores
    created_at BIGINT NOT NULL
);

-- Table  sign_in_attempts
DROP TABLE IF EXISTS sign_in_attempts;
CREATE TABLE sign_in_attempts (
    subject TEXT PRIMARY KEY,               -- account:… or address:…
    failures BIGINT NOT NULL,
    window_ends_at BIGINT NOT NULL
);
-- Triggers and indices on  sign_in_attempts
CREATE INDEX sign_in_attempts_window ON sign_in_attempts (window_ends_at);

-- Table  sign_up_attempts
DROP TABLE IF EXISTS sign_up_attempts;
CREATE TABLE sign_up_attempts (
    subject TEXT PRIMARY KEY,               -- an address, or a /64 of IPv6
    times TEXT NOT NULL,                    -- JSON, milliseconds, in order
    updated_at BIGINT NOT NULL
);
INSERT INTO sign_up_attempts VALUES('127.0.0.1','[1795370709941,1795370710126]',1795370710126);
INSERT INTO sign_up_attempts VALUES('verify 01M826XX3061QAH5GHE1MV0QEM','[1795370710112]',1795370710112);
INSERT INTO sign_up_attempts VALUES('verify 01M826XX7BYKF01TTGARV7XT0H','[1795370710251]',1795370710251);
-- Triggers and indices on  sign_up_attempts
CREATE INDEX sign_up_attempts_age ON sign_up_attempts (updated_at);

-- Table  stored_media
DROP TABLE IF EXISTS stored_media;
CREATE TABLE stored_media (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    bytes BIGINT NOT NULL
);
INSERT INTO stored_media VALUES('01M826XX3061QAH5GHE1MV0QEM',178);

-- Table  sweeps
DROP TABLE IF EXISTS sweeps;
CREATE TABLE sweeps (
    name TEXT PRIMARY KEY,
    next_at BIGINT NOT NULL,                -- when the group is due again
    leased_until BIGINT NOT NULL,
    lease_token TEXT NOT NULL
);

-- Table  transfers
DROP TABLE IF EXISTS transfers;
CREATE TABLE transfers (
    id TEXT PRIMARY KEY,                    -- also in the file beside the source
    started_at BIGINT NOT NULL,
    finished_at BIGINT                      -- null: not whole yet
);

-- Table  two_factor
DROP TABLE IF EXISTS two_factor;
CREATE TABLE two_factor (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    secret TEXT NOT NULL,                   -- base32
    created_at BIGINT NOT NULL,
    enabled_at BIGINT,                      -- null until a first code confirmed the set-up
    last_step BIGINT NOT NULL               -- the 30 seconds of the last code that passed: none passes twice
);

-- Table  webhooks
DROP TABLE IF EXISTS webhooks;
CREATE TABLE webhooks (
    id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    url TEXT NOT NULL,
    events TEXT NOT NULL,                   -- event types, separated by spaces
    secret TEXT NOT NULL,                   -- signing needs it as it is
    previous_secret_expires_at BIGINT,
    created_at BIGINT NOT NULL,
    key_expires_at BIGINT,                  -- from then on nothing is queued
    closed_at BIGINT,                       -- the key was revoked, or expired a day ago: nothing is queued, and all
                                            -- but that news is cancelled
    disabled_at BIGINT,                     -- it failed too often: nothing is queued, what waits is held
    disabled_reason TEXT,
    removed_at BIGINT,                      -- nobody sees it any more; its rows go at the next sweep
    consecutive_failures BIGINT NOT NULL,
    probe_at BIGINT,                        -- while it fails: when the next delivery is tried
    next_due_at BIGINT,                     -- when there is something to do; null: nothing waits, or never again
    lease_token TEXT,
    leased_until BIGINT NOT NULL,
    sweep_at BIGINT, origin_id TEXT NOT NULL DEFAULT '', speed TEXT NOT NULL DEFAULT 'new',                        -- when what waits for it in vain is removed
    PRIMARY KEY (account_id, id)
);
INSERT INTO webhooks VALUES('01M826XX7ME5FVZTSQXERQEXJ0','01M826XX3061QAH5GHE1MV0QEM','01M826XX7GB1XZN151SQW2JYMM','http://127.0.0.1:9/hook','post.created','whsec_rz8BRDogqeQlekK2YZ6AG1YM52ARR6hZ',NULL,1795370710260,NULL,NULL,NULL,NULL,NULL,1,1795370774312,1795370774312,NULL,0,NULL,'01M826XX7ME5FVZTSQXERQEXJ0','quick');
-- Triggers and indices on  webhooks
CREATE INDEX webhooks_due ON webhooks (speed, next_due_at) WHERE next_due_at IS NOT NULL;
CREATE INDEX webhooks_expiry ON webhooks (key_expires_at) WHERE closed_at IS NULL AND key_expires_at IS NOT NULL;
CREATE INDEX webhooks_key ON webhooks (key_id, id) WHERE removed_at IS NULL;
CREATE INDEX webhooks_live ON webhooks (account_id, id)
    WHERE removed_at IS NULL AND disabled_at IS NULL AND closed_at IS NULL;
CREATE INDEX webhooks_origin ON webhooks (account_id, origin_id);
CREATE INDEX webhooks_removed ON webhooks (key_id, removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX webhooks_sweep ON webhooks (sweep_at) WHERE sweep_at IS NOT NULL;

COMMIT TRANSACTION;
