"""SQL of the sign_up package."""
