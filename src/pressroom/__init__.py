"""Pressroom: a content publishing service that anyone can host."""

__version__ = "0.1.0"
