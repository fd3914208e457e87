"""One error class per phase. A message names what was asked, the culprit, what it is, what was needed, and a fix.

A counterexample shows the iterations, and the element they access, for which a step would change the program. A long
text is made when it is first read: printing a large program takes longer than refusing a step.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tir_mlir.dialect.diagnostics import color


class LateText:
    """A text, as the function that makes it. `str()` calls it once and keeps the result."""

    def __init__(self, make: Callable[[], str]):
        self._make: Callable[[], str] | None = make
        self._text = ""

    def __str__(self) -> str:
        make = self._make
        if make is not None:
            self._text = make()
            self._make = None  # frees what the text was made of
        return self._text

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


@dataclass(frozen=True)
class Iteration:
    """One iteration of a block (or of a statement): the values of the loops around it, or of its iters."""

    block: str
    values: tuple[tuple[str, int], ...]

    @staticmethod
    def from_point(block: str, names: Iterable[str], point: Iterable[int]) -> Iteration:
        return Iteration(block, tuple(zip(names, point, strict=False)))

    @property
    def at(self) -> dict[str, int]:
        """The value of each loop or iter."""
        return dict(self.values)

    def __str__(self) -> str:
        return f"{self.block}({', '.join(f'{n}={v}' for n, v in self.values)})"


@dataclass(frozen=True)
class Element:
    """One element of a buffer; an irrelevant dimension is `:`."""

    buffer: str
    indices: tuple[int | str, ...]

    @staticmethod
    def from_indices(buffer: str, indices: Sequence[int | str]) -> Element:
        return Element(buffer, tuple(indices))

    def __str__(self) -> str:
        return f"{self.buffer}[{', '.join(map(str, self.indices))}]"


@dataclass(frozen=True)
class Counterexample:
    """The smallest violating iterations (at most two, in their current order), the element that they access, the sizes
    at which they do, and, as text, the sizes without a violation."""

    iterations: tuple[Iteration, ...] = ()
    element: Element | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    unless: str = ""

    def __str__(self) -> str:
        where = "".join(f" at {n}={v}" for n, v in self.sizes)
        runs = [str(i) for i in self.iterations]
        if runs:
            runs[0] += where
        verb = " touch " if len(runs) > 1 else " touches "
        text = " and ".join(runs) + (f"{verb if runs else ''}{self.element}" if self.element else "")
        return f"{text}{f', unless {self.unless}' if self.unless else ''}"


_ARGS: Any = BaseException.__dict__["args"]


class TirError(Exception):
    """Base class of all errors of tir_mlir. A notebook shows its text in color."""

    def _repr_html_(self) -> str:
        return color.html(f"{type(self).__name__}: {self}")

    def _render_traceback_(self) -> list[str]:
        """The traceback that IPython shows: the user's frames, and the text in color."""
        text = color.terminal(f"{type(self).__name__}: {self}")
        return [*color.user_lines(self.__traceback__), *text.splitlines()]

    def __reduce__(self) -> tuple[object, ...]:
        return _restore_error, (type(self), self.args, {key: _plain(value) for key, value in vars(self).items()})


def _restore_error(kind: type[TirError], args: tuple[object, ...], state: dict[str, object]) -> TirError:
    """Restore a pickled error without calling its constructor."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def _plain(value: object) -> object:
    """A picklable value: MLIR objects belong to one process, so a location becomes text and an op None."""
    if not type(value).__module__.startswith(("mlir.", "tir_mlir.dialect.ir.views")):
        return value
    return str(value) if type(value).__name__ == "Location" else None  # not isinstance: importing MLIR is slow


class ScriptError(TirError):
    """An ill-formed TVMScript program, with its location in the user's file."""

    def __init__(self, message: str, filename: str | None = None, lineno: int | None = None, text: str = ""):
        super().__init__(text or message)
        self.message = message
        self.filename = filename
        self.lineno = lineno

    def _render_traceback_(self) -> list[str]:
        """The traceback that IPython shows: the text alone, which contains the line of the program."""
        return color.terminal(f"{type(self).__name__}: {self}").splitlines()


class NotAffine(TirError):
    """An index expression that is not affine (a product of two variables, a division by a variable)."""


class NotAnAttribute(TirError, TypeError):
    """A Python value that cannot be represented as an attribute or annotation."""


class VerifyError(TirError):
    """A module that violates a rule of the encoding. `rule` names it; `location` is the culprit's MLIR location. If not
    `provable`, it is undecided whether the module violates the rule.
    """

    def __init__(
        self,
        message: str,
        rule: str = "",
        location: object = None,
        op_id: int | None = None,
        counterexample: Counterexample | None = None,
        provable: bool = True,
    ):
        super().__init__(message)
        self.counterexample = counterexample
        self.provable = provable
        self.message = message
        self.rule = rule
        self.location = location
        self.op_id = op_id


class LinalgError(VerifyError):
    """Linalg ops that cannot be converted to loops and blocks; `location` is that of the unsupported op."""

    def __init__(self, message: str, location: object = None):
        super().__init__(message, "linalg", location)


class ScheduleError(TirError, RuntimeError):
    """A primitive was refused. The module is unchanged.

    `reason` is the refusal itself; `str()` adds the call, the program with the culprit marked and the user's line. The
    program is the one before the step, and is printed when the text is first read.
    `provable` is false if the step could be proved neither legal nor illegal. `counterexample`: violating iterations
    and their element, if any. `fix`: what to do instead. `call`: the refused step. `unexpected` is true if an error of
    Python's stopped the step, which is not a refusal.
    """

    unexpected = False

    def __init__(
        self,
        message: str,
        culprit: object = None,
        provable: bool = True,
        text: str | LateText = "",
        counterexample: Counterexample | None = None,
        fix: str = "",
    ):
        super().__init__(message if text == "" else text)
        self.reason = message
        self.culprit = culprit
        self.provable = provable
        self.counterexample = counterexample
        self.fix = fix
        self.call = ""

    @property
    def args(self) -> tuple[object, ...]:
        """The text, made by now: it is a plain string for whoever reads it here, and in a pickle."""
        return tuple(str(a) if isinstance(a, LateText) else a for a in _ARGS.__get__(self))

    @args.setter
    def args(self, value: tuple[object, ...]) -> None:
        _ARGS.__set__(self, value)

    @property
    def text(self) -> str | LateText:
        """The text, which `str()` makes if that has not been done yet."""
        return _ARGS.__get__(self)[0]

    def _render_traceback_(self) -> list[str]:
        """The traceback that IPython shows: the text alone, which contains the user's line and the program."""
        return color.terminal(f"{type(self).__name__}: {self}").splitlines()


class IndexMapError(ScheduleError, ValueError):
    """An invalid index map: wrong number of variables, two points with one image, a negative index."""


class NotAffineMapError(IndexMapError, NotAffine):
    """An index map with an expression that is not affine."""


class StepValueError(ScheduleError, ValueError):
    """A step with a value that no program accepts: no loops, a factor out of range, unknown names. A ValueError too."""


class StepIndexError(ScheduleError, IndexError):
    """A step with a handle or a name that the schedule does not know. An IndexError too."""


class StepTypeError(ScheduleError, TypeError):
    """A step with a value of a type that it cannot use. A TypeError too."""


class InternalError(ScheduleError):
    """A fault of a primitive: it stopped by an error of Python's. The module is unchanged."""


class ScheduleWarning(UserWarning):
    """A step is applied, but part of its request has no effect."""


class ScriptWarning(UserWarning):
    """A program is parsed, but part of its text has no effect."""


class BufferNameError(ScheduleError, AssertionError):
    """A buffer name that is unknown or ambiguous in a block. An AssertionError too, as in TVM."""


class HandleError(ScheduleError, ValueError):
    """A handle whose block or loop no longer exists: a step consumed it, or the step that returned it was undone."""


class TraceError(TirError, ValueError):
    """A trace that cannot be parsed, or does not fit the schedule it is applied to. The schedule is unchanged."""


class IntrinError(ScheduleError, ValueError):
    """A tensor intrinsic that is unknown or cannot be registered."""


class NotProvable(TirError):
    """A proof that exceeds isl's budget, or that isl cannot express exactly."""


class NotChecked(TirError):
    """A program that the equivalence check does not support: an op without exact semantics, too large sizes."""


class StepError(ScheduleError):
    """A step of a schedule with `verify="each step"` changed what the program computes.

    `result` is the result of the check. The schedule is as before the step.
    """

    def __init__(self, message: str, result: object, text: str | LateText = ""):
        super().__init__(message, None, True, text)
        self.result = result


class ForkError(TirError, RuntimeError):
    """A forked process that cannot use MLIR, since another thread was inside it at the time of the fork, or the GPU
    that its parent used."""


class LoweringError(TirError):
    """A program that a lowering pass does not support."""


class BuildError(TirError):
    """Code generation failed: a missing kernel, a compiler error, an unknown target."""


class SourceError(BuildError, AttributeError):
    """A library has no text of its kernels in C: it is for a CPU, or they use what C has no word for."""


class DeviceError(BuildError, RuntimeError):
    """A GPU cannot run a kernel: no driver or device, a context or stream that is gone, a fault inside a kernel."""


class DeviceMemoryError(DeviceError):
    """The memory of a GPU has no room for what a call needs."""


class ToolError(BuildError):
    """An external tool is missing or failed; names the command and the reproducer."""


class GraphError(TirError, ValueError):
    """An ill-formed graph of operators, or one that cannot be imported, transformed or compiled."""


class TuneError(TirError):
    """A search cannot start or go on: an unknown option, a missing package, a storage that is gone."""


class BuildWarning(UserWarning):
    """Code is right, but not all that was asked for is done: entries of a shipped cache that do not fit."""


class TuneWarning(UserWarning):
    """A search goes on, but not as asked: a winner that fails verification, a record that does not apply."""


class ArgumentError(TirError, ValueError):
    """An array that does not fit the parameter it is passed for."""


class InterpreterError(TirError):
    """Undefined behavior of an interpreted program, or of a compiled one built with `checked=True`.

    `reason`: the message. Where they apply: `function`, `block`, `loops` (values of loops and iters by name), `buffer`,
    `index`, `shape`. `place`: the user's line as (file, line). `fix`: a suggested fix.
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
    """An access outside its buffer, or an iter outside its domain."""


class UnwrittenError(InterpreterError):
    """An uninitialized value is used as a branch condition, bound or index, or is left in a parameter."""


class RaceError(InterpreterError):
    """Two concurrent iterations access one element, at least one of them writing."""


class AssumptionError(InterpreterError):
    """An assumption on data (`T.assume` in a block) does not hold."""


class ArithmeticStop(InterpreterError, ArithmeticError):
    """An undefined operation: an integer division by zero, an oversized shift, a cast out of range."""


class PtxError(TirError):
    """A fault of a PTX text that the PTX machine found.

    `kind`: "syntax", "instruction" (one that the machine does not know), "launch", "race", "barrier" (missing or
    divergent), "deadlock", "trap", "unwritten" (a read of memory that nobody wrote), "bounds" or "alignment". Where
    they apply: `kernel`, `block` and `threads` as (x, y, z), `line` of the PTX text, `source` as (file, line) from its
    `.loc`, and `other`: the line, source and text of the other access of a race. `reason`: the message without them.
    """

    def __init__(
        self,
        reason: str,
        kind: str,
        line: int = 0,
        source: tuple[str, int] | None = None,
        kernel: str = "",
        block: tuple[int, ...] | None = None,
        threads: tuple[tuple[int, ...], ...] = (),
        instruction: str = "",
        other: tuple[int, tuple[str, int] | None, str] | None = None,
    ):
        spots = [f"in kernel {kernel}" + (f", block {block}" if block is not None else "")] if kernel else []
        for number, location, text in [(line, source, instruction), *([other] if other else [])]:
            spots += [f"PTX line {number}" + (f": {text}" if text else "")] if number else []
            spots += (
                [f"  {location[0]}:{location[1]}  {linecache.getline(*location).strip()}".rstrip()] if location else []
            )
        super().__init__("\n  ".join([reason, *spots]))
        self.reason = reason
        self.kind = kind
        self.line = line
        self.source = source
        self.kernel = kernel
        self.block = block
        self.threads = threads
        self.instruction = instruction
        self.other = other


class MachineError(TirError):
    """A fault of an accelerator's program, or a program that its memories cannot hold."""


class NotInterpreted(TirError):
    """An op, type or function that the interpreter does not support; the message names an alternative."""
