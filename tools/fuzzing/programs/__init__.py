"""Random tensor programs with a NumPy reference."""

from fuzzing.programs.sample import Sample, program

__all__ = ["Sample", "program"]
