"""What a GGUF file says before its tensors: its facts, where tensors lie, and the configuration that they stand for."""
