"""Tests of the arithmetic of a context window."""
