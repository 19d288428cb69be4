"""The API held to its own document by requests that nobody thought of: `make fuzz` sends more of them."""
