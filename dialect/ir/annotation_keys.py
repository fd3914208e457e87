"""The annotation keys that mean something: here, or to TVM, whose programs carry them along.

A key with a namespace of its own (`my_tool.width`) is a note of the user. Any other unknown key is doubtful: nothing
reads it, so it is a mistake or a wish that nobody fulfills.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.walk import ops

PREFETCH = "prefetch"
"""Of a loop: a buffer, a list of buffers, or a dictionary from buffers to the number of iterations ahead."""

PIPELINE = "software_pipeline_stage", "software_pipeline_order", "software_pipeline_async_stages"
"""Of a loop: for each child of its body, its stage and its position; the stages that are asynchronous."""
DOUBLE_BUFFER = "double_buffer_scope"
"""Of a block: the position of a buffer that it writes, and fills an iteration ahead."""

ALIGN = "buffer_dim_align"
"""Of a block: [position of a buffer that it writes, axis, factor, offset], ..."""
SWIZZLE = "swizzle"
"""Of a block: positions of buffers that it writes."""
TMA_COPY, TMA_PIPELINE = "tma_copy", "tma_pipeline"
"""Of a block that copies a tile: 1; of the loop around: the number of tiles, and 1 for a warpgroup of its own."""

SHARED_UPDATES = "shared_updates"
"""Of a loop over blocks: the name of a buffer that all blocks update, each by way of a copy in shared memory."""

APPROXIMATE = "approximate"
"""Of a block: whether its functions may be approximate, and its products contracted."""

LOOP, BLOCK, FUNC = "loop", "block", "function"
_NAMESPACES = ("tir", "tirx", "meta_schedule")
_NEAR = 0.6
"""Least similarity of a key that is suggested instead of another."""


@dataclass(frozen=True)
class Key:
    """A known key: where it belongs, its effect here, and, if lowering ignores it, what to use instead; `on_gpu`: the
    same for lowering to kernels."""

    owners: tuple[str, ...]
    effect: str
    instead: str = ""
    on_gpu: str = ""


def _table(
    owners: tuple[str, ...], effect: str, *names: str, instead: str = "", on_gpu: str | None = None
) -> dict[str, Key]:
    return {name: Key(owners, effect, instead, instead if on_gpu is None else on_gpu) for name in names}


_TUNING = "carried along: for search and its postprocessors"
_COPIES = "carried along: for passes of TVM that generate copies"
_GPU = "carried along: for GPU code"
_PARSING = "carried along: for TVM's parser"
_COPY = "a copy in shared or local memory (cache_read, compute_at) loads what is used before it is used"
_NO_CALLS = "kernels call no external code; write it as blocks"

KEYS: dict[str, Key] = {
    **_table((LOOP,), "lowering for CPUs prefetches the named buffers", PREFETCH, on_gpu=_COPY),
    **_table((BLOCK,), "lowering aligns the strides of a buffer; set by storage_align", ALIGN),
    **_table(
        (BLOCK,),
        "lowering to kernels permutes the addresses of a shared buffer; set by swizzle",
        SWIZZLE,
        instead="a shared buffer has banks on a GPU only; build for one",
        on_gpu="",
    ),
    **_table(
        (BLOCK, LOOP),
        "lowering to kernels lets the TMA copy tiles ahead; set by tma_pipeline",
        *(TMA_COPY, TMA_PIPELINE),
        instead="only a GPU of sm_90 or later has a TMA; build for one",
        on_gpu="",
    ),
    **_table(
        (LOOP,),
        "lowering to kernels lets each block update a copy in shared memory, and add it to the buffer in the end",
        SHARED_UPDATES,
        instead="only a GPU has shared memory; build for one",
        on_gpu="",
    ),
    **_table(
        (BLOCK,),
        "later steps keep the declared regions; set by annotate_buffer_access",
        *("explicit_read_region", "explicit_write_region"),
    ),
    **_table(
        (BLOCK,),
        "lowering divides by a value that the innermost loop does not change once, and multiplies; rounds twice",
        "reciprocal",
    ),
    **_table(
        (BLOCK,),
        "lowering to kernels of NVIDIA's GPUs takes the approximate instructions of exp, exp2, log and log2",
        APPROXIMATE,
        instead="functions of float32 are polynomials on a CPU; build for a GPU",
        on_gpu="",
    ),
    **_table((BLOCK,), "proofs know of hidden regions; set by unsafe_hide_buffer_access", "tir.hidden"),
    **_table((BLOCK,), "proofs know that kernels may write a part only; set by tensorize", "tir.partial"),
    **_table((LOOP, BLOCK), "build links the kernels in the text or file", "pragma_import_llvm", on_gpu=_NO_CALLS),
    **_table((BLOCK,), "the interpreter stops before the block; set by breakpoint()", "breakpoint"),
    **_table((FUNC,), "the name of the compiled function", "global_symbol"),
    **_table((FUNC,), "whether parameters are distinct memory", "tir.noalias"),
    **_table(
        (LOOP, BLOCK),
        _TUNING,
        *(f"meta_schedule.{name}" for name in (
            "tiling_structure", "cooperative_fetch", "thread_extent_low_inclusive", "thread_extent_high_inclusive",
            "random_compute_producer", "parallel", "vectorize", "unroll_explicit", "unroll_implicit", "auto_tensorize",
            "auto_tensorize_init", "layout_rewrite_preproc", "tensor_core_enabled", "cache_type", "inline_rule",
        )),
        "schedule_rule",
    ),
    **_table((LOOP, BLOCK), _COPIES, "auto_copy", "local_stage", "vector_bytes"),
    **_table((LOOP, BLOCK), _GPU, "warp_execution", "hand_threaded", "tir.manifest_shared_memory_local_stage"),
    **_table((LOOP, BLOCK), _PARSING, "tir.script_parsing_detect_access", "require_bound_predicate"),
    **_table((BLOCK, FUNC), "carried along: for layout rewriting", "layout_free_buffers", "layout_free_placeholders"),
    **_table((LOOP,), "carried along: for TVM's passes", "irregular_loop_mark"),
    **_table(
        (FUNC,),
        "carried along: for TVM's passes and its runtime",
        *("target", "calling_conv", "op_pattern", "layout_transforms", "axis_separators", "from_legacy_te_schedule"),
        *("tir.is_scheduled", "tir.is_entry_func", "tir.is_global_func", "tir.is_host_func", "num_input"),
    ),
    **_table((LOOP,), "lowering lets iterations overlap, as the step pipeline does", *PIPELINE),
    **_table((BLOCK,), "lowering lets the block run an iteration ahead, as the step pipeline does", DOUBLE_BUFFER),
    **_table(
        (LOOP, BLOCK),
        "ignored by lowering",
        *("double_buffer_write", "async_scope"),
        instead="pipeline of the loop around gives the buffer planes, or roll the buffer (rolling_buffer)",
        on_gpu="pipeline of the loop around gives the buffer planes",
    ),
    **_table(
        (LOOP, BLOCK),
        "ignored by lowering",
        *("pragma_auto_unroll_max_step", "pragma_unroll_explicit"),
        instead="unroll the loops that should be unrolled; LLVM unrolls others as it sees fit",
    ),
    **_table(
        (LOOP,),
        "ignored by lowering",
        "pragma_loop_partition_hint",
        instead="loop_partition the loop; tails of split loops are partitioned anyway",
    ),
    **_table(
        (LOOP, BLOCK),
        "ignored by lowering",
        "pragma_import_c",
        instead='compile the C code to LLVM IR and annotate with "pragma_import_llvm"',
        on_gpu=_NO_CALLS,
    ),
}  # fmt: skip
IGNORED = tuple(name for name, key in KEYS.items() if key.instead or key.on_gpu)
"""The keys that lowering ignores, at least for a GPU."""


def doubt(key: str, kind: str) -> str:
    """Why an annotation of a loop, block or function has no effect and no reader, with the nearest known key; "" for a
    known key, and for a note of the user.
    """
    name = key.replace("tirx.", "tir.", 1) if key.startswith("tirx.") else key
    annotation = KEYS.get(name)
    if annotation is not None:
        owners = " or ".join(annotation.owners)
        return (
            "" if kind in annotation.owners else f'"{key}" is an annotation of a {owners}; on a {kind} it has no effect'
        )
    namespace, dot, _ = name.partition(".")
    if dot and namespace not in _NAMESPACES:
        return ""
    candidates = [k for k, v in KEYS.items() if kind in v.owners]
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=_NEAR) or difflib.get_close_matches(name, KEYS, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return f'unknown annotation "{key}" has no effect{hint or f"; name a note of your own with a dot: my.{key}"}'


def replacement_for(key: str, gpu: bool = False) -> str:
    """What to use instead of a known annotation that lowering, or that for a GPU, ignores; "" for any other key."""
    annotation = KEYS.get(key)
    return "" if annotation is None else annotation.on_gpu if gpu else annotation.instead


def prefetched_buffers(annotations: Mapping[str, object]) -> list[str]:
    """The buffers that an annotation of a loop tells to prefetch."""
    value = annotations.get(PREFETCH)
    return [name for name in (value if isinstance(value, (list, dict)) else [value]) if isinstance(name, str)]


def rename_buffers(root: ir.Operation, names: Mapping[str, str | None]) -> None:
    """Let the annotations of loops beneath `root` follow buffers to their new names; None: the buffer is gone.

    for i, annotations={"prefetch": ["A", "B"]}   ->   for i, annotations={"prefetch": ["C"]}   {"A": "C", "B": None}
    """
    for op in ops(root):
        if attrs.LOOP not in op.attributes or attrs.ANNOTATIONS not in op.attributes:
            continue
        annotations = attrs.get(op, attrs.ANNOTATIONS)
        if names.keys().isdisjoint(prefetched_buffers(annotations)):
            continue
        renamed = _rename_prefetched(annotations.pop(PREFETCH), names)
        attrs.put(op, attrs.ANNOTATIONS, {**annotations, **({PREFETCH: renamed} if renamed else {})} or None)


def _rename_prefetched(value: object, names: Mapping[str, str | None]) -> object:
    """The value of a prefetch annotation with other names, without those that are None."""
    if isinstance(value, dict):
        return {new: ahead for name, ahead in value.items() if (new := names.get(name, name)) is not None}
    if isinstance(value, list):
        return [new for name in value if (new := names.get(name, name)) is not None]
    return names.get(value, value) if isinstance(value, str) else value
