"""The memory of a graph: where each value lies, sizes as code, and the lowering of a graph to one function."""
