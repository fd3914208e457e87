"""Passes over graphs that need no table of operators: the memory plan, and the lowering of a graph to one function."""
