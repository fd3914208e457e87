"""`relax.transform.FoldConstant`: what depends on constants only is computed when the module is rewritten."""

from __future__ import annotations

from typing import Any

from tir_mlir.compat.relax.passes import Pass, PassInfo
from tir_mlir.graph.expressions import (
    Call,
    Constant,
    DataflowBlock,
    Expr,
    Function,
    Op,
    PyExprMutator,
    SeqExpr,
    TensorStructInfo,
    Tuple,
    TupleGetItem,
    TupleStructInfo,
    Var,
    VarBinding,
    remove_all_unused,
)
from tir_mlir.graph.expressions.pattern_rewriting import variables
from tir_mlir.graph.expressions.read_graph import CALL_TIR
from tir_mlir.graph.operators import OPERATORS
from tir_mlir.script.module import IRModule


def FoldConstant() -> Pass:  # noqa: N802
    """Calls of operators and programs on constants become constants.

        lv = R.add(R.const([1.0, 2.0]), R.const([3.0, 4.0]))
        gv = R.multiply(x, lv)                                ->  gv = R.multiply(x, R.const([4.0, 6.0]))

    Tensors that operators make of nothing, such as R.zeros, stay where something else reads them. So do calls of
    registered functions, values of named sizes, and bfloat16, of which NumPy has no arrays.
    """
    return Pass(lambda mod, _: _folded_module(mod), PassInfo("FoldConstant"))


def _folded_module(mod: IRModule) -> IRModule:
    folded = [(name, func, _folded(func)) for name, func in mod.graphs.items()]
    if changed := {name: new for name, old, new in folded if new is not old}:
        mod.update(changed)
    return mod


def _folded(func: Function) -> Function:
    """The function with constants for what depends on constants only."""
    fixed = _fixed_bindings(func)
    results = [var for var in _read_outside(func, fixed) if not _is_made_of_nothing(fixed[var])]
    if not results:
        return func
    bindings = [VarBinding(var, value) for var, value in fixed.items()]
    alone = Function([], SeqExpr([DataflowBlock(bindings)], Tuple(results)), home=func.home)
    alone.name = "constants"
    arrays = remove_all_unused(alone).build_model(cache=False)()
    arrays = arrays if isinstance(arrays, tuple) else (arrays,)
    return remove_all_unused(_Replace(dict(zip(results, map(Constant, arrays), strict=True))).visit_expr(func))


def _fixed_bindings(func: Function) -> dict[Var, Expr]:
    """The values that depend on constants only, in order."""
    fixed: dict[Var, Expr] = {}
    for binding in func.body.bindings:
        if _has_array(binding.var.struct_info) and _is_fixed(binding.value, fixed):
            fixed[binding.var] = binding.value
    return fixed


def _is_fixed(value: Any, fixed: dict[Var, Expr]) -> bool:
    if isinstance(value, (Constant, Var)):
        return isinstance(value, Constant) or value in fixed
    if isinstance(value, Tuple):
        return all(_is_fixed(field, fixed) for field in value.fields)
    if isinstance(value, TupleGetItem):
        return _is_fixed(value.tuple_value, fixed)
    if not isinstance(value, Call):
        return False
    operands = value.args[1:] if value.op == CALL_TIR else value.operands
    is_foldable = value.op == CALL_TIR or (isinstance(value.op, Op) and value.op.short in OPERATORS)
    return is_foldable and all(_is_fixed(operand, fixed) for operand in operands)


def _has_array(info: Any) -> bool:
    """Whether a value of a type is an array of NumPy: its sizes are numbers."""
    if isinstance(info, TupleStructInfo):
        return all(map(_has_array, info.fields))
    return (
        isinstance(info, TensorStructInfo)
        and info.shape is not None
        and info.dtype != "bfloat16"
        and all(isinstance(size, int) for size in info.shape)
    )


def _is_made_of_nothing(value: Expr) -> bool:
    return isinstance(value, Call) and value.op != CALL_TIR and not value.operands


def _read_outside(func: Function, fixed: dict[Var, Expr]) -> list[Var]:
    """The tensors among these values that other bindings, or the result, read; of a tuple its items."""
    others = [b.value for b in func.body.bindings if b.var not in fixed]
    read = dict.fromkeys(v for value in (*others, func.body.body) for v in variables(value))
    return [v for v in fixed if v in read and isinstance(v.struct_info, TensorStructInfo)]


class _Replace(PyExprMutator):
    """Constants for variables."""

    def __init__(self, constants: dict[Var, Constant]):
        super().__init__()
        self.constants = constants

    def visit_var_(self, op: Var) -> Any:
        return self.constants.get(op) or self.get_var_remap(op)
