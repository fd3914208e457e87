"""Models as files: a library without Python, its C header, weights that are mapped into memory, an example in C."""
