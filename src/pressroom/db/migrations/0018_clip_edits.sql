-- Clips can be edited and deleted. A deleted clip stays for audit, like a post.
ALTER TABLE clips ADD COLUMN edited_at BIGINT;
ALTER TABLE clips ADD COLUMN deleted_at BIGINT;
