"""Schedules of elementwise blocks, reductions and row-wise operators."""
