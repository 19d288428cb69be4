"""Sign-up: accounts made by people, by invitation, by the first visitor or on the command line (docs/sign-in.md)."""
