"""The TVMScript language: the documented constructs of `T`, and the table of operations."""
