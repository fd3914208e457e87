"""Nests of bound loops to the kernels of a GPU: sums over threads, memory by scope, axes, barriers, `gpu.func`."""
