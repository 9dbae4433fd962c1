"""Tests of wire formats and HTTP, against servers on the loopback."""
