"""HTTP: who may call a route, how a request is read and checked, how an error becomes a response, pages."""
