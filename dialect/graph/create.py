"""Create graphs, their nodes, and the functions that nodes call; replace and copy nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from mlir import ir
from mlir._mlir_libs._mlirDialectsLinalg import fill_builtin_region
from mlir.dialects import arith, func, memref

from tir_mlir.dialect.constants.dense import dense_attr
from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.graph.encoding import TensorType, free_name
from tir_mlir.dialect.graph.views import Node, TensorFunc, is_tensor_func, tensor_funcs
from tir_mlir.dialect.ir import attrs, create, dtypes, kept_symbols, parent_op, symbol_table


def graph(module: ir.Module, name: str, kind: str = encoding.GRAPH) -> TensorFunc:
    """An empty graph at the end of a module: no inputs, no outputs. Errors: a name that is taken is numbered."""
    func_op = _function(module, name, [], [], private=kind != encoding.GRAPH)
    attrs.put(func_op, encoding.KIND, kind)
    body = func_op.regions[0].blocks.append()
    with ir.InsertionPoint(body):
        ir.Operation.create("func.return")
    return TensorFunc(func_op)


def add_input(owner: TensorFunc, name: str, type_: TensorType, weight: str | None = None) -> ir.Value:
    """Append an input to a graph; `weight`: the name of the weight that it is."""
    return add_inputs(owner, [(name, type_, weight)])[0]


def add_inputs(owner: TensorFunc, inputs: Sequence[tuple[str, TensorType, str | None]]) -> list[ir.Value]:
    """Append inputs to a graph, each a name, a type, and the name of the weight that it is or None."""
    values: list[ir.Value] = [owner.body.add_argument(type_.mlir, owner.op.location) for _, type_, _ in inputs]
    arg_attrs = ir.ArrayAttr(owner.op.attributes["arg_attrs"]) if "arg_attrs" in owner.op.attributes else ()
    owner.op.attributes["arg_attrs"] = ir.ArrayAttr.get([*arg_attrs, *(_input_facts(*given) for given in inputs)])
    update_type(owner)
    return values


def _input_facts(name: str, type_: TensorType, weight: str | None) -> ir.Attribute:
    facts: dict[str, Any] = {attrs.NAME: name}
    if type_.is_symbolic:
        facts[encoding.SHAPE] = list(type_.shape)
    if type_.is_unsigned:
        facts[encoding.DTYPE] = type_.dtype
    if weight is not None:
        facts[encoding.WEIGHT] = weight
    return attrs.to_attr(facts)


def set_outputs(owner: TensorFunc, values: Sequence[ir.Value]) -> None:
    """Return these values. What was said of the former results (counts, checks, None among them) is removed."""
    for key in (encoding.COUNTS, encoding.CHECKS, encoding.NONES):
        attrs.put(owner.op, key, None)
    owner.terminator.erase()
    with ir.InsertionPoint(owner.body):
        ir.Operation.create("func.return", operands=list(values))
    update_type(owner)


def update_type(owner: TensorFunc) -> None:
    """Make the type of a function that of its arguments and of what it returns."""
    types = [v.type for v in owner.inputs], [v.type for v in owner.outputs]
    owner.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*types))


# --- nodes, at the current insertion point ----------------------------------------------------------------------------


def call(callee: TensorFunc, inputs: Sequence[ir.Value], types: Sequence[TensorType], names: Sequence[str]) -> Node:
    """A call of a function on tensors."""
    call_op = func.CallOp([t.mlir for t in types], ir.FlatSymbolRefAttr.get(callee.name), list(inputs)).operation
    return _annotate_results(call_op, names, types)


def call_tir(
    module: ir.Module, callee: str, inputs: Sequence[ir.Value], types: Sequence[TensorType], names: Sequence[str]
) -> Node:
    """A call of a TensorIR function of the module, through its adapter."""
    return call(call_tir_adapter(module, callee, [v.type for v in inputs], types), inputs, types, names)


def named_linalg(form: str, operator: str, inputs: Sequence[ir.Value], type_: TensorType, name: str) -> Node:
    """A named linalg op that stands for an operator, and its destination: zeros for a contraction, else undefined.

    The sizes of the result are those of the inputs: of the first one, but the last of a contraction.
    """
    from mlir.dialects import tensor

    sizes: list[int | ir.Value] = []
    for axis, size in enumerate(type_.shape):
        if isinstance(size, str):
            source = inputs[1] if form in CONTRACTIONS and axis == len(type_.shape) - 1 else inputs[0]
            sizes.append(tensor.dim(source, arith.constant(ir.IndexType.get(), axis)))
        else:
            sizes.append(size)
    element = dtypes.element_type(type_.dtype)
    destination = tensor.empty(sizes, element)
    if form in CONTRACTIONS:
        zero = ir.FloatAttr.get(element, 0.0) if dtypes.is_float(type_.dtype) else ir.IntegerAttr.get(element, 0)
        destination = _linalg_op("linalg.fill", [arith.constant(element, zero)], destination).results[0]
    linalg_op = _linalg_op(form, inputs, destination)
    linalg_op.attributes[encoding.OP] = ir.StringAttr.get(operator)
    return _annotate_results(linalg_op, [name], [type_])


def _linalg_op(form: str, inputs: Sequence[ir.Value], destination: ir.Value) -> ir.Operation:
    """A named linalg op, made by MLIR itself: the Python classes of these ops take 30 ms to load and 1 ms for an op."""
    segments = ir.DenseI32ArrayAttr.get([len(inputs), 1])
    operands, facts = [*inputs, destination], {"operandSegmentSizes": segments}
    op = ir.Operation.create(form, [destination.type], operands, facts, regions=1).operation
    fill_builtin_region(op)
    return op


CONTRACTIONS = ("linalg.matmul", "linalg.batch_matmul")
"""The named linalg ops that add to their destination."""


def constant(value: np.ndarray, name: str) -> Node:
    """A constant."""
    dtype = str(value.dtype)
    type_ = TensorType(tuple(int(s) for s in value.shape), dtype)
    constant_op = arith.ConstantOp(type_.mlir, dense_attr(value)).operation  # pyright: ignore[reportArgumentType]
    return _annotate_results(constant_op, [name], [type_])


def _annotate_results(op: ir.Operation, names: Sequence[str], types: Sequence[TensorType]) -> Node:
    op.attributes[encoding.NAMES] = attrs.to_attr(list(names))
    if any(t.is_symbolic for t in types):
        op.attributes[encoding.SHAPES] = attrs.to_attr([list(t.shape) for t in types])
    if any(t.is_unsigned for t in types):
        op.attributes[encoding.DTYPES] = attrs.to_attr([t.dtype for t in types])
    return Node(op)


# --- what nodes call --------------------------------------------------------------------------------------------------


def operator(
    module: ir.Module, name: str, attributes: Mapping[str, Any], inputs: Sequence[ir.Type], results: Sequence[ir.Type]
) -> TensorFunc:
    """The function of a module that stands for an operator with these attributes and types; declared if needed."""
    type_ = ir.FunctionType.get(list(inputs), list(results))
    facts = attrs.to_attr(dict(attributes)) if attributes else None
    key = encoding.OPERATOR, name, facts, type_
    contents = _contents(module)
    if key not in contents:
        contents[key] = declaration = _function(module, name, inputs, results, private=True)
        attrs.put(declaration, encoding.KIND, encoding.OPERATOR)
        attrs.put(declaration, encoding.OP, name)
        attrs.put(declaration, encoding.ATTRS, facts)
    return TensorFunc(contents[key])


def _contents(module: ir.Module) -> dict[Any, ir.Operation]:
    """The functions of a module that stand for operators and packed functions, by what they are."""
    symbols = kept_symbols(module.operation)
    if symbols is not None and symbols.contents is not None:
        return symbols.contents
    contents: dict[Any, ir.Operation] = {}
    for existing in tensor_funcs(module):
        if existing.kind in (encoding.OPERATOR, encoding.PACKED):
            contents.setdefault(_content(existing), existing.op)
    if symbols is not None:
        symbols.contents = contents
    return contents


def _content(owner: TensorFunc) -> Any:
    is_operator, facts = owner.kind == encoding.OPERATOR, owner.op.attributes
    name = attrs.get(owner.op, encoding.OP) if is_operator else owner.callee
    attributes = facts[encoding.ATTRS] if is_operator and encoding.ATTRS in facts else None
    return owner.kind, name, attributes, known_type(owner)


def call_tir_adapter(
    module: ir.Module,
    callee: str,
    inputs: Sequence[ir.Type],
    results: Sequence[TensorType],
    dims: Sequence[ir.Value] = (),
) -> TensorFunc:
    """The function on tensors that calls a TensorIR function, whose last parameters are the results.

    Static shapes: it has a body, so that stock tools run it. Symbolic: it is a declaration.
    """
    type_, base_name = ir.FunctionType.get(list(inputs), [r.mlir for r in results]), f"{callee}.call"
    for existing in _suffixed_functions(module, base_name):
        if existing.kind == encoding.CALL_TIR and existing.callee == callee and known_type(existing) == type_:
            return existing
    adapter = _function(module, base_name, inputs, [r.mlir for r in results], private=True)
    attrs.put(adapter, encoding.KIND, encoding.CALL_TIR)
    attrs.put(adapter, encoding.CALLEE, callee)
    if not any(r.is_symbolic for r in results):
        _adapter_body(adapter, callee, inputs, results)
    return TensorFunc(adapter)


def _adapter_body(op: ir.Operation, callee: str, inputs: Sequence[ir.Type], results: Sequence[TensorType]) -> None:
    from mlir.dialects import bufferization

    body = op.regions[0].blocks.append(*inputs)
    with ir.InsertionPoint(body):
        read = [bufferization.to_buffer(memref_of(v.type), v, read_only=True) for v in body.arguments]
        outputs = [memref.alloc(memref_of(r.mlir), [], []) for r in results]
        param_types = function_type(parent_op(op), callee).inputs
        passed = [_as_parameter(v, t) for v, t in zip([*read, *outputs], param_types, strict=True)]
        func.CallOp([], ir.FlatSymbolRefAttr.get(callee), passed)
        out = [
            bufferization.to_tensor(r.mlir, m, restrict=True, writable=True)
            for r, m in zip(results, outputs, strict=True)
        ]
        ir.Operation.create("func.return", operands=out)


def function_type(module: ir.Operation, name: str) -> ir.FunctionType:
    """The type of a function of a module. Errors: KeyError."""
    return known_type(TensorFunc(symbol_table(module)[name]))


def is_exact(node: Node) -> bool:
    """Whether the types of a call are those of the program's parameters; not of a program for any size."""
    callee = node.callee
    root = parent_op(parent_op(node.op))
    param_types = function_type(root, callee.callee).inputs if callee is not None else []
    passed_types = [memref_of(v.type) for v in (*node.inputs, *node.results)]
    return len(param_types) == len(passed_types) and all(w == g for w, g in zip(param_types, passed_types, strict=True))


def _as_parameter(value: ir.Value, type_: ir.Type) -> ir.Value:
    """A buffer as a parameter of a function for any sizes."""
    return value if value.type == type_ else memref.cast(type_, value)


def memref_of(type_: ir.Type) -> ir.MemRefType:
    """The row-major memref type of a tensor type."""
    ranked = ir.RankedTensorType(type_)
    return ir.MemRefType.get(list(ranked.shape), ranked.element_type)


def declare_packed(module: ir.Module, name: str, inputs: Sequence[ir.Type], results: Sequence[ir.Type]) -> TensorFunc:
    """The function on tensors that stands for a registered function of Python or C."""
    key = encoding.PACKED, name, None, ir.FunctionType.get(list(inputs), list(results))
    contents = _contents(module)
    if key not in contents:
        contents[key] = declaration = _function(module, name, inputs, results, private=True)
        attrs.put(declaration, encoding.KIND, encoding.PACKED)
        attrs.put(declaration, encoding.CALLEE, name)
    return TensorFunc(contents[key])


def known_type(owner: TensorFunc) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(owner.op.attributes["function_type"]).value)


def fresh_symbol(module: ir.Module, name: str) -> str:
    """`name`, or with the first free suffix `_1`, `_2`, ..."""
    return free_name(name, symbol_table(module.operation))


def _suffixed_functions(module: ir.Module, name: str) -> Iterator[TensorFunc]:
    """The functions on tensors called `name`, `name_1`, `name_2`, ..., up to the first name that is free."""
    table, numbered = symbol_table(module.operation), name
    for number in count(1):
        if numbered not in table:
            return
        if is_tensor_func(op := table[numbered].operation):
            yield TensorFunc(op)
        numbered = f"{name}_{number}"


def _function(
    module: ir.Module, name: str, inputs: Sequence[ir.Type], results: Sequence[ir.Type], private: bool
) -> ir.Operation:
    with ir.InsertionPoint(module.body):
        func_op = create.declare(fresh_symbol(module, name), inputs, results)
    if not private:
        del func_op.attributes["sym_visibility"]
    return func_op


def declare_private(
    module: ir.Module, name: str, inputs: Sequence[ir.Type], results: Sequence[ir.Type]
) -> ir.Operation:
    """A private function without a body; a name that is taken is numbered."""
    return _function(module, name, inputs, results, private=True)


def replace_node(node: Node, values: Sequence[ir.Value]) -> None:
    """Replace the results of a node by values, and erase it."""
    for old, new in zip(node.results, values, strict=True):
        old.replace_all_uses_with(new)
    node.op.erase()


def copy_op(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> ir.Operation:
    """A copy of an op at the insertion point, which reads the copies of what the op reads; `copies` gets its results.

    What has no copy yet is copied before it: destinations of linalg ops, their sizes, and constants.
    """
    for value in op.operands:
        if value not in copies:
            copy_op(ir.OpResult(value).owner.operation, copies)
    copy = op.clone().operation
    for number, value in enumerate(op.operands):
        copy.operands[number] = copies[value]
    copies.update(zip(op.results, copy.results, strict=True))
    return copy
