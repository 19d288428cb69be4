"""Cards of the pages that posts link to, each fetched once and stored (docs/previews.md)."""
