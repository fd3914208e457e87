"""Perfect nests of axes as `gpu.func` kernels: arguments, memory, limits, the width of indices."""
