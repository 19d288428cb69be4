"""Events for programs that ask for them: by pull, and as a stream (docs/events.md)."""
