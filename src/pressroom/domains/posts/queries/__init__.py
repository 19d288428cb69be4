"""SQL of the posts package, by what it is for."""
