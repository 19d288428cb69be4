"""An account as a whole: the owner's copy of its data, and its deletion (docs/people.md)."""
