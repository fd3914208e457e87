"""Addresses: an interrupt leaves a module of its own values."""

import sys

from mlir import ir

from tir_mlir.dialect.ir.context import context
from tir_mlir.passes.lower.llvm import addresses

ROWS = """func.func @rows(%A: memref<8x16xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %A[%i, 0] : memref<8x16xf32>
    affine.store %x, %A[%i, 1] : memref<8x16xf32>
  }
  return
}"""


def _interrupted(module, number):
    """Lower, with Ctrl-C before the nth line of the pass that runs: the interrupt, or None where it ends before."""
    left = number

    def line(frame, event, _):
        nonlocal left
        left -= event == "line"
        if not left:
            raise KeyboardInterrupt
        return line

    before = sys.gettrace()
    sys.settrace(lambda frame, *_: line if frame.f_code.co_filename == addresses.__file__ else None)
    try:
        addresses.run(module)
    except KeyboardInterrupt as interrupt:
        return interrupt
    finally:
        sys.settrace(before)
    return None


def _top(place):
    """The outermost op around a block or an op."""
    op = place.owner if isinstance(place, ir.Block) else place
    while op.operation.parent is not None:
        op = op.operation.parent
    return op.operation


def _ops(op):
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _ops(inner.operation)


def test_an_interrupt_at_any_line_leaves_no_op_with_values_of_another_module():
    found, number = [], 0
    with context(), ir.Location.unknown():
        while True:
            number += 3  # an op is unfinished for at least as many lines
            module = ir.Module.parse(ROWS)
            interrupt = _interrupted(module, number)  # its frames keep the other module
            if interrupt is None:
                break
            whole = module.operation
            strange = [op for op in _ops(whole) if any(_top(value.owner) != whole for value in op.operands)]
            found += [f"{number}: {op.name}" for op in strange]
            for op in strange:  # the process would end with them
                op.erase()
    assert number > 100 and not found
