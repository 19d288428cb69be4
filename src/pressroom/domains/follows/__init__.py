"""Follows and follow requests, which decide who sees FOLLOWERS and CONNECTIONS posts (docs/people.md#following)."""
