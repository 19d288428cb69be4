"""The server process: the application, its routes, start and stop, what it holds open, and what it watches."""
