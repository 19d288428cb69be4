"""Parts of a transfer; a whole one is in `tests/e2e/test_transfer.py`."""
