"""Cards of links through the whole server: which post bears one, when it is fetched, how often."""
