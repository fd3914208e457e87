"""The lowering pipeline: our passes, then upstream passes down to the LLVM dialect.

Upstream passes left out because of open miscompilation reports: affine-super-vectorize, affine-loop-fusion,
scf-parallel-loop-fusion, affine-data-copy-generate, affine-parallelize.
"""

from __future__ import annotations

POSITIONS = {
    "tir-lower-ignored-annotations": "first, while blocks carry their annotations",
    "tir-lower-software-pipelines": "while loops carry the annotations, and blocks say what they access",
    "tir-lower-fastmath": "while blocks say which iters are reductions",
    "tir-lower-reciprocals": "while blocks carry the annotation",
    "tir-lower-empty-reductions": (
        "while blocks say which iters are reductions; the init of a sum without terms is in no iteration"
    ),
    "tir-lower-strides-align": "before blocks, which carry the annotation, are lowered",
    "tir-lower-blocks": "iters become expressions of loop variables; all later passes work on loops",
    "tir-lower-searches": "before tails and vectors: the loops of a block are directly around it",
    "tir-lower-collapse-dims": "before loops are peeled, while there are few accesses",
    "tir-lower-conditions": "folds what loop ranges decide once, before loops are duplicated",
    "tir-lower-compact": (
        "before loops change: it makes buffers private to parallel iterations, on which race checks and stack "
        "placement depend"
    ),
    "tir-lower-hoist-guards": "after compaction, so that the buffers of a tile are still private to it",
    "tir-lower-join-unrolled": (
        "after guards, which are bounds now, and before tails: a joined loop has none. What LLVM unrolls need "
        "not pass through the lowering in copies"
    ),
    "tir-lower-peel-tails": "after compaction, too; vector and unrolled loops need the constant bounds of full tiles",
    "tir-lower-prefetch": "after peeling: each loop prefetches its own cache lines",
    "tir-lower-parallel-races": "after compaction, before vectorization; warns if a parallel loop becomes serial",
    "tir-lower-bools": "before vectorization: a vector of i1 would be packed",
    "tir-lower-rows": "before vectorization, whose accesses are of adjacent elements",
    "tir-lower-transpose": "before vectorization: it matches a whole nest that copies",
    "tir-lower-interleave": "before vectorization: it matches a whole nest that copies",
    "tir-lower-row-copies": "before vectorization: it matches a whole nest that copies",
    "tir-lower-vectorize": "before unrolling duplicates the loops",
    "tir-lower-unroll": "after vectorization, so that vector code is unrolled",
    "tir-lower-registers": "after unrolling: bodies are straight-line code",
    "tir-lower-parallel-threads": "loop bodies are final",
    "tir-lower-parallel": "loop bodies are final; `tir-lower-parallel-races` left the loops that may run in parallel",
    "tir-lower-checks": "vectors exist: only what is still an element is checked",
    "tir-lower-strides": "shapes are final, vectors exist",
    "tir-lower-allocs": "after parallel loops: allocates at the start of the iteration that owns a buffer",
    "tir-lower-scopes": "no later pass needs memory spaces",
    "tir-lower-nest-functions": (
        "all that look at a whole function are done; LLVM takes more than linear time for large ones, and "
        "equal nests share a function"
    ),
    "tir-lower-abi": "last: symbols are final. That of the code of `exp` is `tir.exp`, as C has an `exp`",
}
"""Our passes from blocks to upstream MLIR, in order, each with the reason for its position."""

MODULE_PASSES = tuple(POSITIONS)

GPU_POSITIONS = {
    **{
        name: POSITIONS[name]
        for name in (
            "tir-lower-ignored-annotations",
            "tir-lower-software-pipelines",
            "tir-lower-fastmath",
            "tir-lower-reciprocals",
            "tir-lower-empty-reductions",
            "tir-lower-strides-align",
        )
    },
    "tir-lower-gpu-approximate": "after `tir-lower-fastmath`, while blocks carry the annotation",
    "tir-lower-gpu-tma-copies": "while blocks carry the annotation, and before proofs of one copy a block",
    "tir-lower-gpu-cut-blocks": "before iters are replaced: simplified expressions hide what is divided",
    **{name: POSITIONS[name] for name in ("tir-lower-blocks", "tir-lower-searches", "tir-lower-conditions")},
    "tir-lower-gpu-warpgroups": "before all proofs about threads: what a warpgroup does accesses memory once",
    "tir-lower-gpu-warps": "before all proofs about threads: a call of a whole warp accesses memory once",
    "tir-lower-gpu-reductions": "before buffers are placed: the partial results are more of them",
    "tir-lower-gpu-memory": "on loops: of those over one axis, each is one of its own",
    "tir-lower-gpu-vthreads": "buffers private to a virtual thread are inside of its loop",
    "tir-lower-gpu-shared-updates": "before updates become atomic, and before proofs of one copy a block",
    "tir-lower-gpu-atomics": "buffers are private to a thread or are not, and loops are still those of the program",
    "tir-lower-gpu-block-copies": "buffers have their sizes, and loops are still those of the serial program",
    "tir-lower-collapse-dims": "after the proof of one copy: by dimension, indices are digits of fused loops",
    "tir-lower-gpu-shared-dims": "the same",
    "tir-lower-gpu-axes": "buffers are placed; what is outside of an axis is still plain to see",
    "tir-lower-gpu-shuffles": "in the body of one thread; before barriers, as it uses shared memory",
    "tir-lower-gpu-barriers": "one thread's work stands in one body; accesses are still affine",
    "tir-lower-gpu-channels": "barriers are placed, none of them for the tiles of channels; accesses are still affine",
    "tir-lower-gpu-accumulators": "tiles have their layout; accesses are still affine",
    "tir-lower-gpu-copy-groups": "barriers are placed, which its waits precede; accesses are still affine",
    "tir-lower-gpu-shared-lives": "barriers and waits are placed",
    "tir-lower-gpu-guards": "barriers are placed, and vectors need the body of a loop",
    "tir-lower-gpu-join-blocks": "barriers are proved; what follows launches a grid of three axes",
    "tir-lower-gpu-fragments": "barriers are proved: a call of a warp may become one of each lane",
    "tir-lower-bools": "accesses and positions of buffers are final",
    "tir-lower-strides": "shapes are final",
    "tir-lower-gpu-dots": "strides are final, and loops are still loops",
    "tir-lower-gpu-vectors": "barriers are placed between affine accesses; strides are final",
    "tir-lower-gpu-swizzles": "all proofs are done, and the widths of accesses are final",
    "tir-lower-gpu-async-copies": "the widths of copies and the addresses of shared buffers are final",
    "tir-lower-unroll": "after vectorized loops, which may become unrolled ones",
    "tir-lower-gpu-kernels": "last: what a thread does is final",
}
"""Our passes from blocks to kernels, in order, each with the reason for its position."""

GPU_PASSES = tuple(GPU_POSITIONS)

THREADS_DONE = "tir-lower-gpu-join-blocks"
"""After this one of them, threads are loops that a CPU can run: barriers are proved and stand between them."""


def kernel_passes(
    conversion: str, *, approximations: tuple[str, ...] = (), own_math: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The passes from kernels to the llvm dialect. conversion: the upstream pass of the functions of a GPU.
    approximations: ours, for functions that may be approximate; own_math: for functions without a polynomial."""
    return (
        "gpu.module(lower-affine,canonicalize,cse)",
        "tir-lower-isinf",  # before narrow floats are widened: its comparisons are, too
        "tir-lower-bf16-once",
        "math-extend-to-supported-types{target-type=f32}",
        "tir-lower-cast-rounding",
        *approximations,
        "tir-lower-math-polynomials",
        *own_math,
        "tir-lower-gpu-unroll-locals",  # while loops are loops, and buffers have names
        "tir-lower-extrema",  # before arith-expand turns them into selects
        "gpu.module(arith-expand,convert-math-to-llvm,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
        f"{conversion},canonicalize,cse,reconcile-unrealized-casts)",
        "tir-lower-gpu-shared-names",
        "tir-lower-keep-rolled-marks",
        "tir-lower-signed-zeros",
    )


CLEANUP = ("canonicalize", "cse")

LOOP_PASSES = (
    "tir-lower-masked-buffers",  # equal masks are one value now; before accesses become addresses
    "tir-lower-addresses",  # of affine accesses: what is known of loops says what is never negative
    "lower-affine",
    "tir-lower-bindings",
    "tir-lower-keep-rolled",
)

THREAD_PASSES = (
    "convert-scf-to-openmp",
    "tir-lower-thread-conditions",  # where bounds of loops are values still
    "tir-lower-allocs-thread-stack",  # allocas to the start of the thread, so that alloca_scope is free of them
    "canonicalize",  # inlines the alloca_scope, which convert-scf-to-cf does not support
)

ARITH_PASSES = (
    "tir-lower-isinf",  # before narrow floats are widened: its comparisons are, too
    "math-extend-to-supported-types{target-type=f32}",  # exp of f16 has no function: through f32
    "tir-lower-cast-rounding",  # before a fold takes the rounding between two functions away
    "tir-lower-math-polynomials",  # vectors exist, f16 is gone
    "tir-lower-bf16-once",
    "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}",
    "tir-lower-bf16",
    "tir-lower-rounded-casts",  # after f16 and bf16 are widened, and while maxima are ops of arith
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
    "tir-lower-abi-c-interfaces",
    "tir-lower-pointer-arithmetic",  # views are sums now
    "tir-lower-keep-rolled-marks",
    "tir-lower-bf16-moves",
    "tir-lower-signed-zeros",
)


OF_MATH = (
    "tir-lower-isinf",
    "math-extend-to-supported-types{target-type=f32}",
    "tir-lower-cast-rounding",
    "tir-lower-math-polynomials",
    "tir-lower-rounded-casts",
)
OF_BF16 = (
    "tir-lower-bf16-once",
    "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}",
    "tir-lower-bf16",
    "tir-lower-bf16-moves",
)


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
