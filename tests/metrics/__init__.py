"""The measured values, and how the processes of one server share them."""
