"""What is measured, and how the processes of one server share it."""
