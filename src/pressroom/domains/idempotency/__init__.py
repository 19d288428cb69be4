"""One request, one effect: the stored answers of writes (SPEC, Common rule 2)."""
