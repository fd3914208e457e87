"""Primitives that add a copy of a buffer and redirect accesses to it: cache_read, cache_write, cache_inplace,
cache_index, read_at, write_at, write_in_place, reindex.
"""
