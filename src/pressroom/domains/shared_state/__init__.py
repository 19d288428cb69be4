"""The state that all processes of an installation share, and read once a second: secrets, maintenance mode."""
