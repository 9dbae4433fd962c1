"""Bytes that nobody has thought of, for everything that reads what others have written."""
