"""The `T` namespace: every TVMScript construct, documented. Inside `@T.prim_func` they are parsed, never called."""

from __future__ import annotations

import difflib as _difflib
import sys
from builtins import bool as _bool
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.ir import dtypes as _dtypes
from tir_mlir.script.language.markers import (
    BufferConstructor,
    DType,
    HandleConstructor,
    LetAnnotation,
    Macro,
    construct,
)
from tir_mlir.script.language.math_functions import *  # noqa: F403  T.exp, T.max, T.Cast, ...
from tir_mlir.script.language.words import REFUSED as _REFUSED
from tir_mlir.script.parser import decorate as _decorate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tir_mlir.script.checkers import macro as macro
    from tir_mlir.script.checkers import prim_func as prim_func
else:

    def prim_func(
        func: Any = None, private: _bool = False, check_well_formed: _bool = True, s_tir: _bool = True, **_: object
    ) -> Any:
        """Parse a function as a tensor program.

            @T.prim_func
            def main(A: T.Buffer((16,), "float32")): ...

        private: do not set `global_symbol`; the function is not an entry point of the module.
        check_well_formed: run the verifier (bounds, domains, iter types); errors carry the source line.
        s_tir: accepted for compatibility with TVM; ignored.
        Inside a class decorated with `@I.ir_module` the function becomes a member of that module.
        """
        frame = sys._getframe(1)
        if func is None:
            return lambda f: _decorate(f, private, check_well_formed, frame)
        return _decorate(func, private, check_well_formed, frame)

    def macro(func: Any = None, *, hygienic: _bool = True) -> Any:
        """A function of statements that a program calls; its body is inlined at the call.

            @T.macro
            def scale(A, B, i, j, factor):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * factor

        Arguments are values, buffers, loop variables or Python values. Names mean what they mean where the macro is
        defined; with `hygienic=False` names that it does not define are those of the caller. A plain Python function or
        lambda that returns a value is inlined without a decorator.
        """
        if func is None:
            return lambda f: Macro(f, hygienic)
        return Macro(func, hygienic)


Buffer = BufferConstructor()
handle = HandleConstructor()
let = LetAnnotation()
float16, bfloat16, float32, float64 = DType("float16"), DType("bfloat16"), DType("float32"), DType("float64")
int8, int16, int32, int64 = DType("int8"), DType("int16"), DType("int32"), DType("int64")
uint8, uint16, uint32, uint64 = DType("uint8"), DType("uint16"), DType("uint32"), DType("uint64")
bool = boolean = DType("bool")


@construct
def grid(*extents: object) -> None:
    """Nested serial loops: `for i, j in T.grid(128, 64)` means `for i in range(128): for j in range(64)`."""


@construct
def serial(start: object, stop: object = None, *, annotations: Mapping[str, object] | None = None) -> None:
    """A serial loop: `T.serial(n)` or `T.serial(start, stop)`; `annotations` are attached to the loop.

    Bounds are affine in loops, iters and sizes, with `T.max` as a start and `T.min` as a stop; or computed from data:
    `T.serial(P[vi], P[vi + 1])`.
    """


range = serial


@construct
def parallel(start: object, stop: object = None, *, annotations: Mapping[str, object] | None = None) -> None:
    """A loop whose iterations run in parallel on several threads."""


@construct
def vectorized(start: object, stop: object = None, *, annotations: Mapping[str, object] | None = None) -> None:
    """A loop that is lowered to vector instructions."""


@construct
def unroll(start: object, stop: object = None, *, annotations: Mapping[str, object] | None = None) -> None:
    """A loop that is unrolled."""


@construct
def static_range(start: int, stop: int | None = None, step: int = 1) -> None:
    """A loop over Python integers, unrolled when the program is parsed: `for s in T.static_range(4)`.

    A loop over a tuple, list, `enumerate`, `zip`, ... of Python values is unrolled as well: `for a, b in PAIRS`.
    """


@construct
def thread_binding(
    start: object, stop: object = None, thread: str = "", *, annotations: Mapping[str, object] | None = None
) -> None:
    """A loop bound to a hardware thread axis: `T.thread_binding(32, thread="threadIdx.x")`."""


@construct
def launch_thread(thread: str, extent: object) -> None:
    """A loop bound to a hardware thread axis around the rest of the body: `tx = T.launch_thread("threadIdx.x", 32)`.

    Or around the body of a `with`: `with T.launch_thread("threadIdx.x", 32) as tx:`. It prints as `T.thread_binding`.
    """


@construct
def block(name: str = "") -> None:
    """A block, the unit of computation and scheduling: `with T.block("C"):`, its axes first, then its body."""


@construct
def init() -> None:
    """`with T.init():` in a reduction block: runs at the first point of all reduce iters."""


@construct
def where(condition: object) -> None:
    """Predicate of the block: it runs only where this condition holds.

    It may use loops, iters, sizes and data (`T.where(A[i] > 0.0)`); affine comparisons joined by `and` are exact in
    proofs, anything else is opaque.
    """


@construct
def reads(*regions: object) -> None:
    """Declare the regions that a block reads: `T.reads(A[0:16, vi])`. They must contain the computed ones.

    An index that is not affine (`A[I[vi]]`) declares the whole axis.
    """


@construct
def writes(*regions: object) -> None:
    """Declare the regions that a block writes: `T.writes(C[vi, vj])`. They must contain the computed ones.

    An index that is not affine (`C[I[vi]]`) declares the whole axis.
    """


@construct
def block_attr(attributes: Mapping[str, object]) -> None:
    """Annotations of the block: `T.block_attr({"my_tool.note": 1})`."""


@construct
def func_attr(attributes: Mapping[str, object]) -> None:
    """Attributes of the function: `T.func_attr({"global_symbol": "main", "tir.noalias": True})`."""


@construct
def assume(condition: object) -> None:
    """Assume a condition on shape variables, at the top of the function: `T.assume(n % 16 == 0)`.

    Legality proofs rely on it, and `lib(...)` checks it at each call. In a block it is a condition on data,
    `T.assume(vi < 14 or A[vi] == 0.0)`, which is documentation only."""


@construct
def alloc_buffer(shape: object, dtype: str = "float32", *, scope: str = "global", **facts: object) -> None:
    """A buffer owned by the enclosing block or function: `Y = T.alloc_buffer((128, 128), "float32")`."""


@construct
def decl_buffer(
    shape: object,
    dtype: str = "float32",
    data: object = None,
    strides: object = None,
    elem_offset: object = None,
    scope: str = "global",
    align: int = 0,
    offset_factor: int = 0,
    *,
    byte_offset: object = None,
    **facts: object,
) -> None:
    """A typed view of a buffer of bytes: `V = T.decl_buffer((1, 128), "float32", data=arena.data, byte_offset=64)`.

    arena: a parameter or allocation of one axis of int8. The view starts at `byte_offset`, or at `elem_offset` elements
    of its own type, and is row-major; it takes no other facts. Views of one arena may overlap.
    """


@construct
def match_buffer(
    param: object,
    shape: object = None,
    dtype: str = "float32",
    *,
    strides: object = None,
    scope: str = "global",
    offset_factor: int = 0,
    align: int = 0,
    **facts: object,
) -> None:
    """Bind a handle parameter, or a region of a buffer, to a buffer with a shape.

    `A = T.match_buffer(a, (16, 16), "float32", strides=[sa, 1], offset_factor=16, scope="global.A_reg")`; variables in
    shape and strides are bound by the match.
    """


@construct
def var(dtype: str = "int32", name: str = "") -> None:
    """A shape or stride variable, bound by the buffers that use it: `n = T.var("int32")`. Same as `T.int32()`."""


@construct
def evaluate(value: object) -> None:
    """Evaluate an expression for its side effect: `T.evaluate(T.call_extern(...))`. `T.evaluate(0)` is a no-op."""


@construct
def LetStmt(value: object) -> None:
    """`with T.LetStmt(value) as x:` binds a name to a value; same as `x: T.let[T.int32] = value`."""


@construct
def Let(expr: object, where: object) -> None:
    """A let expression: `T.Let(x * x, where={x: A[vi]})` after `x = T.float32()`."""


@construct
def meta_var(value: object) -> None:
    """A value of the Python program, evaluated at parse time; the identity."""


@construct
def reinterpret(dtype: str, value: object) -> None:
    """Bitcast to another type of the same width: `T.reinterpret("int32", x)`, also of an `int8x4`.

    The older order `T.reinterpret(x, dtype="int32")` is accepted.
    """


@construct
def ramp(base: object, stride: int, lanes: int) -> None:
    """The index of several elements: `A[T.ramp(i * 4, 2, 4)]` is the vector of A[i * 4], A[i * 4 + 2], ...

    With a stride of 1 or more it prints as a slice, `A[i * 4:i * 4 + 8:2]`.
    """


@construct
def broadcast(value: object, lanes: int) -> None:
    """A vector with a scalar in every lane: `T.broadcast(x, 16)`. Arithmetic on a vector and a scalar does it, too."""


@construct
def vectorlow(dtype: object, vec: object) -> None:
    """The first half of the lanes of a vector: `T.vectorlow("float32x4", v)` of 8 lanes."""


@construct
def vectorhigh(dtype: object, vec: object) -> None:
    """The second half of the lanes of a vector."""


@construct
def vectorcombine(dtype: object, vec1: object, vec2: object) -> None:
    """The lanes of two vectors, one after another."""


@construct
def vscale(target: object = None) -> None:
    """A constant: the scalable vector registers of a target in granules of 128 bits (SVE) or 64 bits (RISC-V).

    target: a `Target` or its name; default: this machine. 1 where the registers have a fixed length.
    """


@construct
def Shuffle(vectors: object, indices: object) -> None:
    """The lanes of vectors, one after another, that the indices select: `T.Shuffle([a, b], [0, 2, 4, 6])`.

    One index gives a scalar: `T.Shuffle([v], [0])`.
    """


@construct
def llvm_lookup_intrinsic_id(name: str) -> None:
    """The name of an intrinsic, where TVM has a number: `T.llvm_lookup_intrinsic_id("llvm.fma")`."""


@construct
def call_llvm_pure_intrin(dtype: str, name: object, *args: object) -> None:
    """Call an intrinsic of LLVM on values: `T.call_llvm_pure_intrin("float32x4", "llvm.fma", a, b, c)`.

    The older order, with `T.uint32(3)` for the number of arguments after the name and `dtype=` at the end, is accepted.
    The types are those of LLVM's declaration; `build` checks them, and that the CPU has the instruction.
    """


@construct
def call(name: str, *args: object, **named: object) -> None:
    """Call another function of the module, which stores its results in buffers: `T.call("dense", A, W, C)`.

    Same as `Module.dense(A, W, C)` with the name of the class, or `cls`. Buffers are passed whole, or as regions
    (`A[0:4, :]`) to parameters with strides; numbers and sizes by value. The shapes bind the sizes of the function. A
    buffer that it writes shares no element with another that it takes, unless it has `tir.noalias = False`.
    """


@construct
def call_extern(dtype: str, name: str, *args: object) -> None:
    """Call a C function: `T.call_extern("int32", "tmm16", C.access_ptr("w"), ...)`.

    The older order `T.call_extern("tmm16", ..., dtype="int32")` is accepted. Arguments: pointers, integers, floats.
    """


@construct
def call_pure_extern(dtype: str, name: str, *args: object) -> None:
    """`T.call_extern` of a C function without side effects: `T.call_pure_extern("float32", "sinf", x)`."""


@construct
def tvm_access_ptr(
    kind: object, data: object, offset: object, extent: object, mask: int, dtype: str = "handle"
) -> None:
    """The printed form of `A.access_ptr(mode)`; `mask`: 1 reads, 2 writes, 3 both."""


@construct
def type_annotation(dtype: str = "float32") -> None:
    """The element type of an access pointer."""


@construct
def address_of(element: object) -> None:
    """A pointer to one element: `T.address_of(A[i, j])`."""


@construct
def tvm_load_matrix_sync(
    fragment: object, m: int, n: int, k: int, index: object, pointer: object, stride: object, layout: str
) -> None:
    """Load a matrix fragment: `T.tvm_load_matrix_sync(F.data, 16, 16, 16, 0, A.access_ptr("r"), 64, "row_major")`.

    An opaque call, as the other matrix functions: it is parsed, printed and scheduled by the regions of its block, and
    has no code for a CPU.
    """


@construct
def tvm_store_matrix_sync(
    fragment: object, m: int, n: int, k: int, index: object, pointer: object, stride: object, layout: str
) -> None:
    """Store a matrix fragment: `T.tvm_store_matrix_sync(F.data, 16, 16, 16, 0, C.access_ptr("w"), 64, "row_major")`."""


@construct
def tvm_fill_fragment(fragment: object, m: int, n: int, k: int, index: object, value: object) -> None:
    """Fill a matrix fragment with a value: `T.tvm_fill_fragment(F.data, 16, 16, 16, 0, T.float32(0))`."""


@construct
def tvm_mma_sync(
    d: object, d_index: object, a: object, a_index: object, b: object, b_index: object, c: object, c_index: object
) -> None:
    """d = a * b + c, of matrix fragments: `T.tvm_mma_sync(C.data, 0, A.data, 0, B.data, 0, C.data, 0)`."""


@construct
def ptx_ldmatrix(fragment: object, register: int, pointer: object, layout: str) -> None:
    """One `ldmatrix`: `T.ptx_ldmatrix(F.data, 0, A.access_ptr("r"), "x4.trans: lane % 16, lane // 16 * 8")`.

    F: a matrix in a scope `mma.*`; the registers of a lane from `register` (elements, tile by tile) on are filled.
    layout: x1, x2 or x4 matrices, `.trans` if they are exchanged; then the row and column of A from which the 16 bytes
    begin whose address each lane gives.
    """


@construct
def ptx_mma(
    d: object,
    d_register: int,
    a: object,
    a_register: int,
    b: object,
    b_register: int,
    c: object,
    c_register: int,
    layout: str,
) -> None:
    """One `mma.sync`: `T.ptx_mma(C.data, 0, A.data, 0, B.data, 0, C.data, 0, "m16n8k16")`.

    Matrices in scopes `mma.*`, each from a register of a lane on: d = a * b + c.
    """


@construct
def likely(condition: object) -> None:
    """A branch hint; parsed as the condition itself."""


def __getattr__(name: str) -> Any:
    """The types of vectors: `T.float32x4`. Errors: AttributeError with what to write instead of another name."""
    if _dtypes.is_vector(name):
        return DType(name)
    if name in _REFUSED:
        raise AttributeError(f"T.{name} is not supported: {_REFUSED[name]}")
    near = _difflib.get_close_matches(name, globals(), n=1)
    raise AttributeError(f"T has no {name}{f'; did you mean T.{near[0]}?' if near else ''}")


sblock, sblock_alloc_buffer, sblock_attr = block, alloc_buffer, block_attr
Ramp, Broadcast = ramp, broadcast


class axis:
    """The axes of a block: `spatial` (`S`), `reduce` (`R`), ordered (`opaque`, `scan`), and `remap` for several."""

    @staticmethod
    @construct
    def spatial(domain: object, value: object) -> None:
        """A data-parallel iter: `vi = T.axis.spatial(128, i)`; the domain is an extent, or `(begin, end)`."""

    @staticmethod
    @construct
    def reduce(domain: object, value: object) -> None:
        """A reduction iter: `vk = T.axis.reduce(128, k)`; it must not index a buffer that the block writes."""

    @staticmethod
    @construct
    def opaque(domain: object, value: object) -> None:
        """An ordered iter: what an iteration computes may depend on earlier ones. Steps are decided by dependences."""

    @staticmethod
    @construct
    def scan(domain: object, value: object) -> None:
        """An ordered iter, the same as `opaque`: `vt = T.axis.scan(64, t)`. It is printed as `T.axis.opaque`."""

    @staticmethod
    @construct
    def remap(kinds: str, loops: object) -> None:
        """Iters bound to loops, with a kind each (S, R, or O for ordered): `vi, vk = T.axis.remap("SR", [i, k])`."""

    S, R = spatial, reduce
