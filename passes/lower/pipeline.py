"""The lowering pipeline: our passes, then upstream passes down to the LLVM dialect.

Upstream passes left out because of open miscompilation reports: affine-super-vectorize, affine-loop-fusion,
scf-parallel-loop-fusion, affine-data-copy-generate, affine-parallelize.
"""

from __future__ import annotations

MODULE_PASSES = (
    "tir-lower-ignored-annotations",
    "tir-lower-fastmath",  # needs the reduce iters
    "tir-lower-reciprocals",
    "tir-lower-empty-reductions",  # needs the reduce iters
    "tir-lower-align",  # before blocks go: they carry the annotation
    "tir-lower-blocks",
    "tir-lower-searches",  # before tails and vectors: the loops of a block are directly around it
    "tir-lower-collapsed",  # before loops are peeled: fewer accesses
    "tir-lower-conditions",
    "tir-lower-compact",  # before loops change: makes buffers private to parallel iterations
    "tir-lower-guards",
    "tir-lower-joined",  # before tails: a joined loop has none
    "tir-lower-tails",  # after compact: buffers of a tile are still private to it
    "tir-lower-prefetch",  # loops are peeled: each piece gets its own prefetches
    "tir-lower-races",
    "tir-lower-bools",  # before vectors: a vector of i1 is packed
    "tir-lower-rows",  # before vectorized loops: theirs are of adjacent elements
    "tir-lower-transposed",
    "tir-lower-interleaved",
    "tir-lower-runs",  # before vectors: matches whole copies
    "tir-lower-vectorized",  # before unrolling clones the loops
    "tir-lower-unrolled",
    "tir-lower-registers",  # bodies are straight-line code now
    "tir-lower-threads",
    "tir-lower-parallel",
    "tir-lower-checks",  # vectors exist: only what is still an element is checked
    "tir-lower-strides",  # shapes are final, vectors exist
    "tir-lower-allocs",  # after parallel: allocates at the start of the owning iteration
    "tir-lower-scopes",
    "tir-lower-nest-functions",  # the last that looks at one function as a whole is done
    "tir-lower-abi",
)

CLEANUP = ("canonicalize", "cse")

LOOP_PASSES = (
    "lower-affine",
    "tir-lower-bindings",
    "tir-lower-repeats",
)

THREAD_PASSES = (
    "convert-scf-to-openmp",
    "tir-lower-thread-stack",  # allocas to the start of the thread, so that alloca_scope is free of them
    "canonicalize",  # inlines the alloca_scope, which convert-scf-to-cf does not support
)

ARITH_PASSES = (
    "tir-lower-isinf",  # before narrow floats are widened: its comparisons are, too
    "math-extend-to-supported-types{target-type=f32}",  # exp of f16 has no function: through f32
    "tir-lower-math",  # vectors exist, f16 is gone
    "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}",
    "tir-lower-bf16",
    "tir-lower-extrema",  # before arith-expand turns them into selects
    "arith-expand{include-bf16=true}",  # floordivsi etc.; bf16 without a runtime library
)

MEMORY_PASSES = (
    "tir-lower-expanded",  # expand-strided-metadata aborts on these
    "expand-strided-metadata",
    "lower-affine",  # again: expand-strided-metadata creates affine.apply
    "finalize-memref-to-llvm",  # before control flow is lowered: allocas in parallel bodies
    # before there are blocks: it simplifies regions, which merges blocks equal but for a memref, to an operand of the
    # branch, and convert-openmp-to-llvm leaves a branch with a type that it does not convert again
    "convert-vector-to-llvm",
    "convert-scf-to-cf",
)

OPENMP_PASSES = ("convert-openmp-to-llvm",)

LLVM_PASSES = ("convert-to-llvm",)

MATH_PASSES = (
    "convert-math-to-libm",  # after convert-to-llvm: functions without an intrinsic (earlier, rsqrt would be a call)
    "convert-to-llvm",
)

LAST_PASSES = (
    "reconcile-unrealized-casts",
    "tir-lower-c-interfaces",
    "tir-lower-pointers",  # views are sums now
    "tir-lower-marks",
    "tir-lower-words",
)


OF_MATH = ("tir-lower-isinf", "math-extend-to-supported-types{target-type=f32}", "tir-lower-math")
OF_BF16 = ("arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}", "tir-lower-bf16", "tir-lower-words")


def pass_names(parallel: bool, math: bool = True, bf16: bool = True) -> tuple[str, ...]:
    """All passes after our own module passes, in order, for a module with or without parallel loops, math ops, and
    values of type bf16."""
    threads, openmp = (THREAD_PASSES, OPENMP_PASSES) if parallel else ((), ())
    functions = MATH_PASSES if math else ()
    names = (
        *CLEANUP, *LOOP_PASSES, *threads, *ARITH_PASSES, *MEMORY_PASSES, *openmp, *LLVM_PASSES, *functions, *LAST_PASSES
    )  # fmt: skip
    idle = (() if math else OF_MATH) + (() if bf16 else OF_BF16)
    return tuple(name for name in names if name not in idle)


def stages(parallel: bool, math: bool = True, bf16: bool = True, single: bool = False) -> list[tuple[str, ...]]:
    """The same, grouped: runs of upstream passes (single: of one each), and our own passes as tuples of one."""
    runs: list[tuple[str, ...]] = []
    upstream: list[str] = []
    for name in pass_names(parallel, math, bf16):
        if single or name.startswith("tir-"):
            runs += [tuple(upstream), (name,)]
            upstream = []
        else:
            upstream.append(name)
    return [run for run in (*runs, tuple(upstream)) if run]


def pipeline_text(passes: tuple[str, ...]) -> str:
    """A run of upstream passes as the argument of `mlir-opt --pass-pipeline`."""
    return f"builtin.module({','.join(passes)})"
