"""Thread-bound nests to GPU kernels: sums over threads, memory, axes, barriers."""
