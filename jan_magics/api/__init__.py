"""What a notebook or script imports: chats, answers, tables."""
