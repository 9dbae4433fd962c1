"""Retrieval: documents, chunks, vectors, words, search."""
