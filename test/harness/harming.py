"""Faulty primitives: apply a primitive, then corrupt the program, as a bug in it would."""

import functools
from dataclasses import replace

from mlir import ir

from tir_mlir.dialect.ir import Buffer, View, attrs, is_block, is_loop, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.passes.schedule import PRIMITIVES


def harmful(name, harm):
    """Replace the primitive `name` by one whose result `harm(module op)` corrupts."""
    known = PRIMITIVES[name]

    @functools.wraps(known.run)
    def run(*args, **kwargs):
        given = [*args, *kwargs.values()]
        root = walk.parents(next(a for a in given if isinstance(a, View)).op)[-1]
        result = known.run(*args, **kwargs)
        before = str(root)
        harm(root)
        assert str(root) != before, "nothing was corrupted"
        return result

    return replace(known, run=run)


def _map(op, key, change):
    old = attrs.map_of(op.attributes[key])
    op.attributes[key] = ir.AffineMapAttr.get(ir.AffineMap.get(old.n_dims, old.n_symbols, change(list(old.results))))


def _accesses(root, name, buffer):
    return [o for o in walk.ops(root) if o.name == name and Buffer(accessed_memref(o)).name == buffer]


def drop_guards(root):
    """Drop every T.where guard."""
    for op in walk.ops(root):
        if op.name == "affine.if" and "tir.where" in op.attributes:
            dims = len(op.operands)
            holds = ir.IntegerSet.get(dims, 0, [ir.AffineConstantExpr.get(0)], [False])
            op.attributes["condition"] = ir.IntegerSetAttr.get(holds)


def shift(name, buffer, by):
    """Shift the loads or stores of a buffer by `by` along its first axis."""

    def harm(root):
        for op in _accesses(root, f"affine.{name}", buffer):
            _map(op, "map", lambda results: [results[0] + by, *results[1:]])

    return harm


def swap(name, buffer):
    """Swap the first two indices of the loads or stores of a buffer."""

    def harm(root):
        for op in _accesses(root, f"affine.{name}", buffer):
            _map(op, "map", lambda results: [results[1], results[0], *results[2:]])

    return harm


def drop_stores(buffer, constant):
    """Drop the stores to a buffer: those of constants (its init), or all others."""

    def harm(root):
        for op in _accesses(root, "affine.store", buffer):
            if (op.operands[0].owner.name == "arith.constant") == constant:
                op.erase()

    return harm


def shorten(loop):
    """Shorten the loops of a name by one iteration."""

    def harm(root):
        for op in walk.ops(root):
            if is_loop(op) and attrs.get(op, attrs.LOOP) == loop:
                _map(op, "upperBoundMap", lambda results: [r - 1 for r in results])

    return harm


def mark(loop, kind):
    """Mark the loops of a name as concurrent."""

    def harm(root):
        for op in walk.ops(root):
            if is_loop(op) and attrs.get(op, attrs.LOOP) == loop:
                op.attributes[attrs.KIND] = ir.StringAttr.get(kind)

    return harm


def swap_iters(block):
    """Swap the bindings of the first two iters of a block."""

    def harm(root):
        for op in walk.ops(root):
            if is_block(op) and attrs.get(op, attrs.BLOCK) == block:
                for key in ("lowerBoundsMap", "upperBoundsMap"):
                    _map(op, key, lambda results: [results[1], results[0], *results[2:]])

    return harm
