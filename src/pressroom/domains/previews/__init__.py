"""What a page says of itself, fetched once and kept: the cards under posts (docs/previews.md)."""
