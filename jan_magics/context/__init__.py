"""Fit: arithmetic on tokens. Import the module you need, nothing is loaded."""
