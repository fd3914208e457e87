"""All kinds of items by name: "pair", "input: ..."."""

from __future__ import annotations

from fuzzing import inputs
from fuzzing.kinds import Kind
from fuzzing.pairs import pair


def kinds(thorough: bool = False, word: str = "") -> dict[str, Kind]:
    """`thorough`: pairs judged in every way; `word`: in the names of the inputs."""
    own = {f"input: {name}": kind for name, kind in inputs.KINDS.items() if word in name}
    return (pair.ALL if thorough else pair.QUICK) | own
