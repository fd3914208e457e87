"""Models of ONNX as graphs: `from_onnx`, and the table of its operators by family."""
