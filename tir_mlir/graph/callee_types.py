"""The types of what a called graph returns, in the sizes of its caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import (
    LoopFacts,
    TensorFunc,
    TensorType,
    create,
    encoding,
    free_name,
    is_tensor_func,
    passed_inputs,
    tensor_funcs,
)
from tir_mlir.dialect.ir import attrs, symbol, symbol_table
from tir_mlir.dialect.symbolic import Polynomial, as_expr, equal, evaluate, parse, size_of
from tir_mlir.graph.size_code import symbols
from tir_mlir.script.module import IRModule

T = TypeVar("T")


def called_graph(module: IRModule, name: str) -> TensorFunc:
    """A graph of a module. Errors: GraphError."""
    op = symbol(module.mlir, name)
    if op is None or not is_tensor_func(op) or not TensorFunc(op).is_graph:
        graphs = [f.name for f in tensor_funcs(module.mlir) if f.is_graph]
        raise GraphError(f"the module has no graph {name}; it has {', '.join(graphs) or 'none'}")
    return TensorFunc(op)


def called_types(callee: TensorFunc, operand_types: Sequence[TensorType]) -> list[TensorType]:
    """What `callee` returns for inputs of these types. Errors: GraphError for inputs that do not fit."""
    input_types = [callee.input_type(n) for n in range(len(callee.inputs))]
    return result_types(callee.name, input_types, [callee.type_of(v) for v in callee.outputs], operand_types)


def result_types(
    name: str, input_types: Sequence[TensorType], results: Sequence[TensorType], operand_types: Sequence[TensorType]
) -> list[TensorType]:
    """The results of a function in the sizes of its caller: (n,) -> (n + 1,), called with (2 * m,): (2 * m + 1,).

    Errors: GraphError for inputs that do not fit.
    """
    bound = bound_sizes(name, input_types, operand_types)
    return [TensorType(tuple(substitute_size(s, bound) for s in t.shape), t.dtype) for t in results]


def bound_sizes(
    name: str, input_types: Sequence[TensorType], operand_types: Sequence[TensorType]
) -> dict[str, int | str]:
    """The sizes of a function in those of its caller: (n, m), called with (2 * k, 3): n = 2 * k, m = 3.

    Errors: GraphError for inputs that do not fit.
    """
    if len(input_types) != len(operand_types):
        raise GraphError(f"{name} takes {len(input_types)} inputs, not {len(operand_types)}")
    bound: dict[str, int | str] = {}
    for number, (want, have) in enumerate(zip(input_types, operand_types, strict=True)):
        fits = want.dtype == have.dtype and len(want.shape) == len(have.shape)
        if not fits or not all(_bind(w, h, bound) for w, h in zip(want.shape, have.shape, strict=True)):
            raise GraphError(f"input {number} of {name} is {want}, not {have}")
    for number, (want, have) in enumerate(
        zip(input_types, operand_types, strict=True)
    ):  # expressions of what is bound now
        if not all(equal(substitute_size(w, bound), h) for w, h in zip(want.shape, have.shape, strict=True)):
            raise GraphError(f"input {number} of {name} is {want}, and {have} is not shown to be")
    return bound


def _bind(want: int | str, have: int | str, bound: dict[str, int | str]) -> bool:
    """Whether a size fits; a name is bound to what is given first."""
    if isinstance(want, int) or not want.isidentifier():
        return isinstance(want, str) or equal(want, have)
    return equal(bound.setdefault(want, have), have)


def substitute_size(size: int | str, bound: Mapping[str, int | str]) -> int | str:
    """A size with names replaced by other sizes: `n + 1`, n = 2 * m -> `2 * m + 1`."""
    return size_of(as_expr(evaluate(parse(size), lambda name: parse(bound.get(name, name)))))


def unbound_sizes(inputs: Sequence[TensorType | float], results: Sequence[TensorType]) -> dict[str, str]:
    """A name for each size of operands whose parts no axis is: {"n + m": "size", "n + m + 1": "size + 1"}."""
    texts = [s for t in (*inputs, *results) if isinstance(t, TensorType) for s in t.shape if isinstance(s, str)]
    bound = {s for t in inputs if isinstance(t, TensorType) for s in t.shape if isinstance(s, str) and s.isidentifier()}
    names = {name for text in texts for name in symbols(text)}
    renamed: dict[str, str] = {}
    for text in texts:
        if text not in renamed and not bound.issuperset(symbols(text)):
            renamed[text] = _find_size_name(text, renamed) or free_name("size", {*names, *renamed.values()})
    return renamed


def renamed_size(text: str, renamed: Mapping[str, str]) -> str:
    """A size with other names: with {"h // 8 + 1": "size"}, h // 8 is size - 1. One that has none remains."""
    return _find_size_name(text, renamed) or text


def _find_size_name(text: str, renamed: Mapping[str, str]) -> str | None:
    if text in renamed:
        return renamed[text]
    near = (_offset_from_known(text, known, name) for known, name in renamed.items() if name.isidentifier())
    return next((other for other in near if other is not None), None)


def _offset_from_known(text: str, known: str, name: str) -> str | None:
    """ "size + 1" for h * w + 1 where h * w is `size`; None where they differ by more than a number."""
    number = (Polynomial.from_expr(parse(text)) - Polynomial.from_expr(parse(known))).constant()
    return None if number is None else str(size_of(parse(name) + number))


def renamed_types(types: Sequence[T], renamed: Mapping[str, str]) -> list[T | TensorType]:
    """Types with other names of sizes; numbers remain."""
    return [
        TensorType(tuple(renamed.get(s, s) if isinstance(s, str) else s for s in t.shape), t.dtype)
        if isinstance(t, TensorType)
        else t
        for t in types
    ]


def check_parameters(module: IRModule, name: str, operand_types: Sequence[TensorType]) -> None:
    """Errors: GraphError for tensors, inputs then results, that the parameters of a TensorIR function do not take."""
    param_types = create.function_type(module.mlir.operation, name).inputs
    if len(param_types) != len(operand_types):
        raise GraphError(
            f"{name} has {len(param_types)} parameters, and is called with {len(operand_types)}: its inputs, then its "
            "results"
        )
    for number, (want, have) in enumerate(zip(param_types, operand_types, strict=True)):
        if not isinstance(want, ir.MemRefType) or not _takes(want, have):
            raise GraphError(f"parameter {number} of {name} is {want}, and does not take a tensor {have}")
    _check_sizes(symbol_table(module.mlir.operation)[name].operation, name, operand_types)


def _check_sizes(program: ir.Operation, name: str, operand_types: Sequence[TensorType]) -> None:
    """Errors: GraphError for a size of a program that two tensors give different values."""
    bound: dict[str, int | str] = {}
    for number, have in enumerate(operand_types):
        facts = attrs.argument_attributes(program, number)
        if attrs.SHAPE not in facts:
            continue
        for expr, size in zip(facts[attrs.SHAPE].results, have.shape, strict=True):
            if not isinstance(expr, ir.AffineSymbolExpr):
                continue
            symbol = facts[attrs.SYMS][expr.position]
            if not equal(bound.setdefault(symbol, size), size):
                raise GraphError(f"{symbol} of {name} is {bound[symbol]}, and {size} in its parameter {number}, {have}")


def _takes(want: ir.MemRefType, have: TensorType) -> bool:
    """Whether a parameter takes a tensor; a size that is only known by name fits any."""
    if want.element_type != have.mlir.element_type or want.rank != len(have.shape):
        return False
    sizes = zip(want.shape, have.shape, strict=True)
    return all(w == h for n, (w, h) in enumerate(sizes) if not want.is_dynamic_dim(n) and isinstance(h, int))


def check_regions(
    module: ir.Module,
    names: Sequence[str],
    inputs: Sequence[TensorType],
    results: Sequence[TensorType],
    loop: LoopFacts | None,
) -> None:
    """Errors: GraphError for a region of a branch, or of a loop, that is given or returns other types than it has."""
    argument_types, result_types = list(inputs[1:]), list(results)
    if loop is not None:
        carried = list(inputs[loop.first_carried : loop.first_carried + loop.carried])
        scanned = inputs[loop.first_carried + loop.carried :][: loop.scanned]
        captured = inputs[loop.first_carried + loop.carried + loop.scanned :]
        argument_types = [
            TensorType((), "int64"),
            *carried,
            *(TensorType(t.shape[1:], t.dtype) for t in scanned),
            *captured,
        ]
        rows = [TensorType(t.shape[1:], t.dtype) for t in results[loop.carried :]]
        result_types = [*[TensorType((), "bool")][: loop.tests], *carried, *rows]
    for name in names:
        op = symbol(module, name)
        if op is None or not is_tensor_func(op) or TensorFunc(op).kind != encoding.REGION:
            raise GraphError(f'{name} is not a region; fix: R.func_attr({{"region": 1}}) in a private graph')
        region = TensorFunc(op)
        takes, returns = (
            [region.input_type(n) for n in passed_inputs(region)],
            list(map(region.type_of, region.outputs)),
        )
        for word, has, needs in (("takes", takes, argument_types), ("returns", returns, result_types)):
            if has != needs:
                texts = [", ".join(map(str, types)) or "nothing" for types in (has, needs)]
                raise GraphError(f"the region {name} {word} {texts[0]}, and where it is run {texts[1]}")
