"""Handlers that translate ops to checked Python, and the functions that the text calls at run time."""
