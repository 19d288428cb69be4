"""`pressroom import`: posts of other places, with their dates (docs/importing.md)."""
