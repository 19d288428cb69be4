"""Pages of an owner's settings that show what several packages hold: the page of a key, with its endpoints."""
