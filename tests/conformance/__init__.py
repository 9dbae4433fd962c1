"""What Jan does on recorded input, and where we differ on purpose."""
