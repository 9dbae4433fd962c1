"""Tests that look at JupyterLab through Chromium; a package, so that its fixtures end with it."""
