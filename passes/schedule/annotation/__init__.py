"""Primitives that only record metadata: annotations of blocks and loops, declared read and write regions, trace
markers.
"""
