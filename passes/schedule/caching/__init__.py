"""Primitives that make copies of buffers: cache_read, cache_write, reindex, read_at."""
