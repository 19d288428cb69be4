"""`python -m pressroom` is the command line."""

from pressroom.cli import main

main()
