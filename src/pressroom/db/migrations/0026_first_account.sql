-- Tokens that the servers of an installation without an account printed. Retention: until the first account is made.

CREATE TABLE setup_tokens (
    token_hash TEXT PRIMARY KEY,            -- SHA-256 of the token, which nothing stores
    created_at BIGINT NOT NULL
);
