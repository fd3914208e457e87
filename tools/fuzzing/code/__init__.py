"""Random masked, narrowing and mixed-type loops, whose machine code is compared with the interpreter."""

from __future__ import annotations

from fuzzing.code.case import case
from fuzzing.kinds import Kind

KINDS: dict[str, Kind] = {"code": Kind(case)}
