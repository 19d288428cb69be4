-- What names a deleted account is found by the account, to be erased.

CREATE INDEX audit_entries_acts ON audit_entries (admin_id) WHERE admin_id IS NOT NULL AND address <> '';
CREATE INDEX post_mentions_account ON post_mentions (account_id, post_id);
CREATE INDEX post_audiences_account ON post_audiences (account_id, post_id);
CREATE INDEX invitations_used_by ON invitations (used_by) WHERE used_by IS NOT NULL;
CREATE INDEX invitations_account ON invitations (account_id);
