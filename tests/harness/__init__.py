"""How tests run the real thing: a server process, a server on a settable clock, and a client that speaks HTTP."""
