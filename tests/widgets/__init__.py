"""Tests of views, with a page that speaks to a real kernel."""
