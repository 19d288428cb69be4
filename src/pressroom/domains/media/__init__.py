"""Media: uploads, their decoding in child processes, and serving the result (docs/media.md#media-and-clips)."""
