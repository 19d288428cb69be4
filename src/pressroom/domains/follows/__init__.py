"""Who follows whom: what FOLLOWERS and CONNECTIONS posts go by (SPEC, Visibility values)."""
