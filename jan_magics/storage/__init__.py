"""Remember: threads and messages on disk. SQL lives here and in `rag` only."""
