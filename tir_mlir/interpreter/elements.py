"""Loads and stores of one element: inside its buffer, written before, alone at the time."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.updates import update_store
from tir_mlir.dialect.views import Block, is_block
from tir_mlir.dialect.walk import access_indices, accessed, enclosing_block, ops, parents
from tir_mlir.interpreter.memory import outside
from tir_mlir.interpreter.roots import root
from tir_mlir.interpreter.tally import LOADS, STORES
from tir_mlir.interpreter.writer import Ref, Writer, writes


@writes("affine.load", "memref.load")
def load(w: Writer, op: ir.Operation) -> None:
    memref = accessed(op)
    ref, at = w.ref(memref), indices(w, op)
    index = f"({', '.join(at)}{',' * (len(at) == 1)})"
    place = inside(w, ref, at, index)
    if w.watches(memref):
        place = w.atom(place, "_p")
        w.put(f"_watch.touch({ref.view}.memory, {place}, False, {reduction(op, memref)})")
    variable = w.define(op.results[0])
    w.put(f"{variable} = {ref.data}[{place}]")
    if w.options.origins:
        w.put(f"if {variable} is _POISON: {variable} = _unwritten({ref.view}, {index})")
    w.touched(LOADS, memref)


@writes("affine.store", "memref.store")
def store(w: Writer, op: ir.Operation) -> None:
    memref = accessed(op)
    ref, at = w.ref(memref), indices(w, op)
    place = inside(w, ref, at, f"({', '.join(at)}{',' * (len(at) == 1)})")
    if w.watched:
        place = w.atom(place, "_p")
        w.put(f"_watch.touch({ref.view}.memory, {place}, True, {reduction(op, memref)})")
    w.put(f"{ref.data}[{place}] = {w.value(op.operands[0])}")
    w.touched(STORES, memref)


def indices(w: Writer, op: ir.Operation) -> list[str]:
    """The indices of an access, each a name or a number."""
    if op.name.startswith("affine."):
        texts = [w.index(i) for i in access_indices(op)]
    else:
        texts = w.values(list(op.operands)[2 if "store" in op.name else 1 :])
    return [w.atom(text, f"_i{n}") for n, text in enumerate(texts)]


def inside(w: Writer, ref: Ref, at: Sequence[str], index: str) -> str:
    """Check an access, and the place in memory that it is."""
    tests = [f"0 <= {i} < {n}" for i, n in zip(at, ref.sizes, strict=True)]
    if tests:
        w.put(f"if not ({' and '.join(tests)}): {w.keep(outside, 'outside')}({ref.view}, {index})")
    return address(ref, at)


def address(ref: Ref, at: Sequence[str]) -> str:
    terms = [i if s == "1" else f"{i} * {s}" for i, s in zip(at, ref.strides, strict=True) if s != "0" and i != "0"]
    return " + ".join([*terms, *([ref.offset] if ref.offset != "0" else [])]) or "0"


def reduction(op: ir.Operation, memref: ir.Value) -> int:
    """A number for the reduction that an access starts or updates, below 0 without an init; 0 for other accesses."""
    home = enclosing_block(op)
    if not isinstance(home, Block):
        return 0
    if not _sums(home):  # a block inside one that sums may do the update
        store = update_store(op)
        outer = next((b for p in parents(op) if is_block(p) and _sums(b := Block(p))), None)
        return -outer.id - 1 if store is not None and outer is not None else 0
    own = root(memref)
    if home.init is not None:
        starts = any(o.name == "affine.store" and root(accessed(o)) == own for o in ops(home.init))
        return home.id + 1 if starts else 0
    both = ("affine.load", "affine.store")
    uses = {o.name for o in ops(home.op) if o.name in both and root(accessed(o)) == own}
    return -home.id - 1 if len(uses) == 2 else 0


def _sums(block: Block) -> bool:
    return any(it.kind == "R" for it in block.iters)
