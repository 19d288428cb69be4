-- What the body of the first request was, so that a replay can say that another one came with it; empty: not known.
ALTER TABLE idempotent_answers ADD COLUMN body_hash TEXT NOT NULL DEFAULT '';
