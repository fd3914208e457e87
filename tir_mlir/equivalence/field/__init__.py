"""The numbers of the exact check: elements of the prime field p = 2^61 - 1, and their order."""
