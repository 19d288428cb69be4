"""Clips: a video with a caption (docs/media.md#clips)."""
