"""Handlers that translate ops to checked Python, and the functions that the generated code calls at run time."""
