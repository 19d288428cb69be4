"""SQL of the sign_in package."""
