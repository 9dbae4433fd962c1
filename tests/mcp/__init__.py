"""Tests of MCP servers, which are real processes here."""
