"""What tests of schedules need: `verify_trace_roundtrip`."""

from tir_mlir.schedule.testing import verify_trace_roundtrip

__all__ = ["verify_trace_roundtrip"]
