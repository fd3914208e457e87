"""The `T` namespace: every word of TVMScript, documented. Inside `@T.prim_func` these are parsed, never called."""

from __future__ import annotations

import sys
from builtins import bool as _bool
from typing import TYPE_CHECKING, Any

from tir_mlir.script.language.call_words import *  # noqa: F403
from tir_mlir.script.language.markers import BufferWord, DType, HandleWord, LetWord, construct
from tir_mlir.script.language.math_words import *  # noqa: F403  the expression words: T.exp, T.max, T.Cast, ...

if TYPE_CHECKING:
    from tir_mlir.script.checkers import prim_func as prim_func
else:

    def prim_func(
        func: Any = None, private: _bool = False, check_well_formed: _bool = True, s_tir: _bool = True, **_: Any
    ) -> Any:
        """Parse a function as a tensor program.

            @T.prim_func
            def main(A: T.Buffer((16,), "float32")): ...

        private: the function gets no `global_symbol`: it is not meant to be called from outside.
        check_well_formed: verify the rules of the program (bounds, domains, iter types); errors at their line.
        s_tir: accepted for programs that say it.
        Inside a class decorated with `@I.ir_module` the function becomes a member of that module.
        """
        from tir_mlir.script.parser import decorate

        frame = sys._getframe(1)
        if func is None:
            return lambda f: decorate(f, private, check_well_formed, frame)
        return decorate(func, private, check_well_formed, frame)


Buffer = BufferWord()
handle = HandleWord()
let = LetWord()
float16, bfloat16, float32, float64 = DType("float16"), DType("bfloat16"), DType("float32"), DType("float64")
int8, int16, int32, int64 = DType("int8"), DType("int16"), DType("int32"), DType("int64")
uint8, uint16, uint32, uint64 = DType("uint8"), DType("uint16"), DType("uint32"), DType("uint64")
bool = boolean = DType("bool")  # noqa: A001


@construct
def grid(*extents: Any) -> Any:
    """Nested serial loops: `for i, j in T.grid(128, 64)` is `for i in range(128): for j in range(64)`."""


@construct
def serial(start: Any, stop: Any = None, *, annotations: dict[str, Any] | None = None) -> Any:
    """A serial loop: `T.serial(n)` or `T.serial(start, stop)`; `annotations` are kept on the loop."""


range = serial  # noqa: A001


@construct
def parallel(start: Any, stop: Any = None, *, annotations: dict[str, Any] | None = None) -> Any:
    """A loop whose iterations run on several threads."""


@construct
def vectorized(start: Any, stop: Any = None, *, annotations: dict[str, Any] | None = None) -> Any:
    """A loop that becomes vector instructions."""


@construct
def unroll(start: Any, stop: Any = None, *, annotations: dict[str, Any] | None = None) -> Any:
    """A loop that is unrolled."""


@construct
def thread_binding(start: Any, stop: Any = None, thread: str = "", *, annotations: dict[str, Any] | None = None) -> Any:
    """A loop bound to a hardware thread axis: `T.thread_binding(32, thread="threadIdx.x")`."""


@construct
def block(name: str = "") -> Any:
    """The unit of computation and of scheduling: `with T.block("C"):` with its axes first, then its body."""


@construct
def init() -> Any:
    """`with T.init():` inside a reduction block: runs where all reduce iters are at their start."""


@construct
def where(condition: Any) -> Any:
    """The block runs only where the (affine) condition on the loops around it holds."""


@construct
def reads(*regions: Any) -> Any:
    """Declare what the block reads: `T.reads(A[0:16, vi])`. Normally computed; a declared region may not be smaller."""


@construct
def writes(*regions: Any) -> Any:
    """Declare what the block writes: `T.writes(C[vi, vj])`. Normally computed; a declared region may not be smaller."""


@construct
def block_attr(attributes: dict[str, Any]) -> None:
    """Annotations of the block: `T.block_attr({"pragma": 1})`."""


@construct
def func_attr(attributes: dict[str, Any]) -> None:
    """Attributes of the function: `T.func_attr({"global_symbol": "main", "tir.noalias": True})`."""


@construct
def assume(condition: Any) -> None:
    """What callers promise about sizes: `T.assume(n % 16 == 0)` at the top of the function. Proofs use it, calls check
    it.

    In a block it speaks of data, `T.assume(vi < 14 or A[vi] == 0.0)`: for readers of the program, a run ignores it."""


@construct
def alloc_buffer(shape: Any, dtype: str = "float32", *, scope: str = "global", **facts: Any) -> Any:
    """A buffer owned by the enclosing block or function: `Y = T.alloc_buffer((128, 128), "float32")`."""


@construct
def match_buffer(
    param: Any,
    shape: Any = None,
    dtype: str = "float32",
    *,
    strides: Any = None,
    scope: str = "global",
    offset_factor: int = 0,
    align: int = 0,
    **facts: Any,
) -> Any:
    """Give a handle parameter, or a region of a buffer, a shape and a name.

    `A = T.match_buffer(a, (16, 16), "float32", strides=[sa, 1], offset_factor=16, scope="global.A_reg")`; a stride or
    size that is a variable is bound by the match.
    """


@construct
def var(dtype: str = "int32", name: str = "") -> Any:
    """A size or stride variable that a buffer's shape or strides bind: `n = T.var("int32")`. Same as `T.int32()`."""


@construct
def evaluate(value: Any) -> None:
    """Run an expression for its effect: `T.evaluate(T.call_extern(...))`. `T.evaluate(0)` does nothing."""


@construct
def LetStmt(value: Any) -> Any:
    """`with T.LetStmt(value) as x:` binds a name to a value; `x: T.let[T.int32] = value` is shorter."""


sblock, sblock_alloc_buffer, sblock_attr = block, alloc_buffer, block_attr


class axis:  # noqa: N801
    """The axes of a block: `spatial` (`S`), `reduce` (`R`), `opaque`, and `remap` for several at once."""

    @staticmethod
    @construct
    def spatial(domain: Any, value: Any) -> Any:
        """A data-parallel iter: `vi = T.axis.spatial(128, i)`; the domain is an extent, or `(begin, end)`."""

    @staticmethod
    @construct
    def reduce(domain: Any, value: Any) -> Any:
        """A reduction iter: `vk = T.axis.reduce(128, k)`; it may not index what the block writes."""

    @staticmethod
    @construct
    def opaque(domain: Any, value: Any) -> Any:
        """An iter about which nothing is promised."""

    @staticmethod
    @construct
    def scan(domain: Any, value: Any) -> Any:
        """An ordered iter. Not supported: use `reduce`, or a loop inside the block."""

    @staticmethod
    @construct
    def remap(kinds: str, loops: Any) -> Any:
        """Iters bound to loop variables, one letter each: `vi, vj, vk = T.axis.remap("SSR", [i, j, k])`."""

    S, R = spatial, reduce
