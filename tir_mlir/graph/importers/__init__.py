"""Models of others as graphs: `from_torch` (torch.export), `from_fx` (torch.fx), `from_onnx`."""
