"""Which top-level ops of a function a step edits, and what the functions contained before it."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.incremental.contents import FunctionContents, Nest
from tir_mlir.dialect.ir import is_program, top_of
from tir_mlir.dialect.ir.op_traits import BODIES
from tir_mlir.dialect.ir.touch import Listener, listener


class KnownModule(Listener):
    """A module with the contents of its functions, while entered: lookups use them (see `contents_of`)."""

    def __init__(self, module: ir.Module, contents: Sequence[FunctionContents]):
        super().__init__()
        self.functions = [op.operation for op in module.body.operations]
        self.bodies = [op for op in self.functions if is_program(op)]
        self.contents = contents
        self._numbers = {op: number for number, op in enumerate(self.bodies)}

    def function(self, op: ir.Operation) -> int | None:
        """The number of a function among those with a body."""
        return self._numbers.get(op)

    def size_names(self, func: ir.Operation) -> set[str] | None:
        number = self.function(func)
        return None if number is None else {*self.contents[number].sizes, *self.sizes}


class Touched(KnownModule):
    """A module that a step edits, and which ops in the bodies of its functions were edited, erased or use an edited
    buffer. `contents`: those before the step.

    edited: them, by function. blind: the functions where such an op has no signature that is its own; then all those
    count. whole: something outside the body of a function was edited, so nothing is known to be unchanged.
    """

    def __init__(self, module: ir.Module, contents: Sequence[FunctionContents]):
        super().__init__(module, contents)
        self.edited: list[set[Nest]] = [set() for _ in self.bodies]
        self.blind: set[int] = set()
        self.whole = False

    def add(self, op: ir.Operation) -> None:
        top = top_of(op)
        function = top.parent
        if function is None:
            self.whole |= top.name in BODIES  # else it is in no module yet
            return
        number = self.function(function.operation)
        if number is None:
            return
        nest, is_new = self.contents[number].lookup(top)
        if is_new or nest in self.edited[number]:
            return
        if nest is None:
            self.blind.add(number)
        else:
            self.edited[number].add(nest)
        for result in top.results:
            self.add_users(result)

    def add_users(self, value: ir.Value) -> None:
        for use in value.uses:
            self.add(use.owner.operation)


def contents_of(func: ir.Operation) -> FunctionContents | None:
    """The contents of a function: as they were before the step, while one runs. None if they are not known."""
    current = listener()
    if not isinstance(current, KnownModule):
        return None
    number = current.function(func)
    return None if number is None else current.contents[number]


def is_untouched(func: ir.Operation) -> bool:
    """Whether `contents_of` a function are those it has: no step runs that may edit it."""
    current = listener()
    return isinstance(current, KnownModule) and not isinstance(current, Touched) and current.function(func) is not None
