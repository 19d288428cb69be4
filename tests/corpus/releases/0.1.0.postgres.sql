--
-- PostgreSQL database dump
--


-- Dumped from database version 18.4
-- Dumped by pg_dump version 18.4

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: accounts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.accounts (
    id text NOT NULL COLLATE pg_catalog."C",
    username text NOT NULL COLLATE pg_catalog."C",
    username_key text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C",
    email_key text NOT NULL COLLATE pg_catalog."C",
    password_hash text NOT NULL COLLATE pg_catalog."C",
    display_name text NOT NULL COLLATE pg_catalog."C",
    bio text COLLATE pg_catalog."C",
    verified boolean NOT NULL,
    email_verified boolean NOT NULL,
    is_private boolean NOT NULL,
    is_creator boolean NOT NULL,
    total_followers bigint NOT NULL,
    total_following bigint NOT NULL,
    total_posts bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    suspended_at bigint,
    deleted_at bigint,
    is_admin boolean DEFAULT false NOT NULL,
    public_posts bigint DEFAULT 0 NOT NULL,
    followers_posts bigint DEFAULT 0 NOT NULL,
    connections_posts bigint DEFAULT 0 NOT NULL,
    avatar_token text COLLATE pg_catalog."C",
    cover_token text COLLATE pg_catalog."C"
);


--
-- Name: api_key_refusals; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_key_refusals (
    key_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    refused_at bigint NOT NULL,
    method text NOT NULL COLLATE pg_catalog."C",
    route text NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    label text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    request_id text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: api_key_usage; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_key_usage (
    key_id text NOT NULL COLLATE pg_catalog."C",
    hour bigint NOT NULL,
    accepted bigint NOT NULL,
    limited bigint NOT NULL,
    refused bigint NOT NULL,
    failed bigint NOT NULL
);


--
-- Name: api_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    secret_hash text NOT NULL COLLATE pg_catalog."C",
    key_prefix text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL COLLATE pg_catalog."C",
    scopes text NOT NULL COLLATE pg_catalog."C",
    ip_allowlist text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    revoked_by text COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C"
);


--
-- Name: audit_entries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_entries (
    account_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    times bigint NOT NULL,
    actor text NOT NULL COLLATE pg_catalog."C",
    admin_id text COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL COLLATE pg_catalog."C",
    counted_as text COLLATE pg_catalog."C"
);


--
-- Name: blocked_addresses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.blocked_addresses (
    id text NOT NULL COLLATE pg_catalog."C",
    pattern text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: clips; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.clips (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text COLLATE pg_catalog."C",
    caption text COLLATE pg_catalog."C",
    visibility text NOT NULL COLLATE pg_catalog."C",
    hub_id text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    edited_at bigint,
    deleted_at bigint
);


--
-- Name: comments; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.comments (
    account_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    post_id text NOT NULL COLLATE pg_catalog."C",
    parent_id text COLLATE pg_catalog."C",
    thread_id text NOT NULL COLLATE pg_catalog."C",
    key_id text COLLATE pg_catalog."C",
    content text COLLATE pg_catalog."C",
    media_type text COLLATE pg_catalog."C",
    media_url text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    edited_at bigint,
    deleted_at bigint
);


--
-- Name: content_quotas; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.content_quotas (
    account_id text NOT NULL COLLATE pg_catalog."C",
    day bigint NOT NULL,
    used bigint NOT NULL,
    used_signed_in bigint DEFAULT 0 NOT NULL
);


--
-- Name: deliveries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.deliveries (
    account_id text NOT NULL COLLATE pg_catalog."C",
    webhook_id text NOT NULL COLLATE pg_catalog."C",
    event_id text NOT NULL COLLATE pg_catalog."C",
    envelope_id text NOT NULL COLLATE pg_catalog."C",
    event_type text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    redelivery boolean NOT NULL,
    tries bigint NOT NULL,
    attempts text NOT NULL COLLATE pg_catalog."C",
    due_at bigint NOT NULL,
    finished_at bigint,
    code text DEFAULT '2xx'::text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    data text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: exports; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.exports (
    account_id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    requested_at bigint NOT NULL,
    finished_at bigint,
    expires_at bigint,
    size_bytes bigint
);


--
-- Name: follow_requests; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.follow_requests (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    followed_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: follows; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.follows (
    account_id text NOT NULL COLLATE pg_catalog."C",
    followed_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: hubs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.hubs (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    description text COLLATE pg_catalog."C",
    members bigint NOT NULL,
    created_at bigint NOT NULL
);


--
-- Name: idempotent_answers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotent_answers (
    account_id text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    body_hash text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: invitations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invitations (
    id text NOT NULL COLLATE pg_catalog."C",
    token_hash text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    note text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    used_by text COLLATE pg_catalog."C",
    revoked_at bigint
);


--
-- Name: job_queues; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.job_queues (
    kind text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    due_at bigint NOT NULL,
    claims bigint NOT NULL
);


--
-- Name: jobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.jobs (
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    tries bigint NOT NULL,
    due_at bigint,
    leased_until bigint NOT NULL,
    lease_token text COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    kills bigint DEFAULT 0 NOT NULL,
    deferrals bigint DEFAULT 0 NOT NULL
);


--
-- Name: known_addresses; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.known_addresses (
    account_id text NOT NULL COLLATE pg_catalog."C",
    address_hash text NOT NULL COLLATE pg_catalog."C",
    seen_at bigint NOT NULL
);


--
-- Name: likes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.likes (
    post_id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: link_cards; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.link_cards (
    url text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    title text COLLATE pg_catalog."C",
    description text COLLATE pg_catalog."C",
    site_name text COLLATE pg_catalog."C",
    image_token text COLLATE pg_catalog."C",
    fetched_at bigint NOT NULL,
    leased_until bigint NOT NULL,
    lease_token text COLLATE pg_catalog."C"
);


--
-- Name: media; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.media (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    token text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    alt_text text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    width bigint,
    height bigint,
    duration double precision,
    size_bytes bigint,
    placeholder text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    hidden_at bigint,
    stored_bytes bigint DEFAULT 0 NOT NULL
);


--
-- Name: memberships; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.memberships (
    account_id text NOT NULL COLLATE pg_catalog."C",
    hub_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: notifications; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.notifications (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    actor_id text COLLATE pg_catalog."C",
    post_id text COLLATE pg_catalog."C",
    webhook_id text COLLATE pg_catalog."C",
    key_id text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    read_at bigint
);


--
-- Name: one_time_tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.one_time_tokens (
    token_hash text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    purpose text NOT NULL COLLATE pg_catalog."C",
    email text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);


--
-- Name: poll_options; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.poll_options (
    post_id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    label text NOT NULL COLLATE pg_catalog."C",
    votes bigint NOT NULL
);


--
-- Name: poll_votes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.poll_votes (
    post_id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    choices text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: polls; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.polls (
    post_id text NOT NULL COLLATE pg_catalog."C",
    question text COLLATE pg_catalog."C",
    multiple boolean NOT NULL,
    closes_at bigint NOT NULL,
    total_votes bigint NOT NULL
);


--
-- Name: post_audiences; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.post_audiences (
    post_id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    author_id text NOT NULL COLLATE pg_catalog."C",
    hub_id text COLLATE pg_catalog."C",
    live boolean DEFAULT false NOT NULL
);


--
-- Name: post_mentions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.post_mentions (
    post_id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: post_tags; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.post_tags (
    account_id text NOT NULL COLLATE pg_catalog."C",
    post_id text NOT NULL COLLATE pg_catalog."C",
    tag text NOT NULL COLLATE pg_catalog."C",
    hidden boolean DEFAULT false NOT NULL
);


--
-- Name: post_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.post_versions (
    account_id text NOT NULL COLLATE pg_catalog."C",
    post_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    content text COLLATE pg_catalog."C",
    visibility text NOT NULL COLLATE pg_catalog."C",
    written_at bigint NOT NULL,
    replaced_at bigint,
    replaced_by_key text COLLATE pg_catalog."C"
);


--
-- Name: posts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.posts (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    content text COLLATE pg_catalog."C",
    visibility text NOT NULL COLLATE pg_catalog."C",
    location_name text COLLATE pg_catalog."C",
    latitude double precision,
    longitude double precision,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    edited_at bigint,
    deleted_at bigint,
    hub_id text COLLATE pg_catalog."C",
    original_id text COLLATE pg_catalog."C",
    has_poll boolean DEFAULT false NOT NULL,
    likes bigint DEFAULT 0 NOT NULL,
    comments bigint DEFAULT 0 NOT NULL,
    shares bigint DEFAULT 0 NOT NULL,
    share_count bigint DEFAULT 0 NOT NULL,
    views bigint DEFAULT 0 NOT NULL,
    has_media boolean DEFAULT false NOT NULL,
    preview_url text COLLATE pg_catalog."C",
    preview_forced boolean DEFAULT false NOT NULL,
    deleted_by_key text COLLATE pg_catalog."C",
    hidden_at bigint
);


--
-- Name: rate_window_holders; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rate_window_holders (
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    clean boolean NOT NULL,
    taken_at bigint NOT NULL
);


--
-- Name: rate_windows; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rate_windows (
    key_id text CONSTRAINT rate_windows_of_all_key_id_not_null NOT NULL COLLATE pg_catalog."C",
    state text CONSTRAINT rate_windows_of_all_state_not_null NOT NULL COLLATE pg_catalog."C",
    updated_at bigint CONSTRAINT rate_windows_of_all_updated_at_not_null NOT NULL
);


--
-- Name: recovery_codes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.recovery_codes (
    account_id text NOT NULL COLLATE pg_catalog."C",
    code_hash text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: report_cases; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.report_cases (
    id text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    subject_id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    material text NOT NULL COLLATE pg_catalog."C",
    reports integer DEFAULT 0 NOT NULL,
    opened_at bigint NOT NULL,
    decided_at bigint,
    decided_by text COLLATE pg_catalog."C",
    decision text COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C"
);


--
-- Name: reports; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.reports (
    case_id text NOT NULL COLLATE pg_catalog."C",
    reporter_id text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    material text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: reserved_usernames; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.reserved_usernames (
    username_key text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    reserved_until bigint NOT NULL
);


--
-- Name: saves; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.saves (
    post_id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: server_secrets; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.server_secrets (
    name text NOT NULL COLLATE pg_catalog."C",
    secret text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    account_id text NOT NULL COLLATE pg_catalog."C",
    token_hash text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    renewed_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    confirmed_at bigint DEFAULT 0 NOT NULL,
    id text COLLATE pg_catalog."C",
    agent text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    address text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    seen_at bigint DEFAULT 0 NOT NULL
);


--
-- Name: setup_tokens; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.setup_tokens (
    token_hash text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);


--
-- Name: sign_in_attempts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sign_in_attempts (
    subject text NOT NULL COLLATE pg_catalog."C",
    failures bigint NOT NULL,
    window_ends_at bigint NOT NULL
);


--
-- Name: sign_up_attempts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sign_up_attempts (
    subject text NOT NULL COLLATE pg_catalog."C",
    times text NOT NULL COLLATE pg_catalog."C",
    updated_at bigint NOT NULL
);


--
-- Name: stored_media; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.stored_media (
    account_id text NOT NULL COLLATE pg_catalog."C",
    bytes bigint NOT NULL
);


--
-- Name: sweeps; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sweeps (
    name text NOT NULL COLLATE pg_catalog."C",
    next_at bigint NOT NULL,
    leased_until bigint NOT NULL,
    lease_token text NOT NULL COLLATE pg_catalog."C"
);


--
-- Name: transfers; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.transfers (
    id text NOT NULL COLLATE pg_catalog."C",
    started_at bigint NOT NULL,
    finished_at bigint
);


--
-- Name: two_factor; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.two_factor (
    account_id text NOT NULL COLLATE pg_catalog."C",
    secret text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    enabled_at bigint,
    last_step bigint NOT NULL
);


--
-- Name: webhooks; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhooks (
    id text NOT NULL COLLATE pg_catalog."C",
    account_id text NOT NULL COLLATE pg_catalog."C",
    key_id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    events text NOT NULL COLLATE pg_catalog."C",
    secret text NOT NULL COLLATE pg_catalog."C",
    previous_secret_expires_at bigint,
    created_at bigint NOT NULL,
    key_expires_at bigint,
    closed_at bigint,
    disabled_at bigint,
    disabled_reason text COLLATE pg_catalog."C",
    removed_at bigint,
    consecutive_failures bigint NOT NULL,
    probe_at bigint,
    next_due_at bigint,
    lease_token text COLLATE pg_catalog."C",
    leased_until bigint NOT NULL,
    sweep_at bigint,
    origin_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    speed text DEFAULT 'new'::text NOT NULL COLLATE pg_catalog."C"
);


--
-- Data for Name: accounts; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.accounts (id, username, username_key, email, email_key, password_hash, display_name, bio, verified, email_verified, is_private, is_creator, total_followers, total_following, total_posts, created_at, updated_at, suspended_at, deleted_at, is_admin, public_posts, followers_posts, connections_posts, avatar_token, cover_token) FROM stdin;
01M826XYVA4TS72YNWYCGVM9ZR	editor	editor	editor@example.org	editor@example.org	$argon2id$v=19$m=19456,t=2,p=1$29LnTbWzNuXwpcwGRiPJUg$JX2Egzo8x1kJqE7gv++WZLx7nQPz/T0JhiBNqTlYoCI	editor	\N	f	f	f	f	0	0	0	1795370711914	1795370711924	\N	\N	f	0	0	0	\N	\N
01M826XZ4JA1VAREJHXT67Y67R	bob	bob	bob@example.org	bob@example.org	$argon2id$v=19$m=19456,t=2,p=1$1vgKphLZ4GIbqoyFHvfY3g$o/V99DPK7k2h4LJ5Q0alv042tKpdG4+XpelzNlvaSmI	bob	\N	f	f	f	f	0	1	0	1795370712210	1795370712210	\N	\N	f	0	0	0	\N	\N
01M826XZ0Y8JHGYT8AM6GXJG53	alice	alice	alice@example.org	alice@example.org	$argon2id$v=19$m=19456,t=2,p=1$zRfrHn254YVuOP9AM3cnlw$XzI687OpndQaTYtUSu8Hks7m2iyAlbwIhy+MuFAtbC4	alice	\N	f	f	f	f	1	0	3	1795370712094	1795370712557	\N	\N	f	3	0	0	\N	\N
\.


--
-- Data for Name: api_key_refusals; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.api_key_refusals (key_id, id, refused_at, method, route, status, label, address, request_id) FROM stdin;
\.


--
-- Data for Name: api_key_usage; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.api_key_usage (key_id, hour, accepted, limited, refused, failed) FROM stdin;
01M826XZ6HKGHHSC0ZZK9FECAJ	498714	5	0	0	0
\.


--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.api_keys (id, account_id, secret_hash, key_prefix, label, scopes, ip_allowlist, created_at, expires_at, last_used_at, revoked_at, revoked_by, reason) FROM stdin;
01M826XYVM4GFAF38CZYWJBJ01	01M826XYVA4TS72YNWYCGVM9ZR	666f202168089c933f459613bce5812cf175e1c3ae3c10e092d83abe683568d2	svc_live_Xiz9hh	First key	posts:write posts:delete media:write bounces:write comments:write clips:write		1795370711924	\N	\N	\N	\N	\N
01M826XZ6HKGHHSC0ZZK9FECAJ	01M826XZ0Y8JHGYT8AM6GXJG53	152808a62777363144b75c191a3a3d4ff37e747b2d9b16034d0c722ab6d037ba	svc_live_rKvvTC	release	posts:write media:write comments:write bounces:write		1795370712273	\N	1795370700000	\N	\N	\N
\.


--
-- Data for Name: audit_entries; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.audit_entries (account_id, id, kind, at, times, actor, admin_id, address, detail, counted_as) FROM stdin;
01M826XYVA4TS72YNWYCGVM9ZR	01M826XYVA4TS72YNWYCGVM9ZS	account.created	1795370711914	1	operator	\N		{}	\N
01M826XYVA4TS72YNWYCGVM9ZR	01M826XYVM4GFAF38CZYWJBJ02	key.made	1795370711924	1	operator	\N		{"keyId":"01M826XYVM4GFAF38CZYWJBJ01","label":"First key"}	\N
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ0Y8JHGYT8AM6GXJG54	account.created	1795370712094	1	self	\N	127.0.0.1	{}	\N
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ0Y8JHGYT8AM6GXJG57	session.started	1795370712094	1	self	\N	127.0.0.1	{}	\N
01M826XZ4JA1VAREJHXT67Y67R	01M826XZ4JA1VAREJHXT67Y67S	account.created	1795370712210	1	self	\N	127.0.0.1	{}	\N
01M826XZ4JA1VAREJHXT67Y67R	01M826XZ4JA1VAREJHXT67Y67W	session.started	1795370712210	1	self	\N	127.0.0.1	{}	\N
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ6HKGHHSC0ZZK9FECAK	key.made	1795370712273	1	self	\N	127.0.0.1	{"keyId":"01M826XZ6HKGHHSC0ZZK9FECAJ","label":"release"}	\N
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ6PKJ2TW13ZEY921DEY	endpoint.added	1795370712278	1	self	\N	127.0.0.1	{"webhookId":"01M826XZ6PKJ2TW13ZEY921DEX","host":"127.0.0.1:9"}	\N
\.


--
-- Data for Name: blocked_addresses; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.blocked_addresses (id, pattern, reason, created_at) FROM stdin;
\.


--
-- Data for Name: clips; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.clips (id, account_id, key_id, caption, visibility, hub_id, created_at, edited_at, deleted_at) FROM stdin;
\.


--
-- Data for Name: comments; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.comments (account_id, id, post_id, parent_id, thread_id, key_id, content, media_type, media_url, created_at, edited_at, deleted_at) FROM stdin;
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZFD5TGCFPFNEHRT160H	01M826XZBS91KPPQ55DYXS7GE3	\N	01M826XZFD5TGCFPFNEHRT160H	01M826XZ6HKGHHSC0ZZK9FECAJ	A comment.	\N	\N	1795370712557	\N	\N
\.


--
-- Data for Name: content_quotas; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.content_quotas (account_id, day, used, used_signed_in) FROM stdin;
01M826XZ0Y8JHGYT8AM6GXJG53	20779	3	0
\.


--
-- Data for Name: deliveries; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries, attempts, due_at, finished_at, code) FROM stdin;
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ6PKJ2TW13ZEY921DEX	01M826XZBS91KPPQ55DYXS7GE5	evt_0d5492b3-8b73-4d0a-ab91-147f0b91d5e6	post.created	pending	f	1	[{"number":1,"at":"2026-11-22T18:05:12.513Z","status":"failed","httpCode":null,"error":"The connection was refused.","durationMs":11,"responseBody":null,"signedWith":"whsec_933Wx4","signature":"t=1795370712,v1=1c23643492bb09c2bda28bca9291b6e47a48a030b29a1b0f4529cb639f6909fb","userAgent":"Pressroom/0.1.0"}]	1795370769865	\N	none
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ6PKJ2TW13ZEY921DEX	01M826XZFYJBC3XYK0EQE0AVPY	evt_8b4a4900-63d9-44ca-ac7d-7905d1eed887	post.created	pending	f	0	[]	1795370712574	\N	
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ6PKJ2TW13ZEY921DEX	01M826XZJXNCM5MTVMA9CWT37X	evt_7e12b078-e521-4bdf-9483-187d78fa0267	post.created	pending	f	0	[]	1795370712669	\N	
\.


--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.events (id, account_id, key_id, type, data, created_at) FROM stdin;
01M826XZBS91KPPQ55DYXS7GE5	01M826XZ0Y8JHGYT8AM6GXJG53	\N	post.created	{"post":{"id":"01M826XZBS91KPPQ55DYXS7GE3","authorId":"01M826XZ0Y8JHGYT8AM6GXJG53","content":"Of a #release. @bob","type":"POST","visibility":"PUBLIC","isShare":false,"originalPostId":null,"hubId":null,"createdAt":"2026-11-22T18:05:12.441Z"}}	1795370712441
01M826XZFD5TGCFPFNEHRT160J	01M826XZ0Y8JHGYT8AM6GXJG53	\N	comment.created	{"comment":{"id":"01M826XZFD5TGCFPFNEHRT160H","postId":"01M826XZBS91KPPQ55DYXS7GE3","authorId":"01M826XZ0Y8JHGYT8AM6GXJG53","parentId":null,"content":"A comment.","createdAt":"2026-11-22T18:05:12.557Z"}}	1795370712557
01M826XZFYJBC3XYK0EQE0AVPY	01M826XZ0Y8JHGYT8AM6GXJG53	\N	post.created	{"post":{"id":"01M826XZFYJBC3XYK0EQE0AVPX","authorId":"01M826XZ0Y8JHGYT8AM6GXJG53","content":"A quote.","type":"QUOTE","visibility":"PUBLIC","isShare":true,"originalPostId":"01M826XZBS91KPPQ55DYXS7GE3","hubId":null,"createdAt":"2026-11-22T18:05:12.574Z"}}	1795370712574
01M826XZJXNCM5MTVMA9CWT37X	01M826XZ0Y8JHGYT8AM6GXJG53	\N	post.created	{"post":{"id":"01M826XZJXNCM5MTVMA9CWT37W","authorId":"01M826XZ0Y8JHGYT8AM6GXJG53","content":null,"type":"POST","visibility":"PUBLIC","isShare":false,"originalPostId":null,"hubId":null,"createdAt":"2026-11-22T18:05:12.669Z"}}	1795370712669
\.


--
-- Data for Name: exports; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.exports (account_id, state, requested_at, finished_at, expires_at, size_bytes) FROM stdin;
\.


--
-- Data for Name: follow_requests; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.follow_requests (id, account_id, followed_id, created_at) FROM stdin;
\.


--
-- Data for Name: follows; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.follows (account_id, followed_id, created_at) FROM stdin;
01M826XZ4JA1VAREJHXT67Y67R	01M826XZ0Y8JHGYT8AM6GXJG53	1795370712628
\.


--
-- Data for Name: hubs; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.hubs (id, account_id, slug, name, description, members, created_at) FROM stdin;
01M826XZJD0BH4KH75CBSWJBMH	01M826XZ4JA1VAREJHXT67Y67R	a-hub	A hub	\N	1	1795370712653
\.


--
-- Data for Name: idempotent_answers; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.idempotent_answers (account_id, method, path, idempotency_key, body, created_at, body_hash) FROM stdin;
\.


--
-- Data for Name: invitations; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.invitations (id, token_hash, account_id, note, created_at, expires_at, used_at, used_by, revoked_at) FROM stdin;
\.


--
-- Data for Name: job_queues; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.job_queues (kind, account_id, due_at, claims) FROM stdin;
\.


--
-- Data for Name: jobs; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.jobs (id, kind, subject, account_id, tries, due_at, leased_until, lease_token, error, created_at, kills, deferrals) FROM stdin;
\.


--
-- Data for Name: known_addresses; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.known_addresses (account_id, address_hash, seen_at) FROM stdin;
01M826XZ0Y8JHGYT8AM6GXJG53	3f59b49730011e0d62dd51aaaea905d95cb917ab6b5accc51239c81e1d761b66	1795370712094
01M826XZ4JA1VAREJHXT67Y67R	095ebd47ed2f0c42a37d0a160f809f6232da43d224772a14508bc767604762cf	1795370712210
\.


--
-- Data for Name: likes; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.likes (post_id, account_id, created_at) FROM stdin;
01M826XZBS91KPPQ55DYXS7GE3	01M826XZ4JA1VAREJHXT67Y67R	1795370712610
\.


--
-- Data for Name: link_cards; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.link_cards (url, status, title, description, site_name, image_token, fetched_at, leased_until, lease_token) FROM stdin;
\.


--
-- Data for Name: media; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.media (id, account_id, owner_id, "position", token, kind, alt_text, status, reason, width, height, duration, size_bytes, placeholder, created_at, hidden_at, stored_bytes) FROM stdin;
01M826XZJRN9SAVA5P8E4MQT2J	01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZJXNCM5MTVMA9CWT37W	0	Bc1ufs2npexDVJ2ayz1oNTPgSP0NF6jV	image/jpeg	\N	READY	\N	60	40	\N	86	data:image/webp;base64,UklGRjoAAABXRUJQVlA4IC4AAACQAQCdASoQAAsAAsBMJaACdLoAA5gA/u52f/FtI6FTq/+2h/+tD/9aH/SgAAAA	1795370712669	\N	178
\.


--
-- Data for Name: memberships; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.memberships (account_id, hub_id, created_at) FROM stdin;
01M826XZ4JA1VAREJHXT67Y67R	01M826XZJD0BH4KH75CBSWJBMH	1795370712653
\.


--
-- Data for Name: notifications; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.notifications (id, account_id, type, actor_id, post_id, webhook_id, key_id, created_at, read_at) FROM stdin;
01M826XZBS91KPPQ55DYXS7GE4	01M826XZ4JA1VAREJHXT67Y67R	mention	01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZBS91KPPQ55DYXS7GE3	\N	\N	1795370712441	\N
01M826XZHM8RDX2E2MZN62Z46D	01M826XZ0Y8JHGYT8AM6GXJG53	follow	01M826XZ4JA1VAREJHXT67Y67R	\N	\N	\N	1795370712628	\N
\.


--
-- Data for Name: one_time_tokens; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.one_time_tokens (token_hash, account_id, purpose, email, created_at, expires_at) FROM stdin;
82a7856bb25a8f7d1fb9c51307bf49ac2d83b24ea36cdd05460b017974d145a8	01M826XYVA4TS72YNWYCGVM9ZR	sign-in	\N	1795370711930	1795374311930
97534cbb659d26669b21461fcddccef67ff4ab33b25ec47a7df3bbf767139c65	01M826XZ0Y8JHGYT8AM6GXJG53	verify	alice@example.org	1795370712179	1795457112179
2319794ed9d590b48671c999a3244e7e77cd932bd872871ac5353db9a6b5dbb9	01M826XZ4JA1VAREJHXT67Y67R	verify	bob@example.org	1795370712243	1795457112243
\.


--
-- Data for Name: poll_options; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.poll_options (post_id, "position", label, votes) FROM stdin;
01M826XZBS91KPPQ55DYXS7GE3	1	no	0
01M826XZBS91KPPQ55DYXS7GE3	0	yes	1
\.


--
-- Data for Name: poll_votes; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.poll_votes (post_id, account_id, choices, created_at) FROM stdin;
01M826XZBS91KPPQ55DYXS7GE3	01M826XZ4JA1VAREJHXT67Y67R	0	1795370712623
\.


--
-- Data for Name: polls; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.polls (post_id, question, multiple, closes_at, total_votes) FROM stdin;
01M826XZBS91KPPQ55DYXS7GE3	\N	f	1795457112441	1
\.


--
-- Data for Name: post_audiences; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.post_audiences (post_id, account_id, author_id, hub_id, live) FROM stdin;
\.


--
-- Data for Name: post_mentions; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.post_mentions (post_id, account_id) FROM stdin;
01M826XZBS91KPPQ55DYXS7GE3	01M826XZ4JA1VAREJHXT67Y67R
\.


--
-- Data for Name: post_tags; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.post_tags (account_id, post_id, tag, hidden) FROM stdin;
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZBS91KPPQ55DYXS7GE3	release	f
\.


--
-- Data for Name: post_versions; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.post_versions (account_id, post_id, id, content, visibility, written_at, replaced_at, replaced_by_key) FROM stdin;
01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZBS91KPPQ55DYXS7GE3	01M826XZDK2JMQ4C9GY6Q079K9	Of a #release. @bob	PUBLIC	1795370712441	1795370712499	01M826XZ6HKGHHSC0ZZK9FECAJ
\.


--
-- Data for Name: posts; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.posts (id, account_id, key_id, type, content, visibility, location_name, latitude, longitude, created_at, updated_at, edited_at, deleted_at, hub_id, original_id, has_poll, likes, comments, shares, share_count, views, has_media, preview_url, preview_forced, deleted_by_key, hidden_at) FROM stdin;
01M826XZFYJBC3XYK0EQE0AVPX	01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ6HKGHHSC0ZZK9FECAJ	QUOTE	A quote.	PUBLIC	\N	\N	\N	1795370712574	1795370712574	\N	\N	\N	01M826XZBS91KPPQ55DYXS7GE3	f	0	0	0	0	0	f	\N	f	\N	\N
01M826XZBS91KPPQ55DYXS7GE3	01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ6HKGHHSC0ZZK9FECAJ	POST	Of an earlier #release. @bob	PUBLIC	\N	\N	\N	1795370712441	1795370712499	1795370712499	\N	\N	\N	t	1	1	0	1	0	f	\N	f	\N	\N
01M826XZJXNCM5MTVMA9CWT37W	01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ6HKGHHSC0ZZK9FECAJ	POST	\N	PUBLIC	\N	\N	\N	1795370712669	1795370712669	\N	\N	\N	\N	f	0	0	0	0	0	t	\N	f	\N	\N
\.


--
-- Data for Name: rate_window_holders; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.rate_window_holders (name, holder, clean, taken_at) FROM stdin;
api	e6e614f9-d33f-43e3-a1cd-f58b09f57884:pid:[4026531836]:31225:6163940	t	1795370711687
\.


--
-- Data for Name: rate_windows; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.rate_windows (key_id, state, updated_at) FROM stdin;
01M826XZ6HKGHHSC0ZZK9FECAJ	{"attempts":[1795370712431,1795370712498,1795370712553,1795370712571,1795370712662],"posts":[1795370712431],"day":[[29922845,5]],"refusals":[],"saved_at":1795370712663}	1795370712663
account:01M826XZ0Y8JHGYT8AM6GXJG53	{"attempts":[1795370712272,1795370712277],"posts":[],"day":[],"refusals":[],"saved_at":1795370712663}	1795370712663
account:01M826XZ4JA1VAREJHXT67Y67R	{"attempts":[1795370712610,1795370712613,1795370712621,1795370712628,1795370712652],"posts":[],"day":[],"refusals":[],"saved_at":1795370712663}	1795370712663
\.


--
-- Data for Name: recovery_codes; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.recovery_codes (account_id, code_hash) FROM stdin;
\.


--
-- Data for Name: report_cases; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.report_cases (id, type, subject_id, owner_id, material, reports, opened_at, decided_at, decided_by, decision, reason) FROM stdin;
\.


--
-- Data for Name: reports; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.reports (case_id, reporter_id, id, reason, material, created_at) FROM stdin;
\.


--
-- Data for Name: reserved_usernames; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.reserved_usernames (username_key, account_id, reserved_until) FROM stdin;
\.


--
-- Data for Name: saves; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.saves (post_id, account_id, created_at) FROM stdin;
01M826XZBS91KPPQ55DYXS7GE3	01M826XZ4JA1VAREJHXT67Y67R	1795370712613
\.


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.schema_migrations (version, name) FROM stdin;
1	spine
2	publishing
3	webhooks
4	media
5	account_limits
6	people
7	continued_endpoints
8	jobs
9	limits
10	replays
11	hub_pages
12	one_time_tokens
13	two_factor
14	key_usage
15	deliveries
16	last_test
17	events_by_type
18	clip_edits
19	comment_edits
20	notifications_read
21	account_security
22	deletion
23	administration
24	reports
26	first_account
27	exports
28	invitations
30	clips_of_accounts
31	keyed_body_hashes
32	deletion_of_what_names
33	avatars
34	covers
35	standing_comments
36	sweeps
37	transfers
\.


--
-- Data for Name: server_secrets; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.server_secrets (name, secret) FROM stdin;
media	8IpK4uy1mYMuwFuhriUa9vUmvPTCqXvr
body hashes	CLUsr6CHVoEQrY1ty4erqpSOee0qmxNA
\.


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.sessions (account_id, token_hash, created_at, renewed_at, expires_at, confirmed_at, id, agent, address, seen_at) FROM stdin;
01M826XZ0Y8JHGYT8AM6GXJG53	8ecd7c375d72445a94778910507f534ad94688e29a82596648bb657880b2cc9b	1795370712094	1795370712094	1797962712094	1795370712094	01M826XZ0Y8JHGYT8AM6GXJG56		127.0.0.1	1795370712094
01M826XZ4JA1VAREJHXT67Y67R	8ecd144e96df99ee3288f0918ed3bb21216dfa753ad7ae7f313cd5f1920315cf	1795370712210	1795370712210	1797962712210	1795370712210	01M826XZ4JA1VAREJHXT67Y67V		127.0.0.1	1795370712210
\.


--
-- Data for Name: setup_tokens; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.setup_tokens (token_hash, created_at) FROM stdin;
\.


--
-- Data for Name: sign_in_attempts; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.sign_in_attempts (subject, failures, window_ends_at) FROM stdin;
\.


--
-- Data for Name: sign_up_attempts; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.sign_up_attempts (subject, times, updated_at) FROM stdin;
verify 01M826XZ0Y8JHGYT8AM6GXJG53	[1795370712094]	1795370712094
127.0.0.1	[1795370712017,1795370712134]	1795370712134
verify 01M826XZ4JA1VAREJHXT67Y67R	[1795370712210]	1795370712210
\.


--
-- Data for Name: stored_media; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.stored_media (account_id, bytes) FROM stdin;
01M826XZ0Y8JHGYT8AM6GXJG53	178
\.


--
-- Data for Name: sweeps; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.sweeps (name, next_at, leased_until, lease_token) FROM stdin;
\.


--
-- Data for Name: transfers; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.transfers (id, started_at, finished_at) FROM stdin;
\.


--
-- Data for Name: two_factor; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.two_factor (account_id, secret, created_at, enabled_at, last_step) FROM stdin;
\.


--
-- Data for Name: webhooks; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.webhooks (id, account_id, key_id, url, events, secret, previous_secret_expires_at, created_at, key_expires_at, closed_at, disabled_at, disabled_reason, removed_at, consecutive_failures, probe_at, next_due_at, lease_token, leased_until, sweep_at, origin_id, speed) FROM stdin;
01M826XZ6PKJ2TW13ZEY921DEX	01M826XZ0Y8JHGYT8AM6GXJG53	01M826XZ6HKGHHSC0ZZK9FECAJ	http://127.0.0.1:9/hook	post.created	whsec_933Wx481FsUCqMlZqKsJIGgisJgvZ1nR	\N	1795370712278	\N	\N	\N	\N	\N	1	1795370769865	1795370769865	\N	0	\N	01M826XZ6PKJ2TW13ZEY921DEX	quick
\.


--
-- Name: accounts accounts_email_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_email_key_key UNIQUE (email_key);


--
-- Name: accounts accounts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);


--
-- Name: accounts accounts_username_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_username_key_key UNIQUE (username_key);


--
-- Name: api_key_refusals api_key_refusals_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_key_refusals
    ADD CONSTRAINT api_key_refusals_pkey PRIMARY KEY (key_id, id);


--
-- Name: api_key_usage api_key_usage_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_key_usage
    ADD CONSTRAINT api_key_usage_pkey PRIMARY KEY (key_id, hour);


--
-- Name: api_keys api_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);


--
-- Name: api_keys api_keys_secret_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_secret_hash_key UNIQUE (secret_hash);


--
-- Name: audit_entries audit_entries_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (account_id, id);


--
-- Name: blocked_addresses blocked_addresses_pattern_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.blocked_addresses
    ADD CONSTRAINT blocked_addresses_pattern_key UNIQUE (pattern);


--
-- Name: blocked_addresses blocked_addresses_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.blocked_addresses
    ADD CONSTRAINT blocked_addresses_pkey PRIMARY KEY (id);


--
-- Name: clips clips_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clips
    ADD CONSTRAINT clips_pkey PRIMARY KEY (account_id, id);


--
-- Name: comments comments_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_pkey PRIMARY KEY (account_id, id);


--
-- Name: content_quotas content_quotas_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.content_quotas
    ADD CONSTRAINT content_quotas_pkey PRIMARY KEY (account_id, day);


--
-- Name: deliveries deliveries_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (account_id, webhook_id, event_id);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (account_id, id);


--
-- Name: exports exports_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.exports
    ADD CONSTRAINT exports_pkey PRIMARY KEY (account_id);


--
-- Name: follow_requests follow_requests_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.follow_requests
    ADD CONSTRAINT follow_requests_pkey PRIMARY KEY (account_id, followed_id);


--
-- Name: follows follows_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.follows
    ADD CONSTRAINT follows_pkey PRIMARY KEY (account_id, followed_id);


--
-- Name: hubs hubs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hubs
    ADD CONSTRAINT hubs_pkey PRIMARY KEY (id);


--
-- Name: hubs hubs_slug_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hubs
    ADD CONSTRAINT hubs_slug_key UNIQUE (slug);


--
-- Name: idempotent_answers idempotent_answers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotent_answers
    ADD CONSTRAINT idempotent_answers_pkey PRIMARY KEY (account_id, idempotency_key, method, path);


--
-- Name: invitations invitations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (id);


--
-- Name: invitations invitations_token_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_token_hash_key UNIQUE (token_hash);


--
-- Name: job_queues job_queues_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.job_queues
    ADD CONSTRAINT job_queues_pkey PRIMARY KEY (kind, account_id);


--
-- Name: jobs jobs_kind_subject_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_kind_subject_key UNIQUE (kind, subject);


--
-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);


--
-- Name: known_addresses known_addresses_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.known_addresses
    ADD CONSTRAINT known_addresses_pkey PRIMARY KEY (account_id, address_hash);


--
-- Name: likes likes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.likes
    ADD CONSTRAINT likes_pkey PRIMARY KEY (post_id, account_id);


--
-- Name: link_cards link_cards_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.link_cards
    ADD CONSTRAINT link_cards_pkey PRIMARY KEY (url);


--
-- Name: media media_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.media
    ADD CONSTRAINT media_pkey PRIMARY KEY (account_id, id);


--
-- Name: media media_token_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.media
    ADD CONSTRAINT media_token_key UNIQUE (token);


--
-- Name: memberships memberships_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (account_id, hub_id);


--
-- Name: notifications notifications_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (account_id, id);


--
-- Name: one_time_tokens one_time_tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.one_time_tokens
    ADD CONSTRAINT one_time_tokens_pkey PRIMARY KEY (token_hash);


--
-- Name: poll_options poll_options_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.poll_options
    ADD CONSTRAINT poll_options_pkey PRIMARY KEY (post_id, "position");


--
-- Name: poll_votes poll_votes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.poll_votes
    ADD CONSTRAINT poll_votes_pkey PRIMARY KEY (post_id, account_id);


--
-- Name: polls polls_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.polls
    ADD CONSTRAINT polls_pkey PRIMARY KEY (post_id);


--
-- Name: post_audiences post_audiences_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.post_audiences
    ADD CONSTRAINT post_audiences_pkey PRIMARY KEY (post_id, account_id);


--
-- Name: post_mentions post_mentions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.post_mentions
    ADD CONSTRAINT post_mentions_pkey PRIMARY KEY (post_id, account_id);


--
-- Name: post_tags post_tags_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.post_tags
    ADD CONSTRAINT post_tags_pkey PRIMARY KEY (account_id, post_id, tag);


--
-- Name: post_versions post_versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.post_versions
    ADD CONSTRAINT post_versions_pkey PRIMARY KEY (account_id, post_id, id);


--
-- Name: posts posts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.posts
    ADD CONSTRAINT posts_pkey PRIMARY KEY (account_id, id);


--
-- Name: rate_window_holders rate_window_holders_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_window_holders
    ADD CONSTRAINT rate_window_holders_pkey PRIMARY KEY (name);


--
-- Name: rate_windows rate_windows_of_all_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_windows
    ADD CONSTRAINT rate_windows_of_all_pkey PRIMARY KEY (key_id);


--
-- Name: recovery_codes recovery_codes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (account_id, code_hash);


--
-- Name: report_cases report_cases_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.report_cases
    ADD CONSTRAINT report_cases_pkey PRIMARY KEY (id);


--
-- Name: reports reports_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reports
    ADD CONSTRAINT reports_pkey PRIMARY KEY (case_id, reporter_id);


--
-- Name: reserved_usernames reserved_usernames_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reserved_usernames
    ADD CONSTRAINT reserved_usernames_pkey PRIMARY KEY (username_key);


--
-- Name: saves saves_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.saves
    ADD CONSTRAINT saves_pkey PRIMARY KEY (post_id, account_id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);


--
-- Name: server_secrets server_secrets_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.server_secrets
    ADD CONSTRAINT server_secrets_pkey PRIMARY KEY (name);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (account_id, token_hash);


--
-- Name: setup_tokens setup_tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.setup_tokens
    ADD CONSTRAINT setup_tokens_pkey PRIMARY KEY (token_hash);


--
-- Name: sign_in_attempts sign_in_attempts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sign_in_attempts
    ADD CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (subject);


--
-- Name: sign_up_attempts sign_up_attempts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sign_up_attempts
    ADD CONSTRAINT sign_up_attempts_pkey PRIMARY KEY (subject);


--
-- Name: stored_media stored_media_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.stored_media
    ADD CONSTRAINT stored_media_pkey PRIMARY KEY (account_id);


--
-- Name: sweeps sweeps_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sweeps
    ADD CONSTRAINT sweeps_pkey PRIMARY KEY (name);


--
-- Name: transfers transfers_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_pkey PRIMARY KEY (id);


--
-- Name: two_factor two_factor_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.two_factor
    ADD CONSTRAINT two_factor_pkey PRIMARY KEY (account_id);


--
-- Name: webhooks webhooks_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (account_id, id);


--
-- Name: accounts_admins; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX accounts_admins ON public.accounts USING btree (id) WHERE is_admin;


--
-- Name: accounts_deleted; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX accounts_deleted ON public.accounts USING btree (id) WHERE (deleted_at IS NOT NULL);


--
-- Name: accounts_suspended; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX accounts_suspended ON public.accounts USING btree (id) WHERE ((suspended_at IS NOT NULL) AND (deleted_at IS NULL));


--
-- Name: api_key_refusals_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_key_refusals_age ON public.api_key_refusals USING btree (refused_at);


--
-- Name: api_key_usage_hour; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_key_usage_hour ON public.api_key_usage USING btree (hour);


--
-- Name: api_keys_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_keys_account ON public.api_keys USING btree (account_id, id);


--
-- Name: api_keys_active; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_keys_active ON public.api_keys USING btree (account_id, COALESCE(expires_at, '9223372036854775807'::bigint)) WHERE (revoked_at IS NULL);


--
-- Name: audit_entries_acts; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_acts ON public.audit_entries USING btree (admin_id) WHERE ((admin_id IS NOT NULL) AND (address <> ''::text));


--
-- Name: audit_entries_admin; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_admin ON public.audit_entries USING btree (id) WHERE (actor = ANY (ARRAY['admin'::text, 'operator'::text]));


--
-- Name: audit_entries_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX audit_entries_age ON public.audit_entries USING btree (at);


--
-- Name: audit_entries_counted; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX audit_entries_counted ON public.audit_entries USING btree (account_id, counted_as) WHERE (counted_as IS NOT NULL);


--
-- Name: clips_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX clips_id ON public.clips USING btree (id);


--
-- Name: clips_profile; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX clips_profile ON public.clips USING btree (account_id, visibility, id) WHERE (deleted_at IS NULL);


--
-- Name: comments_id; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX comments_id ON public.comments USING btree (id);


--
-- Name: comments_post; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX comments_post ON public.comments USING btree (post_id, id) WHERE (deleted_at IS NULL);


--
-- Name: comments_thread; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX comments_thread ON public.comments USING btree (post_id, thread_id, id) WHERE (deleted_at IS NULL);


--
-- Name: content_quotas_day; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX content_quotas_day ON public.content_quotas USING btree (day);


--
-- Name: deliveries_envelope; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX deliveries_envelope ON public.deliveries USING btree (envelope_id);


--
-- Name: deliveries_finished; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX deliveries_finished ON public.deliveries USING btree (finished_at) WHERE (finished_at IS NOT NULL);


--
-- Name: deliveries_found; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX deliveries_found ON public.deliveries USING btree (account_id, webhook_id, state, event_type, code, event_id);


--
-- Name: deliveries_last_test; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX deliveries_last_test ON public.deliveries USING btree (account_id, webhook_id, event_id) WHERE (event_type = 'webhook.test'::text);


--
-- Name: deliveries_pending; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX deliveries_pending ON public.deliveries USING btree (account_id, webhook_id, event_id, due_at) WHERE (state = 'pending'::text);


--
-- Name: deliveries_tests; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX deliveries_tests ON public.deliveries USING btree (account_id, webhook_id, event_id) WHERE ((state = 'pending'::text) AND (event_type = 'webhook.test'::text));


--
-- Name: events_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_age ON public.events USING btree (created_at);


--
-- Name: events_type; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_type ON public.events USING btree (account_id, type, id);


--
-- Name: exports_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX exports_expiry ON public.exports USING btree (expires_at) WHERE (expires_at IS NOT NULL);


--
-- Name: follow_requests_waiting; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX follow_requests_waiting ON public.follow_requests USING btree (followed_id, id);


--
-- Name: follows_followed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX follows_followed ON public.follows USING btree (followed_id, account_id);


--
-- Name: idempotent_answers_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotent_answers_age ON public.idempotent_answers USING btree (created_at);


--
-- Name: invitations_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX invitations_account ON public.invitations USING btree (account_id);


--
-- Name: invitations_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX invitations_expiry ON public.invitations USING btree (expires_at);


--
-- Name: invitations_used_by; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX invitations_used_by ON public.invitations USING btree (used_by) WHERE (used_by IS NOT NULL);


--
-- Name: job_queues_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX job_queues_due ON public.job_queues USING btree (kind, due_at, claims);


--
-- Name: jobs_dead; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_dead ON public.jobs USING btree (created_at) WHERE (due_at IS NULL);


--
-- Name: jobs_dead_listed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_dead_listed ON public.jobs USING btree (id) WHERE (due_at IS NULL);


--
-- Name: jobs_leased; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_leased ON public.jobs USING btree (kind, account_id, leased_until) WHERE ((due_at IS NOT NULL) AND (leased_until > 0));


--
-- Name: jobs_of_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX jobs_of_account ON public.jobs USING btree (kind, account_id, due_at, id) WHERE (due_at IS NOT NULL);


--
-- Name: known_addresses_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX known_addresses_age ON public.known_addresses USING btree (seen_at);


--
-- Name: likes_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX likes_account ON public.likes USING btree (account_id, post_id);


--
-- Name: link_cards_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX link_cards_age ON public.link_cards USING btree (fetched_at);


--
-- Name: link_cards_image; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX link_cards_image ON public.link_cards USING btree (image_token) WHERE (image_token IS NOT NULL);


--
-- Name: media_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX media_id ON public.media USING btree (id);


--
-- Name: media_owner; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX media_owner ON public.media USING btree (owner_id, "position");


--
-- Name: notifications_actor; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX notifications_actor ON public.notifications USING btree (actor_id, account_id, id) WHERE (actor_id IS NOT NULL);


--
-- Name: notifications_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX notifications_age ON public.notifications USING btree (created_at);


--
-- Name: notifications_follow; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX notifications_follow ON public.notifications USING btree (account_id, actor_id, type) WHERE (type = ANY (ARRAY['follow'::text, 'follow.requested'::text]));


--
-- Name: notifications_read; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX notifications_read ON public.notifications USING btree (account_id, id) WHERE (read_at IS NOT NULL);


--
-- Name: notifications_unread; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX notifications_unread ON public.notifications USING btree (account_id, id) WHERE (read_at IS NULL);


--
-- Name: one_time_tokens_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX one_time_tokens_account ON public.one_time_tokens USING btree (account_id, purpose);


--
-- Name: one_time_tokens_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX one_time_tokens_expiry ON public.one_time_tokens USING btree (expires_at);


--
-- Name: poll_votes_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX poll_votes_account ON public.poll_votes USING btree (account_id, post_id);


--
-- Name: post_audiences_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX post_audiences_account ON public.post_audiences USING btree (account_id, post_id);


--
-- Name: post_audiences_hub; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX post_audiences_hub ON public.post_audiences USING btree (account_id, hub_id, post_id) WHERE (live AND (hub_id IS NOT NULL));


--
-- Name: post_audiences_reader; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX post_audiences_reader ON public.post_audiences USING btree (account_id, author_id, post_id) WHERE live;


--
-- Name: post_mentions_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX post_mentions_account ON public.post_mentions USING btree (account_id, post_id);


--
-- Name: post_tags_tag; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX post_tags_tag ON public.post_tags USING btree (tag, post_id) WHERE (NOT hidden);


--
-- Name: post_versions_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX post_versions_key ON public.post_versions USING btree (replaced_by_key, replaced_at) WHERE (replaced_by_key IS NOT NULL);


--
-- Name: posts_deleted_by_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX posts_deleted_by_key ON public.posts USING btree (deleted_by_key, deleted_at) WHERE (deleted_by_key IS NOT NULL);


--
-- Name: posts_hub_author; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX posts_hub_author ON public.posts USING btree (hub_id, account_id, visibility, id) WHERE ((hub_id IS NOT NULL) AND (deleted_at IS NULL));


--
-- Name: posts_hub_public; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX posts_hub_public ON public.posts USING btree (hub_id, id) WHERE ((hub_id IS NOT NULL) AND (visibility = 'PUBLIC'::text) AND (deleted_at IS NULL));


--
-- Name: posts_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX posts_id ON public.posts USING btree (id);


--
-- Name: posts_plain_bounce; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX posts_plain_bounce ON public.posts USING btree (account_id, original_id) WHERE ((type = 'SHARE'::text) AND (deleted_at IS NULL));


--
-- Name: posts_profile; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX posts_profile ON public.posts USING btree (account_id, visibility, id) WHERE (deleted_at IS NULL);


--
-- Name: rate_windows_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX rate_windows_age ON public.rate_windows USING btree (updated_at);


--
-- Name: report_cases_decided; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX report_cases_decided ON public.report_cases USING btree (decided_at, id) WHERE (decided_at IS NOT NULL);


--
-- Name: report_cases_open; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX report_cases_open ON public.report_cases USING btree (type, subject_id) WHERE (decided_at IS NULL);


--
-- Name: report_cases_owner; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX report_cases_owner ON public.report_cases USING btree (owner_id, id);


--
-- Name: report_cases_waiting; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX report_cases_waiting ON public.report_cases USING btree (id) WHERE (decided_at IS NULL);


--
-- Name: reports_reporter; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX reports_reporter ON public.reports USING btree (reporter_id, id);


--
-- Name: reserved_usernames_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX reserved_usernames_account ON public.reserved_usernames USING btree (account_id);


--
-- Name: reserved_usernames_end; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX reserved_usernames_end ON public.reserved_usernames USING btree (reserved_until);


--
-- Name: saves_account; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX saves_account ON public.saves USING btree (account_id, post_id);


--
-- Name: sessions_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);


--
-- Name: sessions_listed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_listed ON public.sessions USING btree (account_id, COALESCE(id, upper(substr(token_hash, 1, 26))));


--
-- Name: sessions_token; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_token ON public.sessions USING btree (token_hash);


--
-- Name: sign_in_attempts_window; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sign_in_attempts_window ON public.sign_in_attempts USING btree (window_ends_at);


--
-- Name: sign_up_attempts_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sign_up_attempts_age ON public.sign_up_attempts USING btree (updated_at);


--
-- Name: webhooks_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhooks_due ON public.webhooks USING btree (speed, next_due_at) WHERE (next_due_at IS NOT NULL);


--
-- Name: webhooks_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhooks_expiry ON public.webhooks USING btree (key_expires_at) WHERE ((closed_at IS NULL) AND (key_expires_at IS NOT NULL));


--
-- Name: webhooks_key; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhooks_key ON public.webhooks USING btree (key_id, id) WHERE (removed_at IS NULL);


--
-- Name: webhooks_live; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhooks_live ON public.webhooks USING btree (account_id, id) WHERE ((removed_at IS NULL) AND (disabled_at IS NULL) AND (closed_at IS NULL));


--
-- Name: webhooks_origin; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhooks_origin ON public.webhooks USING btree (account_id, origin_id);


--
-- Name: webhooks_removed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhooks_removed ON public.webhooks USING btree (key_id, removed_at) WHERE (removed_at IS NOT NULL);


--
-- Name: webhooks_sweep; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhooks_sweep ON public.webhooks USING btree (sweep_at) WHERE (sweep_at IS NOT NULL);


--
-- Name: api_key_refusals api_key_refusals_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_key_refusals
    ADD CONSTRAINT api_key_refusals_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);


--
-- Name: api_key_usage api_key_usage_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_key_usage
    ADD CONSTRAINT api_key_usage_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);


--
-- Name: api_keys api_keys_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: clips clips_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clips
    ADD CONSTRAINT clips_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: clips clips_hub_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clips
    ADD CONSTRAINT clips_hub_id_fkey FOREIGN KEY (hub_id) REFERENCES public.hubs(id);


--
-- Name: clips clips_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clips
    ADD CONSTRAINT clips_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);


--
-- Name: comments comments_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: comments comments_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.comments
    ADD CONSTRAINT comments_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);


--
-- Name: content_quotas content_quotas_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.content_quotas
    ADD CONSTRAINT content_quotas_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: deliveries deliveries_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: events events_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: exports exports_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.exports
    ADD CONSTRAINT exports_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: follow_requests follow_requests_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.follow_requests
    ADD CONSTRAINT follow_requests_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: follow_requests follow_requests_followed_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.follow_requests
    ADD CONSTRAINT follow_requests_followed_id_fkey FOREIGN KEY (followed_id) REFERENCES public.accounts(id);


--
-- Name: follows follows_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.follows
    ADD CONSTRAINT follows_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: follows follows_followed_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.follows
    ADD CONSTRAINT follows_followed_id_fkey FOREIGN KEY (followed_id) REFERENCES public.accounts(id);


--
-- Name: hubs hubs_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.hubs
    ADD CONSTRAINT hubs_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: idempotent_answers idempotent_answers_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotent_answers
    ADD CONSTRAINT idempotent_answers_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: invitations invitations_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: invitations invitations_used_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_used_by_fkey FOREIGN KEY (used_by) REFERENCES public.accounts(id);


--
-- Name: known_addresses known_addresses_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.known_addresses
    ADD CONSTRAINT known_addresses_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: likes likes_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.likes
    ADD CONSTRAINT likes_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: media media_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.media
    ADD CONSTRAINT media_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: memberships memberships_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: memberships memberships_hub_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_hub_id_fkey FOREIGN KEY (hub_id) REFERENCES public.hubs(id);


--
-- Name: notifications notifications_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: notifications notifications_actor_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES public.accounts(id);


--
-- Name: one_time_tokens one_time_tokens_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.one_time_tokens
    ADD CONSTRAINT one_time_tokens_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: poll_options poll_options_post_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.poll_options
    ADD CONSTRAINT poll_options_post_id_fkey FOREIGN KEY (post_id) REFERENCES public.polls(post_id);


--
-- Name: poll_votes poll_votes_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.poll_votes
    ADD CONSTRAINT poll_votes_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: poll_votes poll_votes_post_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.poll_votes
    ADD CONSTRAINT poll_votes_post_id_fkey FOREIGN KEY (post_id) REFERENCES public.polls(post_id);


--
-- Name: post_audiences post_audiences_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.post_audiences
    ADD CONSTRAINT post_audiences_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: post_audiences post_audiences_author_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.post_audiences
    ADD CONSTRAINT post_audiences_author_id_fkey FOREIGN KEY (author_id) REFERENCES public.accounts(id);


--
-- Name: post_mentions post_mentions_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.post_mentions
    ADD CONSTRAINT post_mentions_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: post_tags post_tags_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.post_tags
    ADD CONSTRAINT post_tags_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: post_versions post_versions_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.post_versions
    ADD CONSTRAINT post_versions_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: posts posts_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.posts
    ADD CONSTRAINT posts_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: posts posts_hub_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.posts
    ADD CONSTRAINT posts_hub_id_fkey FOREIGN KEY (hub_id) REFERENCES public.hubs(id);


--
-- Name: posts posts_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.posts
    ADD CONSTRAINT posts_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);


--
-- Name: recovery_codes recovery_codes_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: report_cases report_cases_decided_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.report_cases
    ADD CONSTRAINT report_cases_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES public.accounts(id);


--
-- Name: report_cases report_cases_owner_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.report_cases
    ADD CONSTRAINT report_cases_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.accounts(id);


--
-- Name: reports reports_case_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reports
    ADD CONSTRAINT reports_case_id_fkey FOREIGN KEY (case_id) REFERENCES public.report_cases(id);


--
-- Name: reports reports_reporter_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reports
    ADD CONSTRAINT reports_reporter_id_fkey FOREIGN KEY (reporter_id) REFERENCES public.accounts(id);


--
-- Name: reserved_usernames reserved_usernames_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reserved_usernames
    ADD CONSTRAINT reserved_usernames_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: saves saves_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.saves
    ADD CONSTRAINT saves_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: sessions sessions_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: stored_media stored_media_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.stored_media
    ADD CONSTRAINT stored_media_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: two_factor two_factor_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.two_factor
    ADD CONSTRAINT two_factor_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: webhooks webhooks_account_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);


--
-- Name: webhooks webhooks_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id);


--
-- PostgreSQL database dump complete
--


