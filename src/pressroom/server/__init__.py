"""The server process: the application, its routes, start and stop, its open resources and watches."""
