"""Memory of buffers: compaction to the region used, strides, bool storage, placement on stack or heap, lifetimes."""
