"""Calling compiled functions: signatures, argument checks and packing, the C entry point."""
