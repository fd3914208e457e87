"""Where buffers live, how large they are, how their rows are strided, when they are freed."""
