"""Clips: publishing them, reading them, and what becomes of their videos."""
