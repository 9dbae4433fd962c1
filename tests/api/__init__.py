"""Tests of what a notebook or script imports: chats, answers, tables."""
