"""HTTP: what a route demands, how a request becomes a call, how an error becomes an answer."""
