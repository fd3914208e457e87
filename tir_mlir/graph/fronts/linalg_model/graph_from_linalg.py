"""A function of linalg ops on tensors as a graph: a TensorIR function for each op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, LinalgError, TirError, VerifyError
from tir_mlir.dialect.graph import TensorType, free_name
from tir_mlir.dialect.ir import Func, attrs, direct_ops, dtypes, entered, funcs
from tir_mlir.dialect.symbolic import from_affine, parse, size_of
from tir_mlir.graph.builder import GraphBuilder, Value
from tir_mlir.graph.callee_types import result_types
from tir_mlir.graph.fronts.linalg_model.outline import is_glue, outlined, share_sizes
from tir_mlir.graph.graph import Graph
from tir_mlir.passes import linalg as passes
from tir_mlir.passes.linalg.constant_buffers import dense_array
from tir_mlir.passes.linalg.from_linalg import NameOfLocation
from tir_mlir.passes.linalg.tensor_reshapes import rewrite_tensor_reshapes
from tir_mlir.script.linalg import checked_text, source_names
from tir_mlir.script.mlir_text import add_missing_attributes, relocated
from tir_mlir.script.module import IRModule, PrimFunc

_ON_TENSORS = ("tensor.extract_slice", "tensor.insert_slice", "tensor.pad", "tensor.concat")
"""The ops beside those of linalg that become TensorIR functions."""
_NAMES = ("n", "m", "k", "l", "p", "q")


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
    with entered():
        try:
            return graph_of_module(ir.Module.parse(text), func, source_names(lines.lines))
        except VerifyError as error:
            raise relocated(error.message, error.location, lines) from None


def graph_of_module(module: ir.Module, func: str | None = None, written: NameOfLocation = lambda _: None) -> Graph:
    """The graph of a function of a module, which is rewritten. written: the name of a value in the text, by location.

    Errors: LinalgError, GraphError.
    """
    return _Importer(module, _chosen(module, func), written).run()


def _chosen(module: ir.Module, name: str | None) -> Func:
    known = {f.name: f for f in funcs(module)}
    if name is None and len(known) > 1 and "main" not in known:
        raise GraphError(f"the text has the functions {', '.join(known)}; fix: name one of them, func=...")
    wanted = name or ("main" if "main" in known else next(iter(known), "main"))
    if wanted not in known:
        raise GraphError(f"the text has no function {wanted}; it has {', '.join(known) or 'none'}")
    return known[wanted]


class _Importer:
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
            if isinstance(owner, ir.Block) or owner.name != "arith.constant":
                made = "an argument" if isinstance(owner, ir.Block) else owner.name
                raise LinalgError(f"{op.name} reads what {made} makes, which is no tensor of a graph", op.location)
            self.values[value] = self._weight(owner.operation)
        return self.values[value]

    def _weight(self, op: ir.Operation) -> Value:
        type_ = ir.RankedTensorType(op.results[0].type)
        array = dense_array(self.module, op.attributes["value"].maybe_downcast(), type_, op.location)
        name = free_name(self._name(op, "weight"), self.builder.weights)
        return self.builder.weight(name, array, dtypes.to_name(type_.element_type))

    def _name(self, op: ir.Operation, default: str) -> str:
        return self.written(op.location) or default

    # --- ops ----------------------------------------------------------------------------------------------------------

    def _op(self, op: ir.Operation) -> None:
        if is_glue(op):
            return
        if op.name in ("tensor.expand_shape", "tensor.collapse_shape"):
            self._reshape(op)
        elif op.name == "tensor.cast":
            self._cast(op)
        else:
            self._call(op)

    def _reshape(self, op: ir.Operation) -> None:
        type_ = ir.RankedTensorType(op.results[0].type)
        unknown = [d for d in range(type_.rank) if type_.is_dynamic_dim(d)]
        if len(unknown) > 1:
            raise LinalgError(f"{op.name} to a shape with several dynamic sizes is not supported", op.location)
        shape = tuple(-1 if d in unknown else s for d, s in enumerate(type_.shape))
        source = self._value(op.operands[0], op)
        self.values[op.results[0]] = self.builder.op("reshape", source, shape=shape, name_hint=self._name(op, "lv"))

    def _cast(self, op: ir.Operation) -> None:
        source, type_ = self._value(op.operands[0], op), ir.RankedTensorType(op.results[0].type)
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
        module, inputs = outlined(op)
        if any(not isinstance(r.type, ir.RankedTensorType) for r in op.results):
            raise LinalgError(f"{op.name} makes no tensor", op.location)
        found = [self._value(v, op) for v in inputs]
        given = [found[number] for number in share_sizes(module, [v.shape for v in found])]
        passes.from_linalg(module)
        add_missing_attributes(module)
        function = IRModule(module).prim_funcs["f"]
        types = self._types(op, function, [v.type for v in given])
        name = op.name.partition(".")[2].replace(".", "_")
        results = [(t.shape, t.dtype) for t in types]
        made = self.builder.call_tir(function, given, results, name=name, name_hint=self._name(op, "lv"))
        self.values |= dict(zip(op.results, made if isinstance(made, tuple) else (made,), strict=True))

    def _types(self, op: ir.Operation, function: PrimFunc, given: Sequence[TensorType]) -> list[TensorType]:
        params = [_parameter(function.func, n) for n in range(len(function.func.args))]
        wanted, results = params[: len(given)], params[len(given) :]
        try:
            return result_types(op.name, wanted, results, given)
        except TirError as error:
            raise LinalgError(str(error), op.location) from None


def _parameter(func: Func, number: int) -> TensorType:
    """The type of a parameter of a TensorIR function, in its own sizes."""
    type_, facts = ir.MemRefType(func.args[number].type), attrs.of_argument(func.op, number)
    shape: list[Any] = list(type_.shape)
    if attrs.SHAPE in facts:
        names = [parse(name) for name in facts[attrs.SYMS]]
        shape = [size_of(from_affine(expr, (), names)) for expr in facts[attrs.SHAPE].results]
    return TensorType(tuple(shape), dtypes.to_name(type_.element_type))
