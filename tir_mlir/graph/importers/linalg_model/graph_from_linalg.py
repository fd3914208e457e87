"""A function of linalg ops on tensors as a graph: a TensorIR function for each op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.constants.dense import splat_of
from tir_mlir.dialect.diagnostics import GraphError, LinalgError, TirError, VerifyError
from tir_mlir.dialect.graph import TensorType, free_name
from tir_mlir.dialect.ir import Func, attrs, direct_ops, dtypes, enter_context, funcs, parents
from tir_mlir.dialect.ir.lowering_op_views import (
    AssertOp,
    EmptyOp,
    FillOp,
    TensorCastOp,
    TensorDimOp,
    TensorFromElementsOp,
    TensorRegroupOp,
)
from tir_mlir.dialect.ir.op_views import ApplyOp, ConstantOp, isa
from tir_mlir.dialect.ir.walk import views_in
from tir_mlir.dialect.symbolic import from_affine, parse, size_of
from tir_mlir.extensions import implement
from tir_mlir.graph.builder import GraphBuilder, Value, value_list
from tir_mlir.graph.callee_types import result_types
from tir_mlir.graph.graph import Graph
from tir_mlir.passes import linalg as passes
from tir_mlir.passes.linalg.from_linalg import NameOfLocation
from tir_mlir.passes.linalg.prepare import constant_array, rewrite_tensor_reshapes
from tir_mlir.script.linalg import checked_text, source_names
from tir_mlir.script.mlir_text import add_missing_attributes, locate_error, parse_mlir
from tir_mlir.script.module import IRModule, PrimFunc

_ON_TENSORS = ("tensor.extract_slice", "tensor.insert_slice", "tensor.pad", "tensor.concat")
"""The ops beside those of linalg that become TensorIR functions."""
_NAMES = ("n", "m", "k", "l", "p", "q")


@implement(Graph.from_linalg)
def graph_from_linalg(source: str, func: str | None = None) -> Graph:
    """A graph of a function on tensors. source: MLIR text, or the path of a `.mlir` file; func: its name.

        %w = arith.constant dense<...>                              w = weight
        %f = linalg.fill ins(%zero) outs(%e)                  ->    lv = R.call_tir(cls.matmul, (x, w))
        %1 = linalg.matmul ins(%x, %w) outs(%f)                     lv1 = R.reshape(lv, ...)
        %2 = tensor.expand_shape %1 ...

    Constant tensors become weights; one number everywhere, and fills, are part of the op that reads them. Dynamic sizes
    of inputs get the names n, m, ... Errors: ScriptError with the line for what is not supported.
    """
    text, lines = checked_text(source)
    with enter_context():
        try:
            return graph_of_module(parse_mlir(text, lines, trusted=True), func, source_names(lines.lines))
        except VerifyError as error:
            raise locate_error(error.message, error.location, lines) from None


def graph_of_module(module: ir.Module, func: str | None = None, written: NameOfLocation = lambda _: None) -> Graph:
    """The graph of a function of a module, which is rewritten. written: the name of a value in the text, by location.

    Errors: LinalgError, GraphError.
    """
    return _LinalgImporter(module, _select_function(module, func), written).run()


def _select_function(module: ir.Module, name: str | None) -> Func:
    functions = {f.name: f for f in funcs(module)}
    if name is None and len(functions) > 1 and "main" not in functions:
        raise GraphError(f"the text has the functions {', '.join(functions)}; fix: name one of them, func=...")
    func_name = name or ("main" if "main" in functions else next(iter(functions), "main"))
    if func_name not in functions:
        raise GraphError(f"the text has no function {func_name}; it has {', '.join(functions) or 'none'}")
    return functions[func_name]


class _LinalgImporter:
    """The state of one import. values: of the tensors so far."""

    def __init__(self, module: ir.Module, func: Func, written: NameOfLocation):
        self.module, self.func, self.written = module, func, written
        self.builder = GraphBuilder("main" if func.name == "main" else func.name)
        self.values: dict[ir.Value, Value] = {}

    def run(self) -> Graph:
        if len(self.func.op.regions[0].blocks) != 1:
            raise LinalgError(f"function {self.func.name} has several basic blocks", self.func.op.location)
        rewrite_tensor_reshapes(self.module)
        self._inputs()
        ops = direct_ops(self.func.op)
        for op in ops[:-1]:
            self._op(op)
        self.builder.output(*(self._value(v, ops[-1]) for v in ops[-1].operands))
        return self.builder.finish()

    def _inputs(self) -> None:
        names = iter([*_NAMES, *(f"n{i}" for i in range(1000))])
        for number, arg in enumerate(self.func.args):
            if not isinstance(arg.type, ir.RankedTensorType):
                what = f"input {number} is a {arg.type}; a graph has tensors of known rank"
                raise LinalgError(what, self.func.op.location)
            shape = [next(names) if arg.type.is_dynamic_dim(d) else s for d, s in enumerate(arg.type.shape)]
            name = self.written(arg.location) or f"arg{number}"
            self.values[arg] = self.builder.input(name, tuple(shape), dtypes.to_name(arg.type.element_type))

    def _value(self, value: ir.Value, op: ir.Operation) -> Value:
        """The value of a tensor; a constant becomes a weight where it is first read."""
        if value not in self.values:
            owner = value.owner
            if isinstance(owner, ir.Block) or not isa(owner, ConstantOp):
                producer = "an argument" if isinstance(owner, ir.Block) else owner.name
                raise LinalgError(
                    f"{op.name} reads what {producer} makes, which is not a tensor of a graph", op.location
                )
            self.values[value] = self._weight(owner.operation)
        return self.values[value]

    def _weight(self, op: ir.Operation) -> Value:
        type_ = ir.RankedTensorType(op.results[0].type)
        array = constant_array(self.module, op.attributes["value"].maybe_downcast(), type_, op.location)
        name = free_name(self._name(op, "weight"), self.builder.weights)
        return self.builder.weight(name, array, dtypes.to_name(type_.element_type))

    def _name(self, op: ir.Operation, default: str) -> str:
        return self.written(op.location) or default

    # --- ops ----------------------------------------------------------------------------------------------------------

    def _op(self, op: ir.Operation) -> None:
        if is_glue(op):
            return
        if isa(op, TensorRegroupOp):
            self._reshape(op)
        elif isa(op, TensorCastOp):
            self._cast(op)
        else:
            self._call(op)

    def _reshape(self, op: ir.Operation) -> None:
        type_ = ir.RankedTensorType(op.results[0].type)
        unknown = [d for d in range(type_.rank) if type_.is_dynamic_dim(d)]
        if len(unknown) > 1:
            raise LinalgError(f"{op.name} to a shape with several dynamic sizes is not supported", op.location)
        shape = tuple(-1 if d in unknown else s for d, s in enumerate(type_.shape))
        source = self._value(TensorRegroupOp(op).source, op)
        self.values[op.results[0]] = self.builder.op("reshape", source, shape=shape, name_hint=self._name(op, "lv"))

    def _cast(self, op: ir.Operation) -> None:
        source, type_ = self._value(TensorCastOp(op).source, op), ir.RankedTensorType(op.results[0].type)
        for d, size in enumerate(type_.shape):
            if not type_.is_dynamic_dim(d) and source.shape[d] != size:
                raise LinalgError(
                    f"a size that is {source.shape[d]} is cast to {size}; fix: an input of it", op.location
                )
        self.values[op.results[0]] = source

    def _call(self, op: ir.Operation) -> None:
        """A call of a TensorIR function that is made of an op, with the fills and sizes that it reads."""
        if not op.name.startswith("linalg.") and op.name not in _ON_TENSORS:
            way = "; fix: an op of linalg, or mlir-opt passes that make one of it"
            raise LinalgError(f"{op.name} has no form in a graph{way}", op.location)
        module, inputs = outline_op(op)
        if any(not isinstance(r.type, ir.RankedTensorType) for r in op.results):
            raise LinalgError(f"{op.name} makes no tensor", op.location)
        operands = [self._value(v, op) for v in inputs]
        args = [operands[number] for number in share_sizes(module, [v.shape for v in operands])]
        passes.from_linalg(module)
        add_missing_attributes(module)
        function = IRModule(module).prim_funcs["f"]
        types = self._types(op, function, [v.type for v in args])
        name = op.name.partition(".")[2].replace(".", "_")
        results = [(t.shape, t.dtype) for t in types]
        outputs = self.builder.call_tir(function, args, results, name=name, name_hint=self._name(op, "lv"))
        self.values |= dict(zip(op.results, value_list(outputs), strict=True))

    def _types(self, op: ir.Operation, function: PrimFunc, arg_types: Sequence[TensorType]) -> list[TensorType]:
        params = [_parameter(function.func, n) for n in range(len(function.func.args))]
        param_types, results = params[: len(arg_types)], params[len(arg_types) :]
        try:
            return result_types(op.name, param_types, results, arg_types)
        except TirError as error:
            raise LinalgError(str(error), op.location) from None


def _parameter(func: Func, number: int) -> TensorType:
    """The type of a parameter of a TensorIR function, in its own sizes."""
    type_, facts = ir.MemRefType(func.args[number].type), attrs.argument_attributes(func.op, number)
    shape: list[Any] = list(type_.shape)
    if attrs.SHAPE in facts:
        names = [parse(name) for name in facts[attrs.SYMS]]
        shape = [size_of(from_affine(expr, (), names)) for expr in facts[attrs.SHAPE].results]
    return TensorType(tuple(shape), dtypes.to_name(type_.element_type))


_GLUE = (EmptyOp, FillOp, TensorDimOp, TensorFromElementsOp, AssertOp, ApplyOp)


def is_glue(op: ir.Operation) -> bool:
    """Whether an op is part of the ops that read it: constants, fills, sizes, numbers, assertions about these."""
    if isa(op, *_GLUE):
        return True
    return op.name.startswith("arith.") and not len(op.regions) and (isa(op, ConstantOp) or not _on_tensors(op))


def outline_op(op: ir.Operation) -> tuple[ir.Module, list[ir.Value]]:
    """A module with a function `f` that does what an op does, and the tensors of the program that are its inputs.

    %f = linalg.fill ins(%zero) outs(%e)                func.func @f(%x, %w) -> tensor<..> {
    %1 = linalg.matmul ins(%x, %w) outs(%f)      -->      %f = linalg.fill ...; %1 = linalg.matmul ...; return %1
    """
    sliced: list[ir.Operation] = []
    inputs: list[ir.Value] = []
    _collect(op, sliced, inputs)
    module = ir.Module.create(op.location)
    types = ir.FunctionType.get([v.type for v in inputs], [r.type for r in op.results])
    with ir.InsertionPoint(module.body), op.location:
        facts = {"sym_name": ir.StringAttr.get("f"), "function_type": ir.TypeAttr.get(types)}
        func_op = ir.Operation.create("func.func", attributes=facts, regions=1)
    body = func_op.regions[0].blocks.append(*types.inputs)
    copies: dict[ir.Value, ir.Value] = dict(zip(inputs, body.arguments, strict=True))
    with ir.InsertionPoint(body), op.location:
        for original in sliced:
            copy = original.clone().operation
            _remap(copy, copies)
            copies |= dict(zip(original.results, copy.results, strict=True))
        ir.Operation.create("func.return", operands=[copies[r] for r in op.results])
    return module, inputs


def share_sizes(module: ir.Module, shapes: Sequence[Sequence[int | str]]) -> list[int]:
    """Read sizes from the inputs that `f` reads anyway: one that is there for its size only is dropped. The others are
    marked as not to be overwritten: what `f` updates is copied.

    shapes: of the inputs, in the sizes of the program. Returns the numbers of the inputs that are left.
    """
    func = direct_ops(module.operation)[0]
    body = func.regions[0].blocks[0]
    args: list[ir.Value] = list(body.arguments)
    read = [n for n, arg in enumerate(args) if any(not isa(use.owner, TensorDimOp) for use in arg.uses)]
    for dim_op in [d for d in views_in(func, TensorDimOp) if d.source in args]:
        op, axis = dim_op.op, dim_op.axis.owner
        if isinstance(axis, ir.Block) or not isa(axis, ConstantOp):
            continue
        size = shapes[args.index(dim_op.source)][ir.IntegerAttr(axis.attributes["value"]).value]
        positions = [(n, d) for n in read for d, extent in enumerate(shapes[n]) if extent == size]
        if positions:
            with ir.InsertionPoint(op), op.location:
                number, dim = positions[0]
                dim_op.source, dim_op.axis = args[number], arith.constant(ir.IndexType.get(), dim)
    live = [n for n, arg in enumerate(args) if any(True for _ in arg.uses)]
    for number in reversed([n for n in range(len(args)) if n not in live]):
        body.erase_argument(number)
    results = ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value).results
    func.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([a.type for a in body.arguments], results))
    fixed = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
    func.attributes["arg_attrs"] = ir.ArrayAttr.get([fixed] * len(live))
    return live


def _collect(op: ir.Operation, sliced: list[ir.Operation], inputs: list[ir.Value]) -> None:
    """Append an op to `sliced`, after the glue that it reads, also in its body; and the tensors from elsewhere."""
    for value in _read(op):
        owner = value.owner
        if not isinstance(owner, ir.Block) and is_glue(owner.operation) and not is_weight(value):
            if owner.operation not in sliced:
                _collect(owner.operation, sliced, inputs)
        elif value not in inputs:
            inputs.append(value)
    sliced.append(op)


def is_weight(value: ir.Value) -> bool:
    """Whether a value is a constant tensor of more than one number."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not isa(owner, ConstantOp) or not isinstance(value.type, ir.RankedTensorType):
        return False
    return splat_of(owner.attributes["value"]) is None


def _read(op: ir.Operation) -> list[ir.Value]:
    """The values from outside of an op that it and its body read, in order."""
    result: list[ir.Value] = list(op.operands)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                result += [v for v in _read(inner.operation) if not _is_inside(v, op)]
    return list(dict.fromkeys(result))


def _is_inside(value: ir.Value, op: ir.Operation) -> bool:
    owner = value.owner
    parent = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
    return (parent == op and isinstance(owner, ir.Block)) or op in parents(parent)


def _remap(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> None:
    for number, operand in enumerate(op.operands):
        if operand in copies:
            op.operands[number] = copies[operand]
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                _remap(inner.operation, copies)


def _on_tensors(op: ir.Operation) -> bool:
    return any(isinstance(v.type, ir.RankedTensorType) for v in (*op.operands, *op.results))
