"""Search over a whole model: its functions, which of them is searched next, the tuned model."""
