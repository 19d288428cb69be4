"""Mail: what a message looks like, and how it is handed in to a mail server."""
