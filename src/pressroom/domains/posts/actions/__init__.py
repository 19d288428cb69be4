"""The actions on posts, by verb. Each takes an open transaction first."""
