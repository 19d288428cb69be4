-- What admins look through.

CREATE INDEX accounts_suspended ON accounts (id) WHERE suspended_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX accounts_deleted ON accounts (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX accounts_admins ON accounts (id) WHERE is_admin;
CREATE INDEX jobs_dead_listed ON jobs (id) WHERE due_at IS NULL;
