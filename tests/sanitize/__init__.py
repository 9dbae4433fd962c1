"""Tests of cleaning: what becomes of messages that a provider would refuse."""
