"""Notifications, beside the suites over HTTP."""
