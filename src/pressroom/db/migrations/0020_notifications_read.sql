-- The unread notifications of an account, which every page counts, and the read ones, which are listed below them.

CREATE INDEX notifications_unread ON notifications (account_id, id) WHERE read_at IS NULL;
CREATE INDEX notifications_read ON notifications (account_id, id) WHERE read_at IS NOT NULL;
