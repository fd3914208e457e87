"""Random and mutated text for everything that reads text, by kind."""

from __future__ import annotations

from fuzzing.kinds import Kind

KINDS: dict[str, Kind] = {}
