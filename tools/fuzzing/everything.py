"""All kinds of items by name: "pair", "graph", "torch", "code", "kernel", "input: ..."."""

from __future__ import annotations

from fuzzing import code, graphs, inputs, torch_graphs
from fuzzing.kernels import case, on_gpu
from fuzzing.kinds import Kind
from fuzzing.pairs import pair


def kinds(thorough: bool = False, word: str = "", wanted: pair.Wanted = pair.ANY, gpu: bool = False) -> dict[str, Kind]:
    """Return all kinds of items. `thorough`: run all checks on pairs; `word`: part of the name of an input kind;
    `wanted`: the stages and steps of pairs; `gpu`: kernels run on the GPU of this machine, too."""
    own = {f"input: {name}": kind for name, kind in inputs.KINDS.items() if word in name}
    return (
        {"pair": pair.kind(thorough, wanted)}
        | graphs.KINDS
        | torch_graphs.KINDS
        | code.KINDS
        | (on_gpu if gpu else case).KINDS
        | own
    )
