"""The pieces of the TVMScript printer: names, literals, index and value expressions, statements, functions."""
