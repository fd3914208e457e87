"""Code for registers of variable length (SVE, RISC-V's vectors): the least length that it is generated for.

With shorter registers the code would compute wrong results, as an instruction then does fewer elements. An exported
function compares the length when it is called, and traps; the C header has the same test as a function.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import llvm

from tir_mlir.dialect.ir.lowering_op_views import LLVMFuncOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.target import Target

_CHECK = "__tir_vectors_fit"
_READ = {"aarch64": "rdvl $0, #1", "riscv64": "csrr $0, vlenb"}
"""The instruction that reads the length in bytes."""
_READ_IN_C = {
    # as numbers: an assembler without these extensions takes them, too
    "aarch64": 'register uint64_t bytes __asm__("x0");\n  __asm__ volatile(".inst 0x04bf5020" : "=r"(bytes));  // rdvl',
    "riscv64": 'uint64_t bytes;\n  __asm__ volatile("csrr %0, 0xc22" : "=r"(bytes));  // vlenb',
}
_FUNCTION = """
llvm.func internal @{name}() {{
  %bytes = llvm.inline_asm has_side_effects "{read}", "=r" : () -> i64
  %needed = llvm.mlir.constant({bytes} : i64) : i64
  %fits = llvm.icmp "uge" %bytes, %needed : i64
  llvm.cond_br %fits, ^done, ^stop
^done:
  llvm.return
^stop:
  "llvm.intr.trap"() : () -> ()
  llvm.unreachable
}}
"""


def promise(lowered: ir.Module, target: Target) -> None:
    """Set the range of `vscale` on every function of a module in the llvm dialect: LLVM keeps fixed vectors of the
    least length in scalable registers. Nothing for CPUs whose registers are fixed."""
    if target.vscale is None:
        return
    limits = ir.Attribute.parse("#llvm.vscale_range<minRange = {} : i32, maxRange = {} : i32>".format(*target.vscale))
    for op in _defined_functions(lowered):
        if "arm_locally_streaming" not in op.attributes:  # the vectors of SME have another length
            op.attributes["vscale_range"] = limits


def guard(lowered: ir.Module, target: Target) -> None:
    """Let every exported function compare the length of the registers first, and trap if they are too short. Nothing
    for CPUs whose registers are fixed."""
    if target.vscale is None:
        return
    facts = {"name": _CHECK, "read": _READ[target.arch], "bytes": target.vector_bits // 8}
    exported = [
        op for op in _defined_functions(lowered) if ir.StringAttr(op.attributes["sym_name"]).value.startswith(PREFIX)
    ]
    parsed = ir.Module.parse(_FUNCTION.format(**facts))  # held: its ops do not hold it
    check = parsed.body.operations[0]
    check.operation.detach_from_parent()
    lowered.body.append(check)
    for op in exported:
        with ir.InsertionPoint.at_block_begin(op.operation.regions[0].blocks[0]), ir.Location.unknown():
            llvm.CallOp(None, [], [], [], callee=ir.FlatSymbolRefAttr.get(_CHECK))


def c_function(target: Target, stem: str) -> str:
    """The C function that makes the same comparison; "" for CPUs whose registers are fixed."""
    if target.vscale is None:
        return ""
    return (
        f"/* Whether the vector registers of this CPU have {target.vector_bits} bits, which the code needs; a call\n"
        f"   traps where they are shorter. */\nstatic inline bool {stem}_vectors_fit(void) {{\n"
        f"  {_READ_IN_C[target.arch]}\n  return bytes >= {target.vector_bits // 8};\n}}\n"
    )


def _defined_functions(lowered: ir.Module) -> list[ir.OpView]:
    functions = [op for op in lowered.body.operations if isa(op, LLVMFuncOp)]
    return [op for op in functions if len(op.operation.regions[0].blocks)]
