"""The front page: what this server is, and for whoever is signed in, what to do next."""
