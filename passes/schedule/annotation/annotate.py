"""annotate, unannotate, enter_postproc: metadata on blocks and loops, and a marker in the trace."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.analysis import EXPLICIT, declare, explicit
from tir_mlir.dialect.analysis.regions import accessed_regions, regions
from tir_mlir.dialect.ir import Block, Func, Loop, annotation_keys, attrs
from tir_mlir.passes.schedule.registry import primitive, warn


@primitive("annotate", moves="nothing", marks=True, proves=False)
def annotate(block_or_loop: Block | Loop | Func, ann_key: str, ann_val: Any) -> None:
    """Attach a value (str, int, float, bool, list or dict) to a block or loop.

        for i in range(n):  ->  for i in T.serial(n, annotations={"key": value}):

    An existing key keeps its value, as in TVM. A key that neither lowering nor TVM knows gives a ScheduleWarning with
    the nearest known one, unless it has a namespace of its own (`my_tool.width`).
    """
    annotations = block_or_loop.annotations
    if ann_key not in annotations:
        kind = annotation_keys.LOOP if isinstance(block_or_loop, Loop) else annotation_keys.BLOCK
        if doubt := annotation_keys.doubt(ann_key, kind):
            warn(doubt)
        attrs.put(block_or_loop.op, attrs.ANNOTATIONS, {**annotations, ann_key: ann_val})


@primitive("unannotate", moves="nothing", proves=False)
def unannotate(block_or_loop: Block | Loop | Func, ann_key: str) -> None:
    """Remove an annotation from a block or loop. Requires: the annotation exists (IndexError otherwise).

    With `explicit_read_region` or `explicit_write_region`, what `annotate_buffer_access` declared is the computed
    region again: without the annotation nothing says that it may be smaller than the accesses.
    """
    annotations = block_or_loop.annotations
    if ann_key not in annotations:
        raise IndexError(f'{block_or_loop} has no annotation "{ann_key}"; it has {sorted(annotations) or "none"}')
    if isinstance(block_or_loop, Block):
        for key in (k for k, name in EXPLICIT.items() if name == ann_key):
            _declare_computed(block_or_loop, key)
    attrs.put(block_or_loop.op, attrs.ANNOTATIONS, {k: v for k, v in annotations.items() if k != ann_key})


def _declare_computed(block: Block, key: str) -> None:
    """Declare the computed regions instead of those that the user declared by annotate_buffer_access."""
    side = list(EXPLICIT).index(key)
    of_buffer = {region.buffer: region for region in accessed_regions(block)[side]}
    numbers = explicit(block, key)
    plain = [of_buffer.get(r.buffer, r) if n in numbers else r for n, r in enumerate(regions(block)[side])]
    if plain == [*of_buffer.values()]:
        attrs.put(block.op, key, None)
    else:
        declare(block, key, plain)


@primitive("enter_postproc", pure=True)
def enter_postproc() -> None:
    """Mark the start of post-processing in the trace.

    The program does not change. `trace.simplified(remove_postproc=True)` drops this step and everything after it.
    """
