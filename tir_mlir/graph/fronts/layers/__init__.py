"""The layers of networks as operators of a graph, shared by the fronts: one place for each meaning."""
