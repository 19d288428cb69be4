-- The token of the cover that an account chose, a file that is READY; null: none.
ALTER TABLE accounts ADD COLUMN cover_token TEXT;
