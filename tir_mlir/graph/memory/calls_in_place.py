"""Calls in place: a result of a TensorIR function takes the memory of an input that no later call reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.analysis import read_after_write
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.graph import TensorFunc
from tir_mlir.dialect.ir import Func, annotation_keys, attrs, direct_ops, funcs, ops
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineLoopOp, AffineOp, AffineStoreOp, ChoiceOp, WriteOp, isa
from tir_mlir.graph.memory import buffer_assignment

IN_PLACE = "graph.in_place"
"""Of a TensorIR function: pairs of parameters, an input and a result, that may be the same buffer."""

Pair = tuple[int, int]
Triple = tuple[str, int, int]


def candidate_pairs(graph: TensorFunc, module: ir.Module) -> dict[str, list[Pair]]:
    """By function that a graph calls: the inputs and results of one type that could be one buffer, as far as the other
    nodes go."""
    functions, pairs = {f.name for f in funcs(module)}, dict[str, list[Pair]]()
    for name, source, result in buffer_assignment.in_place_candidates(graph):
        if name in functions:
            pairs.setdefault(name, []).append((source, result))
    return pairs


def mark(graph: TensorFunc, module: ir.Module, safe: Mapping[str, Sequence[Pair]]) -> None:
    """Note which results of the functions that a graph calls may take the memory of inputs: `mark_in_place`. safe: the
    pairs of each function that may be one buffer."""
    functions, scratch = {f.name: f for f in funcs(module)}, scratch_sizes(module)
    accepted = _minimal_triples(
        [(name, *pair) for name, pairs in safe.items() for pair in pairs],
        buffer_assignment.arena_sizes(graph, scratch),
    )
    pairs: dict[str, list[list[int]]] = {}
    for name, source, result in accepted:
        pairs.setdefault(name, []).append([source, result])
    for name, of_name in pairs.items():  # besides those of another body that calls it
        marked_pairs = attrs.get(functions[name].op, IN_PLACE, [])
        attrs.put(
            functions[name].op, IN_PLACE, [*marked_pairs, *(pair for pair in of_name if pair not in marked_pairs)]
        )


def _minimal_triples(triples: Sequence[Triple], size: Callable[[Collection[Triple]], int]) -> list[Triple]:
    """The triples without those that make the arena no smaller: each makes one more version of its function.

    Halves that are of no use together are dropped together: the number of plans grows with what remains.
    """
    accepted = dict.fromkeys(triples)
    best, waiting = size(accepted), [list(triples)] if triples else []
    while waiting:
        dropped = waiting.pop()
        fewer = dict.fromkeys(triple for triple in accepted if triple not in frozenset(dropped))
        if (needed := size(fewer)) <= best:
            accepted, best = fewer, needed
        elif len(dropped) > 1:
            middle = len(dropped) // 2
            waiting += [dropped[middle:], dropped[:middle]]
    return list(accepted)


def scratch_sizes(module: ir.Module) -> dict[str, int]:
    """The bytes that TensorIR functions need for themselves, by name."""
    return {f.name: attrs.get(f.op, buffer_assignment.SCRATCH, 0) for f in funcs(module)}


def is_safe(func: Func, source: int, result: int) -> bool:
    """Whether two parameters of a function may be one buffer: proved, not guessed."""
    try:
        return read_after_write(func, func.args[source], func.args[result]) is None
    except NotProvable:
        return False


def in_place_triples(module: ir.Module) -> frozenset[Triple]:
    """What `mark` noted: (function, input, result)."""
    return frozenset((f.name, *pair) for f in funcs(module) for pair in attrs.get(f.op, IN_PLACE, []))


def join_parameters(op: ir.Operation, pairs: Sequence[Pair]) -> None:
    """Make each result of a function the buffer of an input, where both may be one.

    def add(A, B, C): for i: C[i] = A[i] + B[i]   -->   def add(A, B): for i: A[i] = A[i] + B[i]

    Nests that copy the input to the result are erased: they would write each element where it was read.
    """
    func = Func(op)
    names, facts = {}, attrs.argument_attrs(op)
    for source, result in pairs:
        names[func.arg_name(result)] = func.arg_name(source)
        func.args[result].replace_all_uses_with(func.args[source])
    for nest in [inner for inner in direct_ops(op)[:-1] if _copies_to_itself(inner)]:
        nest.erase()
    gone = sorted((result for _, result in pairs), reverse=True)
    for number in gone:
        func.body.erase_argument(number)
        del facts[number]
    op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in facts])
    op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([v.type for v in func.args], []))
    rename_buffers(op, names)


def _copies_to_itself(nest: ir.Operation) -> bool:
    """Whether a nest only stores elements that it loads from the same position."""
    if not isa(nest, AffineLoopOp):
        return False
    inner = list(ops(nest))
    stores = [op for op in inner if isa(op, WriteOp)]
    return bool(stores) and all(isa(op, AffineOp, ChoiceOp) for op in inner) and all(map(_stores_what_is_there, stores))


def _stores_what_is_there(store: ir.Operation) -> bool:
    if not isa(store, AffineStoreOp):
        return False
    value, target, *indices = store.operands
    if isinstance(value, ir.BlockArgument):
        return False
    load = ir.OpResult(value).owner.operation
    same = isa(load, AffineLoadOp) and list(load.operands) == [target, *indices]
    return same and load.attributes["map"] == store.attributes["map"]


def rename_buffers(op: ir.Operation, names: Mapping[str, str]) -> None:
    """Let declared regions and annotations in a function follow buffers to their new names.

    T.writes(C[i]), annotations={"prefetch": "C"}   -->   T.writes(A[i]), annotations={"prefetch": "A"}   {"C": "A"}
    """
    for inner in ops(op):
        for key in (attrs.READS, attrs.WRITES):
            if key in inner.attributes:
                entries = [{n.name: n.attr for n in ir.DictAttr(e)} for e in ir.ArrayAttr(inner.attributes[key])]
                inner.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get(_rename_entry(e, names)) for e in entries])
    annotation_keys.rename_buffers(op, names)


def _rename_entry(entry: dict[str, ir.Attribute], names: Mapping[str, str]) -> dict[str, ir.Attribute]:
    name = ir.StringAttr(entry["buffer"]).value
    return {**entry, "buffer": ir.StringAttr.get(names.get(name, name))}
