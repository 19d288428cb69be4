"""What an operator does to accounts: suspending, restoring and deleting them, and looking at them."""
