"""What a notebook shows and what a prompt takes from it; nothing is imported here."""
