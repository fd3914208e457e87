"""`tvm.relax.transform`: passes over graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from mlir import ir

from tir_mlir.compat.relax.passes import Pass, PassInfo
from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding, tensor_func
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.callee_types import substitute_size
from tir_mlir.graph.expressions import (
    BlockBuilder,
    Call,
    Constant,
    Expr,
    Function,
    Op,
    PyExprMutator,
    ShapeExpr,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    Var,
    const,
    remove_all_unused,
)
from tir_mlir.graph.expressions.read_graph import CALL_TIR
from tir_mlir.graph.expressions.struct_info import SIZES
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OPERATORS
from tir_mlir.graph.rewrite import group_of
from tir_mlir.graph.transforms.clean import erase_dead_nodes
from tir_mlir.graph.transforms.fuse_ops import fuse_ops
from tir_mlir.graph.transforms.fuse_tir import fuse_tir
from tir_mlir.script.module import IRModule, erase_uncalled
from tir_mlir.te import Expr as Size

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tir_mlir.compat.ndarray import NDArray

Array: TypeAlias = "NDArray | ArrayLike | Constant"
Legalizer = Callable[[BlockBuilder, Call], Expr]
Attribute: TypeAlias = "Size | int | float | str | Sequence[Attribute] | None"


class _ModuleRewriter(PyExprMutator):
    """Rewrites all graphs of a module."""

    def __init__(self, mod: IRModule):
        super().__init__(mod)
        self.mod = mod

    def transform(self) -> IRModule:
        for name, func in self.mod.functions.items():
            if isinstance(func, Function):
                self.builder_.update_func(name, self.visit_expr(remove_all_unused(func)))
        return self.builder_.get()


class _Legalize(_ModuleRewriter):
    """Calls of operators become what a function for their name makes of them."""

    def __init__(self, mod: IRModule, op_map: Mapping[Op, Legalizer]):
        super().__init__(mod)
        self.op_map = op_map

    def visit_call_(self, call: Call) -> Expr:
        call = self.visit_expr_post_order(call)
        if isinstance(call.op, Op) and call.op in self.op_map:
            return self.op_map[call.op](self.builder_, call)
        if isinstance(call.op, Op) and call.op.short in OPERATORS:
            name = call.op.short
            hint = name.rpartition(".")[2]
            operands = [item for operand in call.operands for item in _items(operand)]
            return self.builder_.call_te(OPERATORS[name].te, *operands, primfunc_name_hint=hint, **call.all_attrs)
        return call


def _items(operand: Expr) -> list[Expr]:
    """The tensors of an operand: te functions take those of `concat((x, y))` and `einsum((x, y), ...)` one by one."""
    return list(operand) if isinstance(operand.struct_info, TupleStructInfo) else [operand]


def LegalizeOps(op_map: Mapping[str, Legalizer] | None = None, enable_warning: bool = False) -> Pass:
    """Each operator becomes a call of a TensorIR function.

        lv = R.nn.relu(x)  ->  lv = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((1, 128), dtype="float32"))

    op_map: functions `(bb, call) -> value` by the name of an operator, instead of the table's:
    `{"relax.nn.relu": lambda bb, call: bb.call_te(topi.nn.relu, call.args[0])}`. Errors: GraphError.
    """
    legalizers = {}
    for name, function in (op_map or {}).items():
        if not callable(function):
            raise GraphError(f"op_map has functions (bb, call) -> value; for {name} it has {short_repr(function)}")
        legalizers[name if isinstance(name, Op) else Op.get(name)] = function
    return Pass(lambda mod, _: _Legalize(mod, legalizers).transform(), PassInfo("LegalizeOps"))


def DeadCodeElimination(entry_functions: object = None) -> Pass:
    """Bindings that nothing uses are removed."""
    return Pass(lambda mod, _: remove_all_unused(mod), PassInfo("DeadCodeElimination"))


def DecomposeOpsForInference(func_name: str | None = None) -> Pass:
    """Nothing to do: `nn.batch_norm` is that of inference."""
    return Pass(lambda mod, _: mod, PassInfo("DecomposeOpsForInference"))


def Normalize() -> Pass:
    """Nothing to do: operands of a module are variables and constants already."""
    return Pass(lambda mod, _: mod, PassInfo("Normalize"))


def CanonicalizeBindings() -> Pass:
    """Nothing to do: a module does not bind variables to other ones."""
    return Pass(lambda mod, _: mod, PassInfo("CanonicalizeBindings"))


def BindParams(func_name: str, params: Mapping[str, Array] | Mapping[Var, Array]) -> Pass:
    """Parameters of a function become constants: `BindParams("main", {"w": array})`.

    The keys are names or variables of the function. Errors: GraphError for an array that does not fit.
    """
    named = {k.name_hint if isinstance(k, Var) else str(k): v for k, v in params.items()}

    def run(mod: IRModule, _: object) -> IRModule:
        if func_name not in mod.graphs:
            raise GraphError(f"the module has no graph {short_repr(func_name)}; it has {', '.join(mod.graphs)}")
        mod.update_func(func_name, _bind_params(mod.graphs[func_name], named))
        return mod

    return Pass(run, PassInfo("BindParams"))


def BindSymbolicVars(binding_map: Mapping[str, int] | Mapping[Size, int], func_name: str | None = None) -> Pass:
    """Named sizes of a function, or of all, become numbers: `BindSymbolicVars({"n": 3})`.

    The keys are names or variables. Errors: GraphError for a size that no function has, and for what is not a number.
    """
    numbers = {str(getattr(key, "name", key)): value for key, value in binding_map.items()}
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise GraphError(f"BindSymbolicVars gives {name} a number, not {short_repr(value)}")

    def run(mod: IRModule, _: object) -> IRModule:
        graphs = mod.graphs
        if func_name is not None and func_name not in graphs:
            raise GraphError(f"the module has no graph {short_repr(func_name)}; it has {', '.join(graphs)}")
        named = {name: func for name, func in graphs.items() if func_name in (None, name)}
        sizes = {str(size) for func in named.values() for p in func.params for size in p.shape}
        if missing := [name for name in numbers if name not in sizes]:
            raise GraphError(f"no parameter has the size {missing[0]}; there are {', '.join(sorted(sizes)) or 'none'}")
        mod.update({name: _Substitute({}, numbers).visit_expr(func) for name, func in named.items()})
        return mod

    return Pass(run, PassInfo("BindSymbolicVars"))


def _bind_params(func: Function, arrays: Mapping[str, Array]) -> Function:
    params = {p.name_hint: p for p in func.params}
    if missing := [name for name in arrays if name not in params]:
        raise GraphError(f"{func.name} has no parameter {missing[0]}; it has {', '.join(params)}")
    constants = {params[name]: _fitting(params[name], value) for name, value in arrays.items()}
    bound_func = _Substitute(constants, _sizes(constants)).visit_expr(func)
    gone = {p.name_hint for p in constants}
    bound_func.params = [p for p in bound_func.params if p.name_hint not in gone]
    return bound_func


def _sizes(constants: Mapping[Var, Constant]) -> dict[str, int]:
    """The named sizes that the arrays give. Errors: GraphError for two values of one."""
    sizes: dict[str, int] = {}
    for param, constant in constants.items():
        for size, number in zip(param.shape, constant.array.shape, strict=True):
            name = str(size)
            if not isinstance(size, int) and name.isidentifier() and sizes.setdefault(name, number) != number:
                raise GraphError(f"{name} is {sizes[name]}, and {number} in the array of {param.name_hint}")
    return sizes


class _Substitute(PyExprMutator):
    """Constants instead of variables, and numbers instead of sizes."""

    def __init__(self, constants: Mapping[Var, Constant], sizes: Mapping[str, int]):
        super().__init__()
        self.constants, self.sizes = constants, sizes

    def visit_var_def_(self, var: Var) -> Var:
        info = self._info(var.struct_info)
        return var if info == var.struct_info else type(var)(var.name_hint, info)

    visit_dataflow_var_def_ = visit_var_def_

    def visit_call_(self, call: Call) -> Expr:
        visited = self.visit_expr_post_order(call)
        if visited is call and not self.sizes:
            return call
        attrs = {k: self._attribute(v) for k, v in visited.attrs.items()}
        result = Call(visited.op, visited.args, attrs, [self._info(i) for i in visited.sinfo_args])
        if isinstance(visited.op, str):
            result.struct_info = self._info(call.struct_info)  # of functions that only the module knows
        return result

    def visit_shape_expr_(self, op: ShapeExpr) -> ShapeExpr:
        return ShapeExpr(map(self._size, op))

    def visit_var_(self, op: Var) -> Expr:
        return self.constants.get(op) or self.get_var_remap(op)

    def _info(self, info: StructInfo) -> StructInfo:
        if isinstance(info, TupleStructInfo):
            return TupleStructInfo([self._info(f) for f in info.fields])
        if not isinstance(info, TensorStructInfo) or info.shape is None:
            return info
        return TensorStructInfo(tuple(map(self._size, info.shape)), info.dtype)

    def _attribute(self, value: Attribute) -> Attribute:
        if isinstance(value, (tuple, list)):
            return tuple(self._attribute(v) for v in value)
        return self._size(value) if isinstance(value, Size) else value

    def _size(self, size: int | Size) -> int | Size:
        return SIZES.expression(substitute_size(SIZES.text(size), self.sizes)) if isinstance(size, Size) else size


def _fitting(param: Var, value: Array) -> Constant:
    constant = value if isinstance(value, Constant) else const(value)
    info = param.struct_info
    if not isinstance(info, TensorStructInfo) or not info.could_be(constant.struct_info):
        raise GraphError(f"parameter {param.name_hint} is {info}; the array is {constant.struct_info}")
    return constant


def AnnotateTIROpPattern() -> Pass:
    """Nothing to do: which programs can be fused is read off the programs themselves."""
    return Pass(lambda mod, _: mod, PassInfo("AnnotateTIROpPattern"))


def FuseOps(fuse_opt_level: int = -1) -> Pass:
    """Programs that are computed together become a private graph. Operators must be programs already (`LegalizeOps`).

    lv = R.call_tir(cls.dense, (x, w), ...)
    gv = R.call_tir(cls.relu, (lv,), ...)      ->  gv = cls.fused_dense_relu(x, w)
    """
    return Pass(lambda mod, _: _each_graph(mod, fuse_ops), PassInfo("FuseOps"))


def FuseTIR() -> Pass:
    """Private graphs of programs become one program each. Errors: GraphError for one with something else.

    gv = cls.fused_dense_relu(x, w)  ->  gv = R.call_tir(cls.fused_dense_relu, (x, w), ...)
    """
    return Pass(lambda mod, _: _each_graph(_check_legalized(mod), fuse_tir), PassInfo("FuseTIR"))


def _check_legalized(mod: IRModule) -> IRModule:
    """Errors: GraphError for a private graph with something else than calls of programs."""
    for name, func in mod.graphs.items():
        for binding in func.body.bindings if func.attrs.get("Primitive") else []:
            value = binding.value
            if isinstance(value, Call) and value.op != CALL_TIR:
                raise GraphError(f"{name} has {value!r}, which is not a program; fix: LegalizeOps before FuseTIR")
    return mod


def _each_graph(mod: IRModule, transform: Callable[[Graph], Graph]) -> IRModule:
    for name in [n for n, f in mod.graphs.items() if not f.attrs.get("Primitive")]:
        mod = transform(Graph(mod, name=name)).module
    return mod


def FoldConstant() -> Pass:
    """Calls of operators and programs on constants become constants.

        lv = R.add(R.const([1.0, 2.0]), R.const([3.0, 4.0]))
        gv = R.multiply(x, lv)                                ->  gv = R.multiply(x, R.const([4.0, 6.0]))

    Tensors that operators make of nothing, such as R.zeros, remain where something else reads them. So do calls of
    registered functions, values of named sizes, and bfloat16, of which NumPy has no arrays.
    """
    return Pass(lambda mod, _: _folded_module(mod), PassInfo("FoldConstant"))


def _folded_module(mod: IRModule) -> IRModule:
    for name in mod.graphs:
        with enter_context():
            func = tensor_func(mod.mlir, name)
            nodes = _fixed_nodes(func)
            values = _read_outside(nodes)
        if values:
            arrays = _evaluate_constants(mod, func, nodes, values)
            with enter_context():
                for value, array in zip(values, arrays, strict=True):
                    node = Node(ir.OpResult(value).owner)
                    with ir.InsertionPoint(node.op):
                        constant = create.constant(array, func.name_of(value))
                    value.replace_all_uses_with(constant.results[0])
                erase_dead_nodes(func)
                erase_uncalled(mod.mlir)
    return mod


def _fixed_nodes(func: TensorFunc) -> list[Node]:
    """The constants, and the nodes that depend on them only, in order."""
    fixed: dict[ir.Value, None] = {}
    nodes = []
    for node in func.nodes:
        kinds = ("constant", encoding.OPERATOR, encoding.CALL_TIR)
        if node.kind in kinds and all(v in fixed for v in node.inputs) and all(map(_has_array, node.types)):
            fixed |= dict.fromkeys(node.results)
            nodes.append(node)
    return nodes


def _has_array(type_: TensorType) -> bool:
    """Whether a value of a type is an array of NumPy: its sizes are numbers."""
    return not type_.is_symbolic and type_.dtype != "bfloat16"


def _read_outside(fixed: list[Node]) -> list[ir.Value]:
    """The values of these nodes that others read; not of constants, nor of operators that make tensors of nothing."""
    ops = {node.op for node in fixed}
    computed = [node for node in fixed if node.inputs or node.kind == encoding.CALL_TIR]
    return [v for node in computed for v in node.results if any(use.owner.operation not in ops for use in v.uses)]


def _evaluate_constants(mod: IRModule, func: TensorFunc, nodes: list[Node], values: list[ir.Value]) -> list[np.ndarray]:
    """The arrays that these values of nodes are, of a graph of their own that is built and run."""
    with enter_context():
        alone = group_of(mod.mlir, func, "constants", nodes, {}, values)
        attrs.put(alone.op, encoding.KIND, encoding.GRAPH)
        name = alone.name
    arrays = Graph(Function.of_module(mod, name).isolated_module, name=name).build_model(cache=False)()
    with enter_context():
        alone.op.erase()
    return list(arrays) if isinstance(arrays, tuple) else [arrays]
