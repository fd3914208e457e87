"""Random tensor programs, with what they mean in NumPy."""

from fuzzing.programs.sample import Sample, program

__all__ = ["Sample", "program"]
