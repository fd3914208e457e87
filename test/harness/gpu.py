"""Programs for GPUs run on the PTX machine (see `fuzzing.kernels.machine`)."""

from fuzzing.kernels.machine import device_of, on_machine, run_call

__all__ = ["device_of", "on_machine", "run_call"]
