"""Tests of a turn: settings, the engine, the path from a prompt to a stored answer."""
