"""The examples of deploy/: every name in them exists, and their command lines run."""
