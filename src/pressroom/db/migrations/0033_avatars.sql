-- The token of the picture that an account chose, a file that is READY; null: none.
ALTER TABLE accounts ADD COLUMN avatar_token TEXT;
