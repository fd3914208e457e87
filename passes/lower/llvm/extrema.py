"""Lower maxima and minima of floats to LLVM intrinsics."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ops import SCALAR_FUNCTIONS
from tir_mlir.passes.lower.registry import Content, lowering

_FLOAT_OPS = [op for name in ("max", "min") if (op := SCALAR_FUNCTIONS[name].on_floats)]
_NAMES = {op.name: f"llvm.intr.{op.llvm}" for op in _FLOAT_OPS}


@lowering("tir-lower-extrema", "Lower float maxima and minima to LLVM intrinsics", works_on=Content(ops={*_NAMES}))
def run(module: ir.Module) -> None:
    """Lower a maximum to one intrinsic, which uses each operand once.

        %m = arith.maximumf %x, %y : f32   -->   %m = llvm.intr.maximum(%x, %y) : f32

    `arith-expand` emits a compare and select with two uses of each value, which takes LLVM too long in a long chain
    (see `keep_rolled`) and hides the maximum. max(+0, -0) is +0, as in `arith`; for vectors of f32 or f64 it is one of
    the two, as with `arith-expand`, to which other vectors are left.
    """
    for op in walk.ops(module.operation):
        name = _NAMES.get(op.name)
        if name is None or (flags := _flags(op)) is None:
            continue
        with ir.InsertionPoint(op), op.location:
            intrinsic = ir.Operation.create(name, [op.results[0].type], list(op.operands), flags)
        op.results[0].replace_all_uses_with(intrinsic.results[0])
        op.erase()


def _flags(op: ir.Operation) -> dict[str, ir.Attribute] | None:
    """The attributes of the intrinsic; None if this type has none."""
    type_ = op.results[0].type
    numbers = ["nnan"] if "nnan" in str(op.attributes.get("fastmath")) else []  # see `rounded_casts`
    if isinstance(type_, ir.VectorType) and isinstance(type_.element_type, ir.F32Type | ir.F64Type):
        numbers.append("nsz")
    elif not isinstance(type_, ir.F16Type | ir.F32Type | ir.F64Type):
        return None
    return {"fastmathFlags": ir.Attribute.parse(f"#llvm.fastmath<{', '.join(numbers)}>")} if numbers else {}
