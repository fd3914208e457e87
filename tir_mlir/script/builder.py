"""Making a function by hand, from Python: the same module that the script gives.

with FuncBuilder("main") as f:
    A, B, C = (f.buffer(n, (128, 128), "float32") for n in "ABC")
    with f.grid(128, 128, 128, names="ijk") as (i, j, k):
        axes = [f.spatial("vi", 128, i), f.spatial("vj", 128, j), f.reduce("vk", 128, k)]
        with f.block("C", axes) as (vi, vj, vk):
            with f.init():
                C[vi, vj] = 0.0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
f.module.show()
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from mlir import ir
from mlir.dialects import memref

from tir_mlir.dialect import attrs, create
from tir_mlir.dialect.context import context, entered
from tir_mlir.dialect.create import IterSpec
from tir_mlir.dialect.errors import ScriptError
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.views import Block
from tir_mlir.script import arithmetic, branches, calls, params, pointers
from tir_mlir.script.expr import as_ssa, checked_indices
from tir_mlir.script.module import IRModule
from tir_mlir.script.params import BufferSpec, ScalarSpec, Spec
from tir_mlir.script.scope import Scope, State
from tir_mlir.script.source import Refused, Source
from tir_mlir.script.values import BufferRef, Test, Value, as_index, describe
from tir_mlir.script.verified import verify_source


@contextmanager
def _refusing() -> Iterator[None]:
    """A refusal is an error at the caller's line; ops made inside carry that line."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename in (__file__, _CONTEXTLIB):
        frame = frame.f_back
    name, line = frame.f_code.co_filename, frame.f_lineno
    try:
        with entered(ir.Location.file(name, line, 1, context=context())):
            yield
    except Refused as refused:
        raise ScriptError(str(refused), name, line, f"{refused}\n  {name}:{line}") from None


_CONTEXTLIB = sys.modules["contextlib"].__file__


class Term:
    """An expression: supports + - * / // % and comparisons with other terms and with numbers."""

    __hash__ = None  # type: ignore[assignment]  # == builds a comparison

    def __init__(self, item: Any):
        self.item = item

    def _binary(self, op: str, other: Any, swapped: bool = False) -> Term:
        left, right = _item(self), _item(other)
        with _refusing():
            return Term(arithmetic.binary(op, *((right, left) if swapped else (left, right))))

    def __add__(self, other: Any) -> Term:
        return self._binary("+", other)

    def __radd__(self, other: Any) -> Term:
        return self._binary("+", other, True)

    def __sub__(self, other: Any) -> Term:
        return self._binary("-", other)

    def __rsub__(self, other: Any) -> Term:
        return self._binary("-", other, True)

    def __mul__(self, other: Any) -> Term:
        return self._binary("*", other)

    def __rmul__(self, other: Any) -> Term:
        return self._binary("*", other, True)

    def __truediv__(self, other: Any) -> Term:
        return self._binary("/", other)

    def __rtruediv__(self, other: Any) -> Term:
        return self._binary("/", other, True)

    def __floordiv__(self, other: Any) -> Term:
        return self._binary("//", other)

    def __mod__(self, other: Any) -> Term:
        return self._binary("%", other)

    def __neg__(self) -> Term:
        with _refusing():
            return Term(arithmetic.negative(self.item))

    def _compare(self, op: str, other: Any) -> Term:
        with _refusing():
            return Term(arithmetic.compare(op, self.item, _item(other)))

    def __lt__(self, other: Any) -> Term:
        return self._compare("<", other)

    def __le__(self, other: Any) -> Term:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> Term:
        return self._compare(">", other)

    def __ge__(self, other: Any) -> Term:
        return self._compare(">=", other)

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return self._compare("==", other)

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return self._compare("!=", other)

    def __and__(self, other: Any) -> Term:
        with _refusing():
            return Term(arithmetic.logical("and", self.item, _item(other)))

    def __bool__(self) -> bool:
        raise ScriptError("a term has no truth value while a program is built: use f.if_ or f.math('Select', ...)")


def _item(value: Any) -> Any:
    return value.item if isinstance(value, Term) else value


class BufferTerm:
    """A buffer: `A[i, j]` loads, `A[i, j] = x` stores, `A.access_ptr("r")` points."""

    def __init__(self, builder: FuncBuilder, name: str):
        self._builder = builder
        self.name = name
        self._ref: BufferRef | None = None

    @property
    def ref(self) -> BufferRef:
        return self._ref or self._builder.names[self.name]

    def _indices(self, key: Any) -> list[Index | ir.Value]:
        return checked_indices(self.ref, [_item(k) for k in (key if isinstance(key, tuple) else (key,))])

    def __getitem__(self, key: Any) -> Term:
        self._builder.start()  # before a location is entered: what it enters stays until the end
        with _refusing():
            indices, ref = self._indices(key), self.ref
            if all(isinstance(i, Index) for i in indices):
                return Term(Value(create.load(ref.ssa, indices), ref.dtype))  # type: ignore[arg-type]
            return Term(Value(memref.load(ref.ssa, [as_ssa(i) for i in indices]), ref.dtype))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._builder.start()
        with _refusing():
            indices, ref = self._indices(key), self.ref
            fitted = arithmetic.fit(_item(value), ref.dtype, f"buffer {ref.name}")
            if all(isinstance(i, Index) for i in indices):
                create.store(fitted, ref.ssa, indices)  # type: ignore[arg-type]
            else:
                memref.store(fitted, ref.ssa, [as_ssa(i) for i in indices])

    def access_ptr(self, mask: str) -> Term:
        self._builder.start()
        with _refusing():
            return Term(pointers.access_ptr(self.ref, mask))


class FuncBuilder:
    """Builds one function; parameters first, then statements. `module` is the verified result after the `with`."""

    def __init__(self, name: str, module: IRModule | None = None, attributes: dict[str, Any] | None = None):
        self.name = name
        self.module = module or IRModule()
        self.attributes = {"global_symbol": name, **(attributes or {})}
        self.names: dict[str, Any] = {}
        self._specs: list[Spec] = []
        self._state = State(Source.of_text(""), Scope({}, {}), self.module.mlir)
        self._stack = ExitStack()
        self._blocks: list[Block] = []

    def __enter__(self) -> FuncBuilder:
        self._stack.enter_context(entered())
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.start()
        self._stack.close()
        if kind is None:
            with entered():
                verify_source(self.module.mlir, [])

    # ---- parameters

    def buffer(self, name: str, shape: Sequence[int | str], dtype: str = "float32", **facts: Any) -> BufferTerm:
        """A buffer parameter; a string in the shape is a size variable. Facts: scope, strides, offset_factor, align."""
        self._specs.append(self._before(BufferSpec(name, list(shape), dtype, **facts)))
        return BufferTerm(self, name)

    def scalar(self, name: str, dtype: str = "int32") -> None:
        """A scalar parameter; `size(name)` is its value."""
        self._specs.append(self._before(ScalarSpec(name, dtype)))

    def _before(self, spec: Spec) -> Spec:
        if self._state.func is not None:
            raise ScriptError(f"parameter {spec.name} comes too late: parameters come before statements")
        return spec

    def start(self) -> None:
        """Make the function op; called by the first statement."""
        if self._state.func is not None:
            return
        with _refusing():
            self.names = params.make_func(self._state, self.name, self._specs, self.attributes, private=False)
            extents = {s.name: [self._extent(d) for d in s.dims] for s in self._specs if isinstance(s, BufferSpec)}
            params.finish_shapes(self._state, self._specs, self.names, extents)
        assert self._state.func is not None
        self._stack.enter_context(create.at_end(self._state.func.body))

    def _extent(self, dim: Any) -> Index:
        return Index.constant(dim) if isinstance(dim, int) else self.names[dim]

    def size(self, name: str) -> Term:
        """A size variable or scalar parameter."""
        self.start()
        if name not in self.names:
            raise ScriptError(f"there is no variable {name}; there are {', '.join(self.names) or 'none'}")
        return Term(self.names[name])

    # ---- statements

    def alloc(self, name: str, shape: Sequence[Any], dtype: str = "float32", scope: str = "global") -> BufferTerm:
        """A buffer owned by the function."""
        self.start()
        extents = [Index.wrap(_item(s)) for s in shape]
        sizes = [e if e.as_constant() is None else e.as_constant() for e in extents]
        with _refusing():
            value = self._state.owners[0].prologue(lambda: create.alloc(name, sizes, dtype, scope))  # type: ignore[arg-type]
        made = BufferTerm(self, name)
        made._ref = BufferRef(name, value, dtype, extents, scope)
        return made

    @contextmanager
    def grid(self, *extents: Any, names: Sequence[str] = (), kind: str = "serial") -> Iterator[tuple[Term, ...]]:
        """Nested loops `for i in [0, extent)`; kind is serial, parallel, vectorized, unrolled or a thread tag."""
        self.start()
        made: list[Term] = []
        with ExitStack() as stack:
            for number, extent in enumerate(extents):
                with _refusing():
                    bound = _affine(extent, "the extent of a loop")
                    name = names[number] if number < len(names) else f"i{number}"
                    loop = create.loop(name, 0, bound, kind)
                stack.enter_context(create.at_end(loop.body))
                made.append(Term(Index.of(loop.var)))
            yield tuple(made)

    def spatial(self, name: str, extent: Any, value: Any) -> IterSpec:
        """A data-parallel iter for `block`."""
        return self._iter(name, "S", extent, value)

    def reduce(self, name: str, extent: Any, value: Any) -> IterSpec:
        """A reduction iter for `block`."""
        return self._iter(name, "R", extent, value)

    def _iter(self, name: str, kind: str, extent: Any, value: Any) -> IterSpec:
        self.start()
        with _refusing():
            return IterSpec(name, kind, 0, _affine(extent, "an extent"), _affine(value, f"the value bound to {name}"))

    @contextmanager
    def block(self, name: str, axes: Sequence[IterSpec] = (), where: Term | None = None) -> Iterator[tuple[Term, ...]]:
        """A block; gives its iters. `where`: an affine condition on the loops around."""
        self.start()
        with _refusing(), ExitStack() as stack:
            if where is not None:
                found = where.item.constraints() if isinstance(where.item, Test) else None
                if found is None:
                    raise Refused(f"where takes a conjunction of affine comparisons, not {describe(where.item)}")
                stack.enter_context(create.at_end(create.where(found).regions[0].blocks[0]))
            made = create.block(name, axes)
        self._blocks.append(made)
        with create.at_end(made.body):
            yield tuple(Term(Index.of(i.var)) for i in made.iters)
        self._blocks.pop()

    @contextmanager
    def init(self) -> Iterator[None]:
        """The init region of the current block: first in its body."""
        if not self._blocks:
            raise ScriptError("init belongs into a block")
        with _refusing():
            op = create.init(self._blocks[-1])
        with create.at_end(op.regions[0].blocks[0]):
            yield

    @contextmanager
    def if_(self, condition: Term) -> Iterator[None]:
        """Statements that run only where the condition holds."""
        with _refusing():
            op = branches.make_if(arithmetic.condition(condition.item), [], has_else=False)
        with create.at_end(op.regions[0].blocks[0]):
            yield

    def math(self, word: str, *args: Any) -> Term:
        """A word of `T` on terms: `f.math("exp", x)`, `f.math("max", x, 0.0)`, `f.math("Cast", "float16", x)`."""
        with _refusing():
            return Term(calls.apply(word, *[_item(a) for a in args]))

    def call_extern(self, name: str, *args: Any, dtype: str = "int32") -> Term | None:
        """Call a C function with pointers, integers and floats."""
        self.start()
        with _refusing():
            result = pointers.call_extern(self.module.mlir, name, [_item(a) for a in args], dtype)
        return None if result is None else Term(result)

    def annotate(self, values: dict[str, Any]) -> None:
        """Annotations of the current block."""
        if not self._blocks:
            raise ScriptError("annotate belongs into a block")
        attrs.put(self._blocks[-1].op, attrs.ANNOTATIONS, {**self._blocks[-1].annotations, **values})


def _affine(value: Any, what: str) -> Index:
    index = as_index(_item(value))
    if index is None:
        raise Refused(f"{what} must be an affine expression of loops, iters and sizes, not {describe(_item(value))}")
    return index
