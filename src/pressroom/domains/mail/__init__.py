"""Mail: the composition of messages, and their hand-over to a mail server."""
