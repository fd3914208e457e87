"""The Python objects behind TVMScript constructs: documented markers that the parser recognizes."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, Protocol, TypeGuard

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.dialect.index_maps import SizeVariable

P = ParamSpec("P")


def construct(func: Callable[P, object]) -> Callable[P, Any]:
    """Mark a documented signature as a TVMScript construct. When called from Python, an argument that is an expression
    under construction (of te, of an index map) builds the call through `tir_call`; any other call is an error.

    What a construct gives is a value of a program, for which Python has no type.
    """

    def call_unparsed(*args: P.args, **kwargs: P.kwargs) -> object:
        for arg in (*args, *kwargs.values()):
            if (build := getattr(arg, "tir_call", None)) is not None:
                return build(func.__name__, args, kwargs)
        raise ScriptError(
            f"T.{func.__name__} is a TVMScript construct: it can only be used inside a function "
            "decorated with @T.prim_func, which is parsed, not run"
        )

    call_unparsed.__name__ = func.__name__
    call_unparsed.__qualname__ = func.__qualname__
    call_unparsed.__doc__ = func.__doc__
    vars(call_unparsed).update(__wrapped__=func, tir_construct=func.__name__)
    return call_unparsed


class Construct(Protocol):
    """A word of `T`, as the parser reads it: its name, and the function that documents its parameters."""

    tir_construct: str
    __wrapped__: Callable[..., object]


def is_construct(item: object) -> TypeGuard[Construct]:
    """Whether an item is a word of `T`."""
    return hasattr(item, "tir_construct")


class Var(SizeVariable):
    """A shape or stride variable declared outside a function: `n = T.int32()`; used in the shape of a `T.Buffer`, and
    in index maps."""

    def __init__(self, name: str = "", dtype: str = "int32"):
        self.name = name
        self.dtype = dtype

    def __repr__(self) -> str:
        return f'T.var("{self.dtype}")'


class DType:
    """An element type. `x: T.float32` annotates a scalar parameter or value; inside a program `T.float32(x)` casts
    and `T.int32()` declares a shape or stride variable."""

    def __init__(self, dtype: str):
        self.dtype = dtype
        self.tir_construct = "dtype"
        self.__name__ = dtype
        self.__doc__ = (
            f"The type {dtype}.\n\n"
            f"`x: T.{dtype}` declares a scalar parameter; `T.{dtype}(x)` casts x;\n"
            f"`n = T.{dtype}()` declares a shape or stride variable, bound by the buffers that use it."
        )

    def __call__(self, value: object = None, **_: object) -> Any:
        """Outside a program: a `Var` without an argument, else the argument."""
        return Var(dtype=self.dtype) if value is None else value

    def __repr__(self) -> str:
        return f"T.{self.dtype}"


class BufferType:
    """The value of `T.Buffer(...)` in Python: shape, element type, and layout attributes."""

    def __init__(self, shape: object, dtype: str = "float32", **facts: Any):
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.dtype = dtype
        self.facts = facts

    def __repr__(self) -> str:
        extra = "".join(f", {k}={v!r}" for k, v in self.facts.items())
        return f'T.Buffer({self.shape!r}, "{self.dtype}"{extra})'


class BufferConstructor:
    """A buffer parameter: `A: T.Buffer((128, 128), "float32")`.

    shape: ints and shape variables (`T.Buffer((n, 16))`), or a single extent.
    dtype: "float32" unless given. Keywords: scope, strides, offset_factor, align.
    The older spelling `T.Buffer[(128, 128), "float32"]` is accepted.
    """

    tir_construct = "Buffer"
    __name__ = "Buffer"

    def __call__(self, shape: object = (), dtype: str = "float32", **facts: object) -> BufferType:
        return BufferType(shape, dtype, **facts)

    def __repr__(self) -> str:
        return "T.Buffer"

    def __getitem__(self, item: object) -> BufferType:
        if not isinstance(item, tuple) or not item:
            return BufferType(item)
        if isinstance(item[-1], str):
            shape = item[:-1] if len(item) != 2 else item[0]
            return BufferType(shape, item[-1])
        return BufferType(item)


class HandleConstructor:
    """A pointer parameter, bound to a buffer by `T.match_buffer`: `a: T.handle`, `A = T.match_buffer(a, (16, 16))`."""

    tir_construct = "handle"
    __name__ = "handle"

    def __call__(self, *args: object, **kwargs: object) -> HandleConstructor:
        return self

    def __repr__(self) -> str:
        return "T.handle"


class Macro:
    """A function of statements that is inlined where a program calls it, see `T.macro`."""

    def __init__(self, func: FunctionType, hygienic: bool):
        self.func, self.hygienic = func, hygienic
        self.__name__, self.__doc__ = func.__name__, func.__doc__

    def __call__(self, *args: object, **keywords: object) -> Any:
        raise ScriptError(f"{self.__name__} is a T.macro: it is called in a function decorated with @T.prim_func")


class LetAnnotation:
    """`x: T.let[T.int32] = value` binds a name to a value, which is computed once."""

    tir_construct = "let"
    __name__ = "let"

    def __getitem__(self, item: object) -> LetAnnotation:
        return self

    def __repr__(self) -> str:
        return "T.let"
