"""Models on a GPU: the launches of a graph as one list, weights and arena in the memory of the device."""
