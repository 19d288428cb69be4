"""Clips: a video with a caption (SPEC, Clip)."""
