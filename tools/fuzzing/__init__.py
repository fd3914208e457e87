"""Fuzzing with random programs under random schedules, and with random input: an outcome is right, a clear refusal, or
a fault."""
