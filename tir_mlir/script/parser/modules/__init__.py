"""Functions of one module that call each other: the order to parse them in, and the calls."""
