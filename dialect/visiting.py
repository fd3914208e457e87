"""Visit all ops below one, with a Python function."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir


def visit(root: ir.Operation, function: Callable[[ir.Operation], ir.WalkResult]) -> None:
    """Call a function for `root` and every op below it, pre-order; it says how to go on.

    Ctrl-C stays Ctrl-C: MLIR makes a RuntimeError of whatever comes up in a function that it calls.
    """
    try:
        root.operation.walk(function, ir.WalkOrder.PRE_ORDER)
    except RuntimeError as error:
        if str(error).rstrip().endswith("KeyboardInterrupt:"):
            raise KeyboardInterrupt from None
        raise
