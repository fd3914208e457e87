"""Random schedule steps."""

from fuzzing.steps.step import shown, step

__all__ = ["shown", "step"]
