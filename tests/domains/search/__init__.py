"""Search, beside the suites over HTTP."""
