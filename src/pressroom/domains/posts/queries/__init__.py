"""SQL of the posts package, by purpose."""
