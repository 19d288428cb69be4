"""What is done with posts, by verb. Each takes an open transaction first."""
