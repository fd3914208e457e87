"""Weights in fewer bits: how they are rounded and stored, how a graph computes with them, what the rounding costs."""
