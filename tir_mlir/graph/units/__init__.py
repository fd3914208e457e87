"""Questions about one TensorIR function, asked of its text alone: answered by any process, kept by content."""
