"""Promised figures beside their rivals: `make bench`."""
