"""annotate, unannotate: facts for later passes on a block or loop."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.ir import Block, Func, Loop, attrs
from tir_mlir.passes.schedule.registry import primitive


@primitive("annotate")
def annotate(block_or_loop: Block | Loop | Func, ann_key: str, ann_val: Any) -> None:
    """Attach a value (str, int, float, bool, list or dict) to a block or loop.

        for i in range(n):  ->  for i in T.serial(n, annotations={"key": value}):

    A key that is there already keeps its value, as in TVM.
    """
    known = block_or_loop.annotations
    if ann_key not in known:
        attrs.put(block_or_loop.op, attrs.ANNOTATIONS, {**known, ann_key: ann_val})


@primitive("unannotate")
def unannotate(block_or_loop: Block | Loop | Func, ann_key: str) -> None:
    """Take an annotation off a block or loop. Requires: it is there (IndexError otherwise)."""
    known = block_or_loop.annotations
    if ann_key not in known:
        raise IndexError(f'{block_or_loop} has no annotation "{ann_key}"; it has {sorted(known) or "none"}')
    attrs.put(block_or_loop.op, attrs.ANNOTATIONS, {k: v for k, v in known.items() if k != ann_key})


@primitive("enter_postproc", pure=True)
def enter_postproc() -> None:
    """Mark the place in the trace from which on steps belong to post-processing.

    The program stays as it is. `trace.simplified(remove_postproc=True)` and its like leave out this step and all after.
    """
