"""Work beside requests. So far: what is due every so often."""
