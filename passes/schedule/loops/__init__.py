"""Primitives on loops: split, fuse, reorder, loop_partition, merge, add_unit_loop, and loop kinds (parallel,
vectorize, unroll, bind).
"""
