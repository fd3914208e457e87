"""`make bench ARGS=--llm`: a whole language model from files, beside llama.cpp and PyTorch."""
