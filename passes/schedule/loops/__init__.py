"""Primitives on loops: split, fuse, reorder, loop_partition, version_loop, merge, fission, add_unit_loop, and loop
kinds (parallel, vectorize, unroll, bind).
"""
