-- What kept a job from being done, told apart; and whose turn it is, without a look at every job that waits.

ALTER TABLE jobs ADD COLUMN kills BIGINT NOT NULL DEFAULT 0;        -- leases that ran out: its worker was killed
ALTER TABLE jobs ADD COLUMN deferrals BIGINT NOT NULL DEFAULT 0;    -- times that the machine lacked what it takes

-- The queue of one account's jobs of one kind: due when it may have one to be claimed. It may be due in vain, never late.
CREATE TABLE job_queues (
    kind TEXT NOT NULL,
    account_id TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    claims BIGINT NOT NULL,                 -- so far: of two that are due together, the one with fewer goes first
    PRIMARY KEY (kind, account_id)
);
CREATE INDEX job_queues_due ON job_queues (kind, due_at, claims);

INSERT INTO job_queues (kind, account_id, due_at, claims)
    SELECT kind, account_id, min(due_at), 0 FROM jobs WHERE due_at IS NOT NULL GROUP BY kind, account_id;

DROP INDEX jobs_due;
CREATE INDEX jobs_of_account ON jobs (kind, account_id, due_at, id) WHERE due_at IS NOT NULL;
