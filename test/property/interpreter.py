"""A program of the encoding as plain Python, element by element: what it means, in milliseconds and without LLVM.

A buffer is a dict from index tuples to numbers, kept exact: floats are Python's. An access outside a buffer raises;
what nobody wrote is POISON, which spreads through arithmetic and may not decide a branch. Iterations of concurrent
loops run backwards, and raise `Race` when two of them touch one element, one writing, unless each fills the element
first and nothing outside the loop uses the buffer. Threads of one block, and lanes, may sum up together: they run in
order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.accesses import accesses
from tir_mlir.dialect.context import entered
from tir_mlir.dialect.index import Index, read_apply
from tir_mlir.dialect.memo import frozen
from tir_mlir.dialect.views import Block, Buffer, Func, Loop, funcs, is_block
from tir_mlir.dialect.walk import access_indices, accessed, constraints, enclosing_block, is_inside, ops

DYNAMIC = ir.ShapedType.get_dynamic_stride_or_offset()


class Trap(Exception):
    """The program does what no program may do."""


class Race(Trap):
    """Two iterations that run at the same time touch one element, one of them writing."""


class Poison:
    """The value of what nobody wrote."""

    def _spread(self, *_: Any) -> Poison:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _spread
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __floordiv__ = _spread  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise Trap("a value that nobody wrote decides a branch")

    def __repr__(self) -> str:
        return "POISON"


POISON = Poison()


class Watch:
    """What the iterations of the concurrent loops under way have touched: {(buffer, index): [iteration, written]}."""

    def __init__(self) -> None:
        self.frames: list[tuple[str, set[str], str, dict[Any, list[Any]]]] = []
        self.now: list[int] = []

    def enter(self, name: str, private: set[str], together: str) -> None:
        self.frames.append((name, private, together, {}))
        self.now.append(-1)

    def leave(self) -> None:
        self.frames.pop()
        self.now.pop()

    def touch(self, buffer: str, at: tuple[int, ...], write: bool, reduction: int) -> None:
        for (name, private, together, seen), now in zip(self.frames, self.now, strict=True):
            entry = seen.get((buffer, at))
            if entry is None:
                seen[buffer, at] = [now, write, reduction]
            elif entry[0] == now:
                entry[1] = entry[1] or write
                entry[2] = entry[2] if entry[2] == reduction else 0
            elif together and entry[2] == reduction and (reduction > 0 or reduction and together == "lanes"):
                entry[0], entry[1] = now, entry[1] or write
            elif not write and not entry[1]:
                entry[0] = None  # read in several iterations
            elif buffer in private and write:
                seen[buffer, at] = [now, True, reduction]
            else:
                kind = "written" if write else "read"
                raise Race(f"{buffer}{list(at)} is {kind} in iteration {now} of {name}, and touched in {entry[0]}")


def most(a: Any, b: Any) -> Any:
    return POISON if a is POISON or b is POISON else max(a, b)


def least(a: Any, b: Any) -> Any:
    return POISON if a is POISON or b is POISON else min(a, b)


def make(shape: tuple[int, ...]) -> dict[Any, Any]:
    """An allocation."""
    return dict.fromkeys(np.ndindex(*shape), POISON) | {"shape": shape}


BINARY = {
    "arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.addi": "+", "arith.subi": "-", "arith.muli": "*",
    "arith.floordivsi": "//", "arith.andi": "&", "arith.ori": "|", "arith.xori": "^",
}  # fmt: skip
CALLS = {
    "arith.maximumf": "most", "arith.maxnumf": "most", "arith.maxsi": "most",
    "arith.minimumf": "least", "arith.minnumf": "least", "arith.minsi": "least",
}  # fmt: skip
SAME = (
    "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp", "arith.index_cast", "arith.extf", "arith.truncf",
    "arith.trunci", "arith.fptosi",
)  # fmt: skip
COMPARE = {
    "arith.cmpi": ("==", "!=", "<", "<=", ">", ">="),
    "arith.cmpf": ("", "==", ">", ">=", "<", "<=", "!=", "", "==", ">", ">=", "<", "<=", "!="),
}


def interpret(module: ir.Module, arrays: Sequence[np.ndarray], name: str = "main") -> list[np.ndarray]:
    """What a function leaves in its buffers (object arrays of exact numbers). Errors: Trap."""
    with entered(), frozen():
        writer = _Writer(next(f for f in funcs(module) if f.name == name))
    scope: dict[str, Any] = {
        "most": most,
        "least": least,
        "Trap": Trap,
        "make": make,
        "W": Watch(),
        "POISON": POISON,
    } | writer.privates
    exec(compile("\n".join(writer.lines), "<program>", "exec"), scope)
    held = [{at: a[at].item() for at in np.ndindex(a.shape)} | {"shape": a.shape} for a in arrays]
    scope["main"](*held)
    found = []
    for buffer, array in zip(held, arrays, strict=True):
        result = np.empty(array.shape, object)
        for at in np.ndindex(array.shape):
            result[at] = buffer[at]
        found.append(result)
    return found


class _Writer:
    """The Python text of a function."""

    def __init__(self, func: Func):
        self.func = func
        self.lines: list[str] = []
        self.names: dict[ir.Value, str] = {}
        self.count = itertools.count()
        self.privates: dict[str, set[str]] = {}
        self.watched = any(Loop(o).kind not in ("serial", "unrolled") for o in _loops(func.op))
        self.put(0, f"def main({', '.join(self.name(a) for a in func.args)}):")
        self.body(func.body, 1)

    def put(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def name(self, value: ir.Value) -> str:
        if value not in self.names:
            hint = Buffer(value).name if isinstance(value.type, ir.MemRefType) else ""
            self.names[value] = "".join(c if c.isalnum() else "_" for c in hint) + f"_{next(self.count)}"
        return self.names[value]

    def index(self, index: Index) -> str:
        return _affine(index.expr, [self.name(v) for v in index.values])

    def body(self, block: ir.Block, depth: int, results: Sequence[str] = ()) -> None:
        start = len(self.lines)
        for op in (o.operation for o in block.operations):
            if op.name in ("affine.yield", "scf.yield"):
                for target, value in zip(results, op.operands, strict=True):
                    self.put(depth, f"{target} = {self.name(value)}")
            elif op.name == "llvm.intr.assume":
                self.put(depth, f"if not {self.name(op.operands[0])}: raise Trap('what the program assumes is wrong')")
            elif op.name not in ("func.return", "memref.subview"):
                self.op(op, depth)
        if len(self.lines) == start:
            self.put(depth, "pass")

    def op(self, op: ir.Operation, depth: int) -> None:
        name = op.name
        if name == "affine.for":
            self.loop(Loop(op), depth)
        elif is_block(op):
            self.block(Block(op), depth)
        elif name in ("affine.if", "scf.if"):
            self.branch(op, depth)
        elif name in ("affine.load", "affine.store", "memref.load", "memref.store"):
            self.access(op, depth)
        elif name == "memref.extract_strided_metadata":  # strides are for pointers, of which there are none here
            self.put(depth, f"{', '.join(self.name(r) for r in op.results)} = [POISON] * {len(op.results)}")
        else:
            self.put(depth, f"{self.name(op.results[0])} = {self.value(op)}")

    def loop(self, loop: Loop, depth: int) -> None:
        var = self.name(loop.var)
        low, high = (", ".join(self.index(i) for i in bounds) for bounds in (loop.lowers, loop.uppers))
        low, high = (f"max(({low},))", f"min(({high},))")
        if loop.kind in ("serial", "unrolled"):
            self.put(depth, f"for {var} in range({low}, {high}):")
            self.body(loop.body, depth + 1)
            return
        self.privates[f"P{var}"] = self.private(loop)
        together = {"vectorized": "lanes"}.get(loop.kind, "threads" if loop.kind.startswith("threadIdx.") else "")
        sums = together and any(Block(o).init is not None for o in ops(loop.op) if is_block(o))
        self.put(depth, f"W.enter({loop.name!r}, P{var}, {together!r})")
        self.put(depth, f"for {var} in {'' if sums else 'reversed'}(range({low}, {high})):")
        self.put(depth + 1, f"W.now[-1] = {var}")
        self.body(loop.body, depth + 1)
        self.put(depth, "W.leave()")

    def private(self, loop: Loop) -> set[str]:
        """Allocations that only the loop uses."""
        outside = {_root(a.buffer) for a in accesses(self.func.op) if not is_inside(a.op, loop.op)}
        own = {_root(a.buffer) for a in accesses(loop.op)}
        return {self.name(b) for b in own if b not in outside and Buffer(b).is_alloc}

    def block(self, block: Block, depth: int) -> None:
        for it in block.iters:
            var, low = self.name(it.var), self.index(it.min)
            self.put(depth, f"{var} = {self.index(it.binding)}")
            bad = f"raise Trap('{block.name}: {it.name} = %d leaves its domain' % {var})"
            self.put(depth, f"if not {low} <= {var} < {low} + {self.index(it.extent)}: {bad}")
        self.body(block.body, depth)

    def branch(self, op: ir.Operation, depth: int) -> None:
        results = [self.name(r) for r in op.results]
        if op.name == "scf.if":
            test = self.name(op.operands[0])
        else:
            test = " and ".join(f"{self.index(c.index)} {'==' if c.is_eq else '>='} 0" for c in constraints(op))
        self.put(depth, f"if {test}:")
        for word, region in zip(("", "else:"), op.regions, strict=False):
            for body in region.blocks:
                if word:
                    self.put(depth, word)
                self.body(body, depth + 1, results)

    def access(self, op: ir.Operation, depth: int) -> None:
        write, memref = "store" in op.name, accessed(op)
        if op.name.startswith("affine"):
            indices = [self.index(i) for i in access_indices(op)]
        else:
            indices = [self.name(v) for v in list(op.operands)[2 if write else 1 :]]
        while not isinstance(memref.owner, ir.Block) and memref.owner.name == "memref.subview":
            indices = self.seen_through(memref.owner.operation, indices)
            memref = memref.owner.operands[0]
        buffer = self.name(memref)
        self.put(depth, f"at = ({''.join(f'{i}, ' for i in indices)})")
        self.put(depth, f"if at not in {buffer}: raise Trap(f'{buffer}{{list(at)}} is outside')")
        if self.watched:
            self.put(depth, f"W.touch({buffer!r}, at, {write}, {_reduction(op, memref)})")
        if write:
            self.put(depth, f"{buffer}[at] = {self.name(op.operands[0])}")
        else:
            self.put(depth, f"{self.name(op.results[0])} = {buffer}[at]")

    def seen_through(self, view: ir.Operation, indices: Sequence[str]) -> list[str]:
        """Indices into a subview as indices into what it is a view of."""
        values = iter([self.name(v) for v in list(view.operands)[1:]])
        sizes, offsets = list(view.attributes["static_sizes"]), list(view.attributes["static_offsets"])
        starts = [next(values) if o == DYNAMIC else str(o) for o in offsets]
        rest = list(indices)
        dropped = len(sizes) - len(rest)
        found = []
        for start, size in zip(starts, sizes, strict=True):
            if dropped and size == 1:
                dropped -= 1
                found.append(start)
            else:
                found.append(f"{start} + {rest.pop(0)}")
        return found

    def value(self, op: ir.Operation) -> str:
        name = op.name
        args = [self.name(v) for v in op.operands]
        if name == "memref.alloc":
            sizes = iter(args)
            shape = [str(n) if n is not None else next(sizes) for n in Buffer(op.results[0]).shape]
            return f"make(({''.join(f'{n}, ' for n in shape)}))"
        if name == "arith.constant":
            return repr(op.attributes["value"].value)
        if name == "memref.dim":
            return f"{args[0]}['shape'][{args[1]}]"
        if name == "affine.apply":
            return self.index(read_apply(op.results[0]))
        if name in BINARY:
            return f"{args[0]} {BINARY[name]} {args[1]}"
        if name in CALLS:
            return f"{CALLS[name]}({args[0]}, {args[1]})"
        if name in SAME:
            return args[0]
        if name == "arith.select":
            return f"{args[1]} if {args[0]} else {args[2]}"
        if name in COMPARE:
            return f"{args[0]} {COMPARE[name][op.attributes['predicate'].value]} {args[1]}"
        raise NotImplementedError(f"the interpreter does not know {name}")


def _root(value: ir.Value) -> ir.Value:
    return Buffer(value).root.value


def _reduction(op: ir.Operation, memref: ir.Value) -> int:
    """A number for the reduction that an access starts or updates, below 0 without an init; 0 for other accesses."""
    home = enclosing_block(op)
    if not isinstance(home, Block) or not any(it.kind == "R" for it in home.iters):
        return 0
    both = ("affine.load", "affine.store")
    if home.init is not None:
        starts = any(o.name == "affine.store" and _root(accessed(o)) == memref for o in ops(home.init))
        return home.id + 1 if starts else 0
    uses = {o.name for o in ops(home.op) if o.name in both and _root(accessed(o)) == memref}
    return -home.id - 1 if len(uses) == 2 else 0


def _loops(root: ir.Operation) -> list[ir.Operation]:
    return [o for o in ops(root) if o.name == "affine.for"]


def _affine(expr: ir.AffineExpr, names: Sequence[str]) -> str:
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineConstantExpr):
        return str(expr.value)
    if isinstance(expr, ir.AffineDimExpr):
        return names[expr.position]
    left, right = _affine(expr.lhs, names), _affine(expr.rhs, names)
    if isinstance(expr, ir.AffineCeilDivExpr):
        return f"(-(-{left} // {right}))"
    signs = {ir.AffineAddExpr: "+", ir.AffineMulExpr: "*", ir.AffineModExpr: "%", ir.AffineFloorDivExpr: "//"}
    return f"({left} {signs[type(expr)]} {right})"
