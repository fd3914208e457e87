"""Searches by many machines: workers that take part in the searches of a database."""
