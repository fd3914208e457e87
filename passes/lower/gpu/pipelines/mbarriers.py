"""mbarriers, tensor copies and what belongs to them as PTX, at the insertion point.

Each is inline assembly that all passes leave where it is; `assembly_of` marks all of it as convergent, so that LLVM
does not move it into branches that some threads take. Addresses are bytes of shared memory, as i32.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import Index, apply

BYTES = 8
"""The size of an mbarrier."""
MOST_BYTES = (1 << 20) - 1
"""The most bytes that an mbarrier expects in a phase (PTX ISA, mbarrier)."""


def i32(value: Index | int | ir.Value) -> ir.Value:
    """A number, or an index, as i32."""
    type_ = ir.IntegerType.get_signless(32)
    if isinstance(value, int):
        return arith.constant(type_, value)
    return arith.index_cast(type_, apply(value) if isinstance(value, Index) else value)


def shared_address(buffer: ir.Value, offset: Index | int = 0) -> ir.Value:
    """The address of a byte of a shared buffer, in its window."""
    index = ir.IndexType.get()
    start = ir.Operation.create("memref.extract_aligned_pointer_as_index", [index], [buffer]).results[0]
    return arith.addi(i32(start), i32(offset))


def asm(text: str, constraints: str, operands: Sequence[ir.Value] = ()) -> None:
    """PTX without results: `$0`, `$1` in the text are the operands."""
    facts = {
        "asm_string": ir.StringAttr.get(text),
        "constraints": ir.StringAttr.get(",".join([*constraints.split(), "~{memory}"])),
        "has_side_effects": ir.UnitAttr.get(),
    }
    ir.Operation.create("llvm.inline_asm", [], list(operands), facts)


def initialize(barrier: ir.Value, count: int) -> None:
    """An mbarrier for `count` arrivals a phase."""
    asm("mbarrier.init.shared::cta.b64 [$0], $1;", "r r", [barrier, i32(count)])


def fence_initializations() -> None:
    """Let the TMA see the mbarriers that this thread has initialized."""
    asm("fence.mbarrier_init.release.cluster;", "")


def expect(barrier: ir.Value, count: int) -> None:
    """Arrive, and expect `count` more bytes in this phase."""
    asm("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r r", [barrier, i32(count)])


def arrive(barrier: ir.Value) -> None:
    asm("mbarrier.arrive.shared::cta.b64 _, [$0];", "r", [barrier])


def wait(barrier: ir.Value, parity: ir.Value) -> None:
    """Wait until the phase of this parity is over."""
    lines = [
        "{", ".reg .pred over;", "again:", "mbarrier.try_wait.parity.shared::cta.b64 over, [$0], $1;",
        "@over bra done;", "bra again;", "done:", "}",
    ]  # fmt: skip
    asm("\n\t".join(lines), "r r", [barrier, parity])


def copy_box(to: ir.Value, map_: ir.Value, start: Sequence[ir.Value], barrier: ir.Value) -> None:
    """Start the copy of a box of an array, by its tensor map. start: coordinates of its first element, the last
    dimension first."""
    rank = len(start)
    coordinates = ", ".join(f"${n + 2}" for n in range(rank))
    text = (
        f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes "
        f"[$0], [$1, {{{coordinates}}}], [${rank + 2}];"
    )
    asm(text, " ".join(["r", "l", *["r"] * rank, "r"]), [to, map_, *start, barrier])


def set_registers(verb: str, count: int) -> None:
    """Take registers from other warpgroups ("inc") or give them ("dec"), up to `count` a thread."""
    asm(f"setmaxnreg.{verb}.sync.aligned.u32 {count};", "")


def barrier_of(number: int, threads: int) -> None:
    """A barrier among `threads` threads of the block, of the 16 that it has."""
    asm(f"barrier.sync {number}, {threads};", "")
