"""Transforms of graphs: each takes a Graph and returns a new one that computes the same."""
