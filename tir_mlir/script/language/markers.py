"""What the names of the script language are in plain Python: documented markers that the parser recognises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tir_mlir.dialect.diagnostics import ScriptError

F = TypeVar("F", bound=Callable[..., Any])


def construct(func: F) -> F:
    """Make a documented signature a word of the language: the parser knows it. Called from Python it takes expressions
    that are being built there (te's, an index map's), which make the call themselves; anything else is an error."""

    def outside(*args: Any, **kwargs: Any) -> Any:
        for arg in (*args, *kwargs.values()):
            if (build := getattr(arg, "tir_call", None)) is not None:
                return build(func.__name__, args, kwargs)
        raise ScriptError(
            f"T.{func.__name__} is a word of TVMScript: it has a meaning only inside a function "
            "decorated with @T.prim_func, where it is parsed and not called"
        )

    outside.__name__ = func.__name__
    outside.__qualname__ = func.__qualname__
    outside.__doc__ = func.__doc__
    outside.__wrapped__ = func  # type: ignore[attr-defined]
    outside.tir_word = func.__name__  # type: ignore[attr-defined]
    return outside  # type: ignore[return-value]


class Var:
    """A size or stride variable made outside a function: `n = T.int32()`; used in the shape of a `T.Buffer`."""

    def __init__(self, name: str = "", dtype: str = "int32"):
        self.name = name
        self.dtype = dtype

    def __repr__(self) -> str:
        return f'T.var("{self.dtype}")'


class DType:
    """An element type. As an annotation (`x: T.float32`) a scalar parameter or value; inside a program
    `T.float32(x)` converts and `T.int32()` makes a size or stride variable."""

    def __init__(self, dtype: str):
        self.dtype = dtype
        self.tir_word = "dtype"
        self.__name__ = dtype
        self.__doc__ = (
            f"The type {dtype}.\n\n"
            f"`x: T.{dtype}` declares a scalar parameter; `T.{dtype}(x)` converts x;\n"
            f"`n = T.{dtype}()` makes a size or stride variable that a buffer's shape or strides bind."
        )

    def __call__(self, value: Any = None, **_: Any) -> Any:
        """In plain Python: a variable without an argument, else the Python constant."""
        return Var(dtype=self.dtype) if value is None else value

    def __repr__(self) -> str:
        return f"T.{self.dtype}"


class BufferType:
    """What `T.Buffer(...)` evaluates to in Python: a shape, an element type and the facts about the memory."""

    def __init__(self, shape: Any, dtype: str = "float32", **facts: Any):
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.dtype = dtype
        self.facts = facts

    def __repr__(self) -> str:
        extra = "".join(f", {k}={v!r}" for k, v in self.facts.items())
        return f'T.Buffer({self.shape!r}, "{self.dtype}"{extra})'


class BufferWord:
    """A buffer parameter: `A: T.Buffer((128, 128), "float32")`.

    shape: ints, names of size variables (`T.Buffer((n, 16))`), or a single extent.
    dtype: "float32" unless given. Keywords: scope, strides, offset_factor, align.
    The older spelling `T.Buffer[(128, 128), "float32"]` is the same.
    """

    tir_word = "Buffer"
    __name__ = "Buffer"

    def __call__(self, shape: Any = (), dtype: str = "float32", **facts: Any) -> BufferType:
        return BufferType(shape, dtype, **facts)

    def __repr__(self) -> str:
        return "T.Buffer"

    def __getitem__(self, item: Any) -> BufferType:
        if not isinstance(item, tuple) or not item:
            return BufferType(item)
        if isinstance(item[-1], str):
            shape = item[:-1] if len(item) != 2 else item[0]
            return BufferType(shape, item[-1])
        return BufferType(item)


class HandleWord:
    """A parameter that `T.match_buffer` gives a shape: `a: T.handle` and then `A = T.match_buffer(a, (16, 16))`."""

    tir_word = "handle"
    __name__ = "handle"

    def __call__(self, *args: Any, **kwargs: Any) -> HandleWord:
        return self

    def __repr__(self) -> str:
        return "T.handle"


class LetWord:
    """`x: T.let[T.int32] = value` binds a name to a value that is computed once."""

    tir_word = "let"
    __name__ = "let"

    def __getitem__(self, item: Any) -> LetWord:
        return self

    def __repr__(self) -> str:
        return "T.let"
