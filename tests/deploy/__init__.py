"""The examples of deploy/: every name in them exists, and what can be run is run."""
