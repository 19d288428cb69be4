"""Who follows whom, and who asks to: what FOLLOWERS and CONNECTIONS posts go by (docs/people.md#following)."""
