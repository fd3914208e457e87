"""Random graphs of operators, built and compared with NumPy."""

from __future__ import annotations

from fuzzing.graphs.graph_case import case
from fuzzing.kinds import Kind

KINDS: dict[str, Kind] = {"graph": Kind(case)}
