"""Primitives on buffer properties and index maps: transform_layout with padding, transform_block_layout, storage
scope, alignment, element type.
"""
