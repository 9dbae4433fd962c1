"""Views in a page: controls that come and go; what must last is a table or a text."""
