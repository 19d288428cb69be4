"""What is sent out about an account, to whom, and how it arrives."""
