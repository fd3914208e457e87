"""Models of ONNX as graphs: files and their checks, nodes, bodies of functions, and what is known at import."""
