"""Tests of the magics: lines, cells, completion, most of them in a real kernel."""
