"""Files that a decoder should be afraid of, made at the time of the test."""
