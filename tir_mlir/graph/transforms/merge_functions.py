"""Merge TensorIR functions that are called one after the other into one, and which calls that is right for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.analysis.accesses import WRITE, touches
from tir_mlir.dialect.graph import Node, TensorFunc, free_name
from tir_mlir.dialect.graph import create as graph_create
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Func,
    Index,
    at_end,
    attrs,
    create,
    direct_ops,
    is_block,
    only_reads,
    ops,
    parent_op,
    symbol_table,
)
from tir_mlir.dialect.ir.op_views import AllocOp, isa
from tir_mlir.dialect.ir.views import SIZE_PRELUDE, sizes_of
from tir_mlir.dialect.presburger import assume
from tir_mlir.dialect.presburger.sets import assumptions
from tir_mlir.dialect.symbolic import equal, from_affine, names_in, parse
from tir_mlir.graph.memory.calls_in_place import rename_buffers

Slot = tuple[str, int, int]
"""A tensor of a group: ("input", number, 0), or ("call", number of the call that makes it, number of the result)."""


@dataclass(frozen=True)
class MergedCall:
    """A call of a group: the TensorIR function, what its inputs are, and how many results it has."""

    callee: str
    inputs: tuple[Slot, ...]
    results: int = 1

    def slots(self, number: int) -> list[Slot]:
        """Its tensors in the order of the parameters, where it is the call of this number."""
        return [*self.inputs, *(("call", number, result) for result in range(self.results))]


def merge_functions(module: ir.Module, name: str, calls: Sequence[MergedCall], outputs: Sequence[Slot]) -> str:
    """Add a TensorIR function that does what a sequence of calls does. Returns its name.

        @T.prim_func                                        @T.prim_func
        def dense(x0, x1, y): (loops)                       def dense_relu(x0, x1, y):
        def relu(x0, y): (loops)                      ->        t = T.alloc_buffer(...)
        t = dense(a, b); c = relu(t)                            (loops of dense, that write t)
                                                                (loops of relu, that read t and write y)

    outputs: the results of calls that the function returns, in the order of its last parameters. What computes only a
    result that is neither returned nor read is left out.
    """
    return _Merge(module, name, calls, outputs).run()


class _Merge:
    """The state of one merge. `made` is the new function; `values` are its buffers by slot."""

    def __init__(self, module: ir.Module, name: str, calls: Sequence[MergedCall], outputs: Sequence[Slot]):
        self.module, self.calls, self.outputs = module, calls, list(outputs)
        self.read = {*outputs, *(slot for call in calls for slot in call.inputs)}
        table = symbol_table(module.operation)
        self.sources = {call.callee: Func(table[call.callee].operation) for call in calls}
        self.sizes: dict[str, ir.Value] = {}
        self.values: dict[Slot, ir.Value] = {}
        self.made = self._function(graph_create.fresh_symbol(module, name))

    def run(self) -> str:
        for number, call in enumerate(self.calls):
            self._append(number, call)
        _number_blocks(self.made)
        return self.made.name

    def _function(self, name: str) -> Func:
        """The new function, with its parameters: those of the callees, under names of their own."""
        slot_values: dict[Slot, ir.Value] = {}
        facts: dict[Slot, dict[str, ir.Attribute]] = {}
        for number, call in enumerate(self.calls):
            source = self.sources[call.callee]
            arg_facts = attrs.argument_attrs(source.op)
            for position, slot in enumerate(call.slots(number)):
                if (slot[0] == "input" or slot in self.outputs) and slot not in slot_values:
                    slot_values[slot], facts[slot] = source.args[position], arg_facts[position]
        inputs = sorted(slot for slot in slot_values if slot[0] == "input")
        slots = [*inputs, *self.outputs]
        with ir.InsertionPoint(self.module.body):
            merged = create.func(
                name, [slot_values[s].type for s in slots], attributes={"global_symbol": name, "tir.noalias": True}
            )
        names: set[str] = set()
        named = [
            {**facts[s], attrs.NAME: ir.StringAttr.get(_free(ir.StringAttr(facts[s][attrs.NAME]).value, names))}
            for s in slots
        ]
        merged.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(n) for n in named])
        self.values = dict(zip(slots, merged.args, strict=True))
        self.names = names
        return merged

    def _append(self, number: int, call: MergedCall) -> None:
        """Move a copy of the body of a callee to the end."""
        with ir.InsertionPoint(self.module.body):
            copy = Func(self.sources[call.callee].op.clone())
        first = len(call.inputs)
        results = dict(zip(call.slots(number)[first:], copy.args[first:], strict=True))
        facts = {slot: (Buffer(arg).dims, Buffer(arg).name, Buffer(arg).dtype) for slot, arg in results.items()}
        arg_names = [Buffer(arg).name for arg in copy.args]
        for slot, arg in zip(call.inputs, copy.args[:first], strict=True):
            arg.replace_all_uses_with(self.values[slot])
        _erase_unread(copy, [arg for slot, arg in results.items() if slot not in self.read])
        sizes = self._merge_sizes(copy)
        promises = [Constraint(p.index.substitute(sizes), p.is_eq) for p in assumptions(copy.op)]
        self._move_sizes(copy)
        if promises:
            assume(self.made.op, promises)
        for slot, arg in results.items():
            dims, name, dtype = facts[slot]
            if slot not in self.values and any(True for _ in arg.uses):
                shape = [d.substitute(sizes) for d in dims]
                with at_end(self.made.body), self.made.op.location:
                    self.values[slot] = create.alloc(_free(name, self.names), shape, dtype)
            if slot in self.values:
                arg.replace_all_uses_with(self.values[slot])
        named = [(name, slot) for name, slot in zip(arg_names, call.slots(number), strict=True) if slot in self.values]
        merged = {name: Buffer(self.values[slot]).name for name, slot in named}
        rename_buffers(copy.op, merged | self._rename_allocs(copy))
        self._move_body(copy)
        copy.op.erase()

    def _move_sizes(self, copy: Func) -> None:
        """Move the sizes of a copy to the top of the new function, but those that it has already."""
        mine = set(self.sizes.values())
        prelude = [op for op in direct_ops(copy.op)[:-1] if op.name in SIZE_PRELUDE]
        hoisted = []
        for op in reversed(prelude):  # what only a size that is known already needs goes with it
            defined = [value in mine for _, value in sizes_of(op)]
            is_used = any(defined) or any(True for result in op.results for _ in result.uses)
            if not all(defined) or not is_used:
                op.erase()
            else:
                hoisted.append(op)
        top = self._first_nest()
        for op in reversed(hoisted):
            op.move_before(top)

    def _move_body(self, copy: Func) -> None:
        """Move what a copy does to the end of the new function."""
        end = direct_ops(self.made.op)[-1]
        for op in direct_ops(copy.op)[:-1]:
            op.move_before(end)

    def _rename_allocs(self, copy: Func) -> dict[str, str]:
        """Give the allocations of a copy names that are free in the new function. Returns the new names by the old."""
        names: dict[str, str] = {}
        for op in direct_ops(copy.op)[:-1]:
            if isa(op, AllocOp):
                old = attrs.get(op, attrs.NAME, "buf")
                names[old] = _free(old, self.names)
                attrs.put(op, attrs.NAME, names[old])
        return names

    def _first_nest(self) -> ir.Operation:
        return next(op for op in direct_ops(self.made.op) if op.name not in SIZE_PRELUDE)

    def _merge_sizes(self, copy: Func) -> dict[ir.Value, Index]:
        """Make the sizes of a callee those of the new function. Returns the new value of each."""
        new_sizes: dict[ir.Value, Index] = {}
        for op in direct_ops(copy.op):
            for name, value in sizes_of(op):
                mine = self.sizes.setdefault(name, value)
                new_sizes[value] = Index.from_value(mine)
                if mine != value:
                    value.replace_all_uses_with(mine)
        return new_sizes


def _erase_unread(copy: Func, unread: Sequence[ir.Value]) -> None:
    """Erase the nests of a function that write nothing but results that nobody reads."""
    for op in direct_ops(copy.op)[:-1] if unread else []:
        written = [touch.buffer for touch in touches(op) if touch.kind == WRITE]
        if written and all(any(buffer == arg for arg in unread) for buffer in written):
            op.erase()


def _free(hint: str, names: set[str]) -> str:
    name = free_name(hint, names)
    names.add(name)
    return name


def _number_blocks(func: Func) -> None:
    """Give the blocks of a function names of their own, and all ops ids of their own."""
    block_names: set[str] = set()
    for op in ops(func.op):
        if is_block(op):
            attrs.put(op, attrs.BLOCK, _free(attrs.get(op, attrs.BLOCK), block_names))
        if attrs.ID in op.attributes:
            op.attributes[attrs.ID] = attrs.to_attr(create.fresh_id(op))


@only_reads
def is_exact(node: Node) -> bool:
    """Whether the types of a call are those of the program's parameters, with the same names of sizes.

    Not of a program for any size that is called with numbers, nor of one whose n is the 2 * n of its caller.
    """
    callee = node.callee
    if callee is None or not graph_create.is_exact(node):
        return False
    func = TensorFunc(parent_op(node.op))
    program = symbol_table(parent_op(func.op))[callee.callee].operation
    types = [*map(func.type_of, node.inputs), *node.types]
    return all(
        _same_shape(type_.shape, attrs.argument_attributes(program, number)) for number, type_ in enumerate(types)
    )


def _same_shape(sizes: tuple[int | str, ...], facts: Mapping[str, Any]) -> bool:
    """Whether named sizes are those of a parameter, which has them as affine expressions of its symbols."""
    symbols = list(facts.get(attrs.SYMS, []))
    named = [(axis, size) for axis, size in enumerate(sizes) if isinstance(size, str)]
    if not all(names_in(parse(size)) <= set(symbols) for _, size in named):
        return False
    exprs = facts[attrs.SHAPE].results if attrs.SHAPE in facts else []
    return all(equal(size, from_affine(exprs[axis], (), list(map(parse, symbols)))) for axis, size in named if exprs)
