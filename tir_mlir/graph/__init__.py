"""Models as graphs of operators: how they are written, imported, transformed, and compiled to one native function."""
