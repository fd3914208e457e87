"""One error class per phase. A message names what was asked, the culprit, what it is, what was needed, and a fix."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import colour
from tir_mlir.dialect.diagnostics.counterexample import Counterexample


class TirError(Exception):
    """Anything that tir_mlir refuses or cannot do. A notebook shows its text in colour."""

    def _repr_html_(self) -> str:
        return colour.html(f"{type(self).__name__}: {self}")

    def _render_traceback_(self) -> list[str]:
        """What IPython shows for an uncaught one: the user's own lines, and the text in colour."""
        text = colour.terminal(f"{type(self).__name__}: {self}")
        return [*colour.user_lines(self.__traceback__), *text.splitlines()]

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.args, {key: _plain(value) for key, value in vars(self).items()})


def _unpickled(kind: type[TirError], args: tuple[Any, ...], state: dict[str, Any]) -> TirError:
    """An error as it was, whatever its class takes to be made."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def _plain(value: object) -> object:
    """MLIR's objects belong to one process: a place goes along as text, an op does not."""
    if not type(value).__module__.startswith(("mlir.", "tir_mlir.dialect.ir.views")):
        return value
    return str(value) if type(value).__name__ == "Location" else None  # MLIR is not imported here: it takes long


class ScriptError(TirError):
    """A TVMScript program that is not well formed; knows its place in the user's file."""

    def __init__(self, message: str, filename: str | None = None, lineno: int | None = None, text: str = ""):
        super().__init__(text or message)
        self.message = message
        self.filename = filename
        self.lineno = lineno

    def _render_traceback_(self) -> list[str]:
        """What IPython shows for an uncaught one: the text alone, which has the line of the program."""
        return colour.terminal(f"{type(self).__name__}: {self}").splitlines()


class NotAffine(TirError):
    """An index expression that has no affine form (a product of two variables, a division by a variable)."""


class IndexMapError(TirError, ValueError):
    """An index map that is none: wrong number of variables, two points at one place, a negative index."""


class NotAnAttribute(TirError, TypeError):
    """A Python value that cannot be kept as an attribute or annotation."""


class VerifyError(TirError):
    """A module that breaks a rule of the encoding. `rule` names it, `location` is the culprit's MLIR location."""

    def __init__(
        self,
        message: str,
        rule: str = "",
        location: object = None,
        op_id: int | None = None,
        counterexample: Counterexample | None = None,
    ):
        super().__init__(message)
        self.counterexample = counterexample
        self.message = message
        self.rule = rule
        self.location = location
        self.op_id = op_id


class LinalgError(VerifyError):
    """A program of linalg ops that has no form as loops and blocks; `location` is that of the op in the way."""

    def __init__(self, message: str, location: object = None):
        super().__init__(message, "linalg", location)


class ScheduleError(TirError, RuntimeError):
    """A primitive that was refused. The module is as it was before the call.

    `reason` is the refusal itself; `str()` adds the call, the program with the culprit marked and the user's line.
    `provable` is false when nothing shows that the step is wrong, but nothing shows that it is right either.
    `counterexample` has the iterations and the element that show it, where there are any; `fix` is what to do instead;
    `call` is the step that was asked.
    """

    def __init__(
        self,
        message: str,
        culprit: object = None,
        provable: bool = True,
        text: str = "",
        counterexample: Counterexample | None = None,
        fix: str = "",
    ):
        super().__init__(text or message)
        self.reason = message
        self.culprit = culprit
        self.provable = provable
        self.counterexample = counterexample
        self.fix = fix
        self.call = ""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows for an uncaught one: the text has the user's line, and the program."""
        return colour.terminal(f"{type(self).__name__}: {self}").splitlines()


class BufferNameError(ScheduleError, AssertionError):
    """A name that none, or several, of the buffers of a block have. TVM raises an AssertionError here."""


class HandleError(ScheduleError, ValueError):
    """A handle whose block or loop is gone: a step consumed it, or the step that gave it was undone."""


class TraceError(TirError, ValueError):
    """A trace that cannot be read, or does not fit the schedule it is applied to. The schedule is as it was."""


class IntrinError(TirError, ValueError):
    """A tensor intrinsic that is unknown, or that cannot be registered."""


class NotProvable(TirError):
    """A question that isl did not answer within its budget, or that has no exact form."""


class NotChecked(TirError):
    """A program that the equivalence check cannot judge: an op without an exact meaning, sizes that take too long."""


class StepError(ScheduleError):
    """A step of a schedule made with `verify="each step"` that changed what the program computes.

    `result` is the check's answer. The schedule is as it was before the step.
    """

    def __init__(self, message: str, result: object, text: str = ""):
        super().__init__(message, None, True, text)
        self.result = result


class ForkError(TirError, RuntimeError):
    """A forked process that cannot use MLIR: another thread was at work in it at the time."""


class LoweringError(TirError):
    """A program that a lowering pass cannot take down."""


class BuildError(TirError):
    """Machine code could not be made: a missing kernel, a compiler's complaint, an unknown target."""


class ToolError(BuildError):
    """An external tool is missing or failed; names the command and the reproducer."""


class ArgumentError(TirError, ValueError):
    """An array that does not fit the parameter it is passed for."""


class InterpreterError(TirError):
    """A program that the interpreter stopped: it did what no program may do.

    `reason` says what; `function`, `block`, `loops` (loops and iters by name, with their values there), `buffer`,
    `index` and `shape` are the same as data, where they apply; `place` is the user's line as (file, line); `fix` is a
    way out.
    """

    def __init__(self, reason: str, buffer: str = "", index: tuple[int, ...] = (), shape: tuple[int, ...] = ()):
        super().__init__(reason)
        self.reason = reason
        self.buffer = buffer
        self.index = index
        self.shape = shape
        self.function = ""
        self.block = ""
        self.loops: dict[str, int] = {}
        self.place: tuple[str, int] | None = None
        self.fix = ""


class OutOfBoundsError(InterpreterError, IndexError):
    """An access outside of its buffer, or an iter outside of its domain."""


class UnwrittenError(InterpreterError):
    """An uninitialized value decides a branch or an index, or is left in a parameter."""


class RaceError(InterpreterError):
    """Two iterations that run at the same time touch one element, one of them writing."""


class AssumptionError(InterpreterError):
    """An assumption on data (`T.assume` in a block) does not hold."""


class ArithmeticStop(InterpreterError, ArithmeticError):
    """An operation without a result: an integer division by zero, a shift by too much, a cast of what does not fit."""


class NotInterpreted(TirError):
    """An op, a type or a function that the interpreter does not support; names what to run instead."""
