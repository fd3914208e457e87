"""Primitives that make, replace or reorder blocks: blockize (divides bindings into tiles), tensorize (matches
intrinsics), reorder_block_iter_var.
"""
