"""Tests of retrieval: documents, chunks, vectors, words, search."""
