"""Random functions of PyTorch, imported, built and compared with PyTorch."""

from __future__ import annotations

from fuzzing.kinds import Kind
from fuzzing.torch_graphs.torch_case import case

KINDS: dict[str, Kind] = {"torch": Kind(case)}
