"""Calling compiled code with arrays: signatures, checks, the fast entry."""
