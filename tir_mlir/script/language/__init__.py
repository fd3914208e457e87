"""What the words of TVMScript are in plain Python."""
