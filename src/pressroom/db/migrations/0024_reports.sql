-- What readers report, what an admin decides about it, and posts that were hidden.

-- A post or account that was reported, with what it said then. At most one case of a thing is open.
-- Retention: a year after the decision.
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
CREATE UNIQUE INDEX report_cases_open ON report_cases (type, subject_id) WHERE decided_at IS NULL;
CREATE INDEX report_cases_waiting ON report_cases (id) WHERE decided_at IS NULL;
CREATE INDEX report_cases_decided ON report_cases (decided_at, id) WHERE decided_at IS NOT NULL;
CREATE INDEX report_cases_owner ON report_cases (owner_id, id);

-- Who reported it and why. Retention: that of the case.
CREATE TABLE reports (
    case_id TEXT NOT NULL REFERENCES report_cases (id),
    reporter_id TEXT NOT NULL REFERENCES accounts (id),
    id TEXT NOT NULL,
    reason TEXT NOT NULL,
    material TEXT NOT NULL,                 -- JSON: what it was at this report
    created_at BIGINT NOT NULL,
    PRIMARY KEY (case_id, reporter_id)
);
CREATE INDEX reports_reporter ON reports (reporter_id, id);

-- E-mail addresses and domains that nobody can sign up with. Retention: until an admin takes it off.
CREATE TABLE blocked_addresses (
    id TEXT PRIMARY KEY,
    pattern TEXT NOT NULL UNIQUE,           -- name@example.org, or example.org and what lies below it; folded
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- An admin has hidden the post: it stays PRIVATE until an admin shows it again.
ALTER TABLE posts ADD COLUMN hidden_at BIGINT;
