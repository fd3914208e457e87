"""What is checked of files and configurations before weights are read."""
