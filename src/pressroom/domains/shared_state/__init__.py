"""What all processes of an installation share, and read once a second: secrets that sign, and maintenance mode."""
