"""Media: what is uploaded, its decoding apart from the server, its serving (docs/media.md)."""
