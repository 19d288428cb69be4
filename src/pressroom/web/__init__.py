"""HTTP: what a route demands, how a request is read and checked, how an error becomes a response."""
