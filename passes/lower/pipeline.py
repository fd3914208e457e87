"""The order of our passes, and the upstream passes that finish the work.

Kept out for open reports of wrong code: affine-super-vectorize, affine-loop-fusion, scf-parallel-loop-fusion,
affine-data-copy-generate, affine-parallelize.
"""

from __future__ import annotations

OURS = (
    "tir-lower-fastmath",  # needs the reduce iters
    "tir-lower-align",  # before blocks go: they carry the wish
    "tir-lower-blocks",
    "tir-lower-collapsed",  # before loops are cut: few accesses still
    "tir-lower-conditions",
    "tir-lower-compact",  # before loops change: makes buffers private to parallel iterations
    "tir-lower-guards",
    "tir-lower-tails",  # after compact: buffers of a tile are private to it still
    "tir-lower-prefetch",  # loops are cut: each piece asks for its own
    "tir-lower-races",
    "tir-lower-bools",  # before vectors: a vector of bits is packed
    "tir-lower-transposed",
    "tir-lower-interleaved",
    "tir-lower-runs",  # before vectors: whole copies are taken
    "tir-lower-vectorized",  # before unrolling copies the loops
    "tir-lower-unrolled",
    "tir-lower-registers",  # blocks of straight code now
    "tir-lower-threads",
    "tir-lower-parallel",
    "tir-lower-strides",  # shapes are final, vectors are made
    "tir-lower-allocs",  # after parallel: memory at the start of the iteration that owns it
    "tir-lower-scopes",
    "tir-lower-abi",
)

CLEAN = ("canonicalize", "cse")

LOOPS = ("lower-affine", "tir-lower-repeats")

THREADS = (
    "convert-scf-to-openmp",
    "tir-lower-thread-stack",  # allocas to the start of the thread; frees the body of its alloca_scope
    "canonicalize",  # and inlines the scope, which convert-scf-to-cf cannot take
)

ARITH = (
    "math-extend-to-supported-types{target-type=f32}",  # exp of f16: no such function, so by f32
    "tir-lower-math",  # with vectors made, and f16 out of the way
    "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}",
    "tir-lower-bf16",
    "tir-lower-extrema",  # before they become choices
    "arith-expand{include-bf16=true}",  # floordivsi and friends; bf16 without a support library
)

LLVM = (
    "expand-strided-metadata",
    "lower-affine",  # again: the pass before makes affine.apply
    "finalize-memref-to-llvm",  # before the control flow goes: allocas in parallel bodies
    "convert-scf-to-cf",
    "convert-openmp-to-llvm",
    "convert-vector-to-llvm",
    "convert-to-llvm",
    "convert-math-to-libm",  # after, for what LLVM has no intrinsic for (first, it would ask libm for rsqrt)
    "convert-to-llvm",
    "reconcile-unrealized-casts",
    "tir-lower-pointers",  # views are sums now
    "tir-lower-marks",
    "tir-lower-words",
)


def names(parallel: bool) -> tuple[str, ...]:
    """Everything after our own passes, in order."""
    return (*CLEAN, *LOOPS, *(THREADS if parallel else ()), *ARITH, *LLVM)


def stages(parallel: bool) -> list[tuple[str, ...]]:
    """The same as runs of upstream passes with our own passes between them, one tuple each."""
    runs: list[tuple[str, ...]] = []
    upstream: list[str] = []
    for name in names(parallel):
        if name.startswith("tir-"):
            runs += [tuple(upstream), (name,)]
            upstream = []
        else:
            upstream.append(name)
    return [run for run in (*runs, tuple(upstream)) if run]


def text(passes: tuple[str, ...]) -> str:
    """A run of upstream passes as the argument of `mlir-opt --pass-pipeline`."""
    return f"builtin.module({','.join(passes)})"
