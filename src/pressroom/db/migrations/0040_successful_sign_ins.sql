-- Passwords that were right count as well as those that were wrong, in the same window.
ALTER TABLE sign_in_attempts ADD COLUMN successes BIGINT NOT NULL DEFAULT 0;
