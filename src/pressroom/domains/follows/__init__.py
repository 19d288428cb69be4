"""Who follows whom, and who asks to: what FOLLOWERS and CONNECTIONS posts go by (SPEC, Visibility values)."""
