"""What belongs to an account as a whole: the copy that its owner takes away, and its deletion (docs/people.md)."""
