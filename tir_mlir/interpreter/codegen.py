"""Code generation: translate a function to Python text, by the op handlers registered in `ops/`."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mlir import ir

from tir_mlir.dialect.diagnostics import NotInterpreted
from tir_mlir.dialect.ir import Func, Index, is_apply, is_block, read_apply, walk
from tir_mlir.dialect.symbolic import IntExpr, Symbol, from_affine, text
from tir_mlir.interpreter import buffer_names
from tir_mlir.interpreter.counters import Tally
from tir_mlir.interpreter.kinds import kind_of

_RESERVED_NAMES = set(keyword.kwlist) | set(dir(builtins))


class Nesting:
    """A reentrant context manager for indentation (faster than contextlib's)."""

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]):
        self._enter, self._leave = enter, leave

    def __enter__(self) -> None:
        self._enter()

    def __exit__(self, *_: object) -> None:
        self._leave()


class PythonText:
    """Lines of Python; `owners[n]` is the op that line n was generated from."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.owners: list[ir.Operation | None] = []
        self.depth = 0
        self.op: ir.Operation | None = None
        self._deeper = Nesting(self._enter, self._leave)
        self._starts: list[int] = []

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)
        self.owners.append(self.op)

    def insert(self, position: int, line: str) -> None:
        """Insert a line before an existing one, with the same indentation."""
        indent = self.lines[position][: len(self.lines[position]) - len(self.lines[position].lstrip())]
        self.lines.insert(position, indent + line)
        self.owners.insert(position, self.owners[position])

    def deeper(self) -> Nesting:
        """An indented suite; `pass` if it remains empty."""
        return self._deeper

    def _enter(self) -> None:
        self._starts.append(len(self.lines))
        self.depth += 1

    def _leave(self) -> None:
        if len(self.lines) == self._starts.pop():
            self.put("pass")
        self.depth -= 1


class VariableNames:
    """Python variable names, derived from names of the program; released at the end of a scope."""

    def __init__(self) -> None:
        self._alive: set[str] = set()
        self._scopes: list[list[str]] = [[]]
        self._count = 0
        self._nesting = Nesting(lambda: self._scopes.append([]), self._leave)

    def new(self, hint: str) -> str:
        """A name that is unused in scope."""
        base = hint
        if not hint.isidentifier() or hint[0] == "_":
            base = re.sub(r"\W", "_", hint).lstrip("_") or "v"
            base = "v" + base if base[0].isdigit() else base
        name, number = base, 0
        while name in _RESERVED_NAMES or name in self._alive:
            number += 1
            name = f"{base}_{number}"
        self._scopes[-1].append(name)
        self._alive.add(name)
        return name

    def temporary(self) -> str:
        self._count += 1
        return f"_{self._count}"

    def scope(self) -> Nesting:
        return self._nesting

    def _leave(self) -> None:
        self._alive.difference_update(self._scopes.pop())


_UNCOUNTED = nullcontext()
DYNAMIC = ir.ShapedType.get_dynamic_stride_or_offset()
Handler = Callable[["FunctionWriter", ir.Operation], None]
HANDLERS: dict[str, Handler] = {}
"""Op name -> handler; `arith` and `math` have one handler per dialect."""


def writes(*names: str) -> Callable[[Handler], Handler]:
    """Register a handler for ops."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


Breakpoint: TypeAlias = "str | bool | Callable[..., bool]"
"""When to stop before a block: a condition over its iters, or always."""


@dataclass
class Options:
    """Options of a run.

    origins: record where an uninitialized element was first read.
    aliased: one array is passed for several parameters.
    """

    exact: bool = False
    strict: bool = False
    counts: bool = True
    origins: bool = True
    aliased: bool = False
    breakpoints: dict[str, Breakpoint] = field(default_factory=dict)


@dataclass
class Shared:
    """State shared by the functions of a program."""

    module: ir.Module
    options: Options
    scope: dict[str, Any]
    text: PythonText = field(default_factory=PythonText)
    tally: Tally = field(default_factory=Tally)
    variables: dict[ir.Value, str] = field(default_factory=dict)
    made: dict[Hashable, str] = field(default_factory=dict)
    kernels: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    alive: list[object] = field(default_factory=list)
    watched: bool = False
    names: VariableNames = field(default_factory=VariableNames)
    pending: list[tuple[str, Func, Sequence[str | None], bool]] = field(default_factory=list)

    def function(self, func: Func, passed: Sequence[str | None] = (), anywhere: bool = False) -> str:
        """The Python name of a function, generated after the current one. `passed`: the buffers passed to it;
        `anywhere`: their layouts may differ from the parameter types."""
        key = (func.op, tuple(passed))
        if key not in self.made:
            self.made[key] = self.names.new(func.name)
            self.pending.append((self.made[key], func, passed, anywhere))
        return self.made[key]

    def write(self) -> None:
        """Generate all requested functions."""
        while self.pending:
            name, func, passed, anywhere = self.pending.pop(0)
            FunctionWriter(self, func, passed, anywhere).function(name)

    def keep(self, thing: object, hint: str) -> str:
        """Bind a Python object to a name in the generated text. Equal hints must mean equal objects."""
        name = f"_{hint}"
        self.scope.setdefault(name, thing)
        return name


@dataclass(frozen=True)
class Ref:
    """A memref in the text: its view, its data list, and its layout, with constants as numbers."""

    view: str
    data: str
    offset: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]


class FunctionWriter:
    """Generates one function. `given`: names of the root buffers of its parameters, for the counters."""

    def __init__(self, shared: Shared, func: Func, passed: Sequence[str | None] = (), anywhere: bool = False):
        self.shared = shared
        self.func = func
        self.text = shared.text
        self.anywhere = anywhere
        self.names = VariableNames()
        self.variables = shared.variables
        self.refs: dict[ir.Value, Ref] = {}
        self.pointers: set[ir.Value] = set()
        everything = walk.ops(func.op)
        self.roots = buffer_names.Roots(func, everything, passed)
        self.has_blocks = any(is_block(o) for o in everything)
        concurrent = [o for o in everything if buffer_names.is_concurrent(o, self.has_blocks)]
        self.watched = shared.watched = bool(concurrent) or shared.watched  # callees may run in concurrent loops
        is_first = len(shared.made) < 2
        self.safe = (
            buffer_names.read_only_buffers(func, concurrent) if is_first and not shared.options.aliased else set()
        )
        self.region = 0
        self.nested = 0  # depth of loops in the current Python function
        self.level = 0  # depth of nested Python functions
        self.outer: set[str] = set()  # assigned variables of an enclosing Python function

    # -- the function ----------------------------------------------------------------------------------------------

    def function(self, name: str) -> None:
        """The complete text of the function `name`."""
        self.text.op = self.func.op
        args = [self.define(a, self.hint(a, n)) for n, a in enumerate(self.func.args)]
        self.put(f"def {name}({', '.join(args)}):")
        with self.text.deeper(), self.count_region():
            for value in self.func.args:
                self.unpack(value)
            self.checks()
            results = self.body(self.func.body)
            if results:
                self.text.op = self.func.op
                self.put(f"return {', '.join(results)}")

    def checks(self) -> None:
        """The checks at the start of the function; see `ops/block_ops`."""
        HANDLERS["func.func"](self, self.func.op)

    def hint(self, value: ir.Value, number: int) -> str:
        if isinstance(value.type, ir.MemRefType):
            return self.roots.name(value)
        return self.func.arg_name(number)

    # -- text ------------------------------------------------------------------------------------------------------

    def put(self, line: str) -> None:
        self.text.put(line)

    def keep(self, thing: object, hint: str) -> str:
        return self.shared.keep(thing, hint)

    @property
    def options(self) -> Options:
        return self.shared.options

    def count_region(self, runs: str = "1") -> AbstractContextManager[None]:
        """Count a region that runs `runs` times. The counter update is emitted before its contents."""
        return self._open_region(runs) if self.options.counts else _UNCOUNTED

    @contextmanager
    def _open_region(self, runs: str) -> Iterator[None]:
        enclosing, self.region = self.region, self.shared.tally.region()
        start = len(self.text.lines)
        yield
        if self.shared.tally.once[self.region] and start < len(self.text.lines):
            self.text.insert(start, f"_runs[{self.region}] += {runs}")
        self.region = enclosing

    def count(self, what: str, name: str, number: int = 1) -> None:
        """Count an operation in the current region."""
        if number and self.options.counts:
            self.shared.tally.once[self.region][what, name] += number

    def count_accesses(self, what: str, memref: ir.Value, number: int = 1) -> None:
        """Count loads or stores of a buffer in the current region."""
        if self.options.counts:
            self.count(what, self.roots.name(memref), number)

    # -- values ----------------------------------------------------------------------------------------------------

    def define(self, value: ir.Value, hint: str = "") -> str:
        """Assign a variable to a value."""
        name = self.names.new(hint) if hint else self.names.temporary()
        self.variables[value] = name
        return name

    def value(self, value: ir.Value) -> str:
        """The text of a value: its variable, or a constant."""
        if value not in self.variables and is_apply(value):
            return f"({self.index(read_apply(value))})"
        return self.variables[value]

    def values(self, values: Sequence[ir.Value]) -> list[str]:
        return [self.value(v) for v in values]

    def set(self, value: ir.Value, text: str, hint: str = "") -> None:
        """`name = text`; a memref is unpacked."""
        self.put(f"{self.define(value, hint)} = {text}")
        self.unpack(value)

    def index(self, index: Index) -> str:
        return affine(index.expr, [self.value(v) for v in index.values])

    def atom(self, text: str, name: str) -> str:
        """The text itself if it is a name or a number, else a variable with its value."""
        if text.isidentifier() or text.lstrip("-").isdigit():
            return text
        self.put(f"{name} = {text}")
        return name

    def watches(self, memref: ir.Value) -> bool:
        """Whether accesses to a buffer need race detection."""
        return self.watched and buffer_names.root(memref) not in self.safe

    # -- buffers ---------------------------------------------------------------------------------------------------

    def unpack(self, value: ir.Value) -> None:
        """Define variables for the dynamic parts of a memref."""
        if not isinstance(value.type, ir.MemRefType):
            return
        view = self.variables[value]
        type_ = value.type
        kind_of(type_)
        strides, offset = type_.get_strides_and_offset()
        if self.anywhere and value in self.func.args:
            strides, offset = [DYNAMIC] * type_.rank, DYNAMIC
        shape = [DYNAMIC if type_.is_dynamic_dim(n) else type_.get_dim_size(n) for n in range(type_.rank)]
        parts = {"n": (shape, "shape"), "s": (strides, "strides")}
        texts: dict[str, tuple[str, ...]] = {}
        self.put(f"_{view} = {view}.data")
        for letter, (fixed, word) in parts.items():
            texts[letter] = tuple([f"_{view}_{letter}{d}" if n == DYNAMIC else str(n) for d, n in enumerate(fixed)])
            if any(n == DYNAMIC for n in fixed):
                targets = [n if n.isidentifier() else "_" for n in texts[letter]]
                self.put(f"{', '.join(targets)}, = {view}.{word}")
        start = f"_{view}_o" if offset == DYNAMIC else str(offset)
        if offset == DYNAMIC:
            self.put(f"{start} = {view}.offset")
        self.refs[value] = Ref(view, f"_{view}", start, texts["n"], texts["s"])

    def ref(self, value: ir.Value) -> Ref:
        return self.refs[value]

    # -- ops -------------------------------------------------------------------------------------------------------

    def body(self, block: ir.Block) -> list[str]:
        """Generate the ops of a body. Returns the operands of its terminator."""
        *body_ops, end = [o.operation for o in block.operations]
        for op in body_ops:
            self.op(op)
        self.text.op = end
        return self.values(list(end.operands))

    def op(self, op: ir.Operation) -> None:
        name = op.name
        handler = HANDLERS.get(name) or HANDLERS.get(name.partition(".")[0])
        if handler is None:
            raise NotInterpreted(_unknown(op))
        self.text.op = op
        handler(self, op)


_LATE_STAGE_HINT = (
    "; during lowering, the last stage that can be interpreted is the one before tir-lower-addresses"
    " (the llvm dialect has no buffers to check)"
)


def _unknown(op: ir.Operation) -> str:
    from tir_mlir.passes.lower.registry import location_text

    if any(isinstance(v.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for v in (*op.operands, *op.results)):
        return f"{location_text(op)}: {op.name} works on tensors; convert it to memrefs first with tir_mlir.from_linalg"
    late = op.name.startswith(("llvm.", "cf.", "builtin.unrealized"))
    return f"{location_text(op)}: the interpreter does not support {op.name}{_LATE_STAGE_HINT if late else ''}"


def affine(expr: ir.AffineExpr, names: Sequence[str]) -> str:
    """An affine expression over the given names: variables, numbers or other Python source."""
    leaves = [Symbol(name) for name in names]
    form = from_affine(expr, leaves, leaves)
    return str(form) if form in leaves else text(form, _operand)


def _operand(part: IntExpr) -> str | None:
    """A leaf that is not a name or number in parentheses."""
    if not isinstance(part, Symbol) or part.name.isidentifier() or part.name.isdigit():
        return None
    return f"({part.name})"
