"""Schedule: a module, and the primitives that rewrite it."""

from __future__ import annotations

import difflib
import html as _html
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, overload

from mlir import ir

from tir_mlir.dialect.diagnostics import ScheduleError, short_repr
from tir_mlir.dialect.index_maps import Formula
from tir_mlir.dialect.ir import Block, Loop, create, entered, funcs, walk
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.passes.schedule.blocks.explain_tensorize import FitReport, explain_tensorize
from tir_mlir.passes.schedule.placement.location import SpecialLocation
from tir_mlir.passes.schedule.queries.lookup import working_function
from tir_mlir.passes.schedule.queries.rng import Random
from tir_mlir.schedule.arguments import value_type
from tir_mlir.schedule.can import Answer, Questions
from tir_mlir.schedule.executor import Executor
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, Handle, LoopHandle, register
from tir_mlir.schedule.history import Diff, History
from tir_mlir.schedule.info import BlockInfo, LoopInfo, info_of
from tir_mlir.schedule.primitives import BlockLike
from tir_mlir.schedule.trace import Trace
from tir_mlir.script import display
from tir_mlir.script.module import IRModule, PrimFunc

if TYPE_CHECKING:
    from tir_mlir.equivalence.result import Result
    from tir_mlir.visual.svg import Picture

_NO_TREE = (
    "a schedule here is its module, without a tree beside it: sch.get(handle) tells what a block or loop is now,"
    " sch.get_loops and sch.get_child_blocks what is around and beneath it"
)


class Schedule(Questions):
    """A copy of a module that primitives rewrite, step by step.

    Every step works on a copy and is held to the rules of `dialect/verify.py` before it counts: a step that raises
    leaves `mod`, the trace and all handles as they were. `mod` may be an IRModule, a PrimFunc or an MLIR module.
    `verify="each step"`: run `verify` after every step; one that changes what the program computes is a StepError, one
    that cannot be checked is NotChecked; neither counts.
    """

    def __init__(
        self,
        mod: IRModule | PrimFunc | ir.Module,
        *,
        seed: int | None = None,
        debug_mask: str | int = "none",
        error_render_level: str = "detail",
        enable_check: bool = True,
        verify: str | None = None,
    ):
        if verify not in (None, "", "each step"):
            raise ValueError(f'verify is "each step" or None, not {short_repr(verify)}')
        if error_render_level not in ("detail", "fast", "none"):
            raise ValueError(f'error_render_level is "detail", "fast" or "none", not {short_repr(error_render_level)}')
        random = _random(seed)
        alone = IRModule({"main": mod}) if isinstance(mod, PrimFunc) else mod  # TVM looks a lone function up as main
        source = alone.mlir if isinstance(alone, IRModule) else alone
        if not isinstance(source, ir.Module):
            raise TypeError(f"Schedule takes an IRModule, a PrimFunc or an MLIR module, not {type(mod).__name__}")
        with entered():
            copy = create.clone_module(source)
        super().__init__(Executor(copy, random, error_render_level, debug_mask not in ("none", 0)))
        if verify:
            self._executor.check = self.verify
        _ = enable_check  # accepted for TVM's sake: our checks are proofs and cannot be switched off

    # --- the module ---------------------------------------------------------------------------------------------------

    @property
    def mod(self) -> IRModule:
        """The module as it stands now. It does not change under you: later steps work on copies."""
        return IRModule(self._executor.module)

    def verify(self, sizes: str = "auto", *, seed: int = 0) -> Result:
        """Whether the program still computes what it did at first: both run over a prime field and must agree exactly.

        `sizes`: "full", "scaled" (the trace is replayed on a smaller program, whose guards are of the same kinds), or
        "auto": full where that is soon done. The answer is true when they are equal; its text says at which sizes they
        ran, or which element differs first and who wrote it. Errors: NotChecked names what has no exact meaning.
        """
        from tir_mlir.schedule.verify import verify  # loads the compiler

        return verify(self._executor, sizes, seed)

    def show(self, diff: bool = False, **options: Any) -> None:
        """Print the module as TVMScript; with `diff`, what the last step that changed it made of it."""
        if not diff:
            self.mod.show(**options)
            return
        last = next((e for e in reversed(self._executor.history) if e.before is not e.after), None)
        display.show_rich(last.diff() if last else Diff("no step has changed the program yet"))

    @property
    def trace(self) -> Trace:
        """The steps and decisions so far; prints as Python and replays on other schedules."""
        return self._executor.trace

    @property
    def executor(self) -> Executor:
        """The state behind the schedule, for tools that replay or check steps."""
        return self._executor

    # --- what was done, and what would be -----------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """Every step: its call, the user's line, its time, the program after it."""
        return History(self._executor.history, self._executor.refused, self._executor.module)

    def __repr__(self) -> str:
        with entered():
            blocks = [
                f"{f.name}: {', '.join(b.name for b in walk.all_blocks(f.op)) or 'no'}"
                for f in funcs(self._executor.module)
            ]
        steps = sum(e.changed for e in self._executor.history)
        return f"Schedule({'; '.join(blocks)} blocks; {steps} step{'s' * (steps != 1)} changed the program)"

    def _repr_html_(self) -> str:
        return f"{display.html(self.mod.script())}<p>{_html.escape(repr(self))}</p>"

    # --- pictures -----------------------------------------------------------------------------------------------------

    def plot(self, step: int | None = None, *, width: float = 560) -> Picture:
        """The loop nest of the program as an SVG drawing: loops as nested frames, blocks with iters and regions.

            sch.plot()                       # the program as it is now
            sch.plot(step=3).save("3.svg")   # before and after step 3 of sch.history, what changed is marked

        Lines are broken at about `width` px. Errors: ValueError when there is no such step.
        """
        from tir_mlir.visual.plots import plot_module, plot_step

        if step is None:
            return plot_module(self._executor.module, width)
        found = [e for e in self._executor.history if e.number == step and not isinstance(step, bool)]
        if not found:
            raise ValueError(f"plot draws a step from 1 to {len(self._executor.history)} here, not {short_repr(step)}")
        return plot_step(found[0].before, found[0].after, found[0].call, width)

    def plot_access(
        self,
        block: BlockLike,
        buffer: str | None = None,
        loop: LoopHandle | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
    ) -> Picture:
        """What a block reads and writes of a buffer in one iteration of a loop around it, drawn in the buffer's box.

            sch.plot_access("C", "A", sch.get_loops("C")[1])

        Dark is what the first iteration of `loop` touches, light what all of its iterations do; without a loop, what
        the whole run does. Without `buffer`, each buffer is drawn. Buffers of up to three dimensions are drawn whole,
        of others the last three. `sizes` gives values to shape variables, which are else chosen.

        Errors: ValueError for a loop that is not around the block, or a buffer that it does not touch.
        """
        from tir_mlir.visual.plots import plot_access

        trial = self._twin()  # looking a block up is no step of this schedule
        with entered():
            view = trial._executor.view(
                trial.get_block(block) if isinstance(block, str) else block, trial._executor.module
            )
            around = None if loop is None else trial._executor.view(loop, trial._executor.module)
            if not isinstance(view, Block):
                raise ScheduleError("this is the root block; name a block with a computation")
            if around is not None and not isinstance(around, Loop):
                raise ScheduleError("this handle is not a loop; take one of sch.get_loops(block)")
            return plot_access(view, buffer, around, sizes)

    def undo(self, n: int = 1) -> None:
        """Take back the last `n` steps that did more than look or sample, and all that came after the first of them.

        The module, the trace, the handles and the random numbers are as they were before; handles given out since are
        dead. Errors: ValueError when there are not so many steps.
        """
        steps = [e for e in self._executor.history if e.changed]
        if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= len(steps):
            raise ValueError(f"undo takes back from 0 to {len(steps)} steps here, not {short_repr(n)}")
        if n:
            self._executor.take_back(steps[-n].first)

    def explain(self, primitive: str, /, *args: Any, **kwargs: Any) -> Answer:
        """Whether a step would be legal, asked by its name: `sch.explain("split", loop, [None, 16])`.

        The same as `sch.can_split(loop, [None, 16])`. The schedule stays as it is. Errors: those of a wrong call.
        """
        name = {"get_sblock": "get_block"}.get(primitive, primitive) if isinstance(primitive, str) else ""
        if name not in PRIMITIVES or PRIMITIVES[name].returns is bool:
            near = difflib.get_close_matches(name, PRIMITIVES, n=3)
            way = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ValueError(f"there is no primitive {short_repr(primitive)}{way}")
        return self._ask(lambda trial: getattr(trial, name)(*args, **kwargs))

    def explain_tensorize(
        self, block_or_loop: BlockLike | LoopHandle, tensor_intrin: str | Sequence[str] | None = None
    ) -> FitReport:
        """For each intrinsic named (else all): each way of laying it beside the block, and why it fits or not.

        A loop is blockized first, on a copy. Errors: IntrinError for an unknown intrinsic, ScheduleError for a loop
        that cannot be blockized.
        """
        trial = self._twin()
        block = trial.blockize(block_or_loop) if isinstance(block_or_loop, LoopHandle) else block_or_loop
        handle = trial.get_block(block) if isinstance(block, str) else block
        if not isinstance(handle, BlockHandle):
            raise TypeError(
                'In "Schedule.explain_tensorize", "block_or_loop" has wrong type. Expected "BlockHandle, LoopHandle or'
                f' str", but gets: "{value_type(handle)}"'
            )
        with entered():
            view = trial._executor.view(handle, trial._executor.module)
            if not isinstance(view, Block):
                raise ScheduleError("this is the root block; name a block with a computation")
            return explain_tensorize(view, tensor_intrin)

    def _ask(self, step: Callable[[Any], Any]) -> Answer:
        trial = self._twin()
        try:
            step(trial)
        except ScheduleError as error:
            return Answer.refused(error.call, error)
        return Answer(trial._executor.history[-1].call, "legal", mod=trial.mod)

    def _twin(self) -> Schedule:
        """A schedule in the same state, random numbers included; its steps are not compared with the original."""
        other = object.__new__(type(self))
        other.__dict__ |= self.__dict__ | {"_executor": self._executor.twin()}
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {"executor": self._executor, "checks": self._executor.check is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._executor = state["executor"]
        if state["checks"]:
            self._executor.check = self.verify

    def __copy__(self) -> Schedule:
        return self._duplicate()

    def __deepcopy__(self, memo: dict[int, Any]) -> Schedule:
        return self._duplicate()

    def _duplicate(self) -> Schedule:
        """A twin that checks its steps as this schedule does."""
        other = self._twin()
        if self._executor.check is not None:
            other._executor.check = other.verify
        register(other._executor._owner, other._executor)
        return other

    def copy(self) -> Schedule:
        """A schedule in the same state; the two go separate ways, handles given out so far are good for both.

        The copy makes random choices of its own.
        """
        other = self._duplicate()
        other._executor.random = Random(self.fork_seed())
        return other

    def work_on(self, func_name: str) -> None:
        """Choose the function in which `get_block` looks from now on."""
        if not isinstance(func_name, str):
            got = value_type(func_name)
            raise TypeError(f'In "Schedule.work_on", "func_name" has wrong type. Expected "str", but gets: "{got}"')
        with entered():
            working_function(funcs(self._executor.module), func_name)
        self._executor.working = func_name

    @property
    def func_working_on(self) -> str | None:
        return self._executor.working

    # --- handles ------------------------------------------------------------------------------------------------------

    @overload
    def get(self, handle: LoopHandle) -> LoopInfo: ...

    @overload
    def get(self, handle: BlockHandle) -> BlockInfo: ...

    @overload
    def get(self, handle: ExprHandle | Formula | int) -> int: ...

    @overload
    def get(self, handle: Handle) -> LoopInfo | BlockInfo | int: ...

    def get(self, handle: Handle | Formula | int) -> LoopInfo | BlockInfo | int:
        """The block or loop behind a handle as it is now, or the integer that was sampled."""
        if isinstance(handle, int):
            return handle
        if isinstance(handle, Formula):
            return handle.value(self._executor.integer)
        if not isinstance(handle, Handle):
            raise TypeError(
                f'In "Schedule.get", "handle" has wrong type. Expected a handle, but gets: "{short_repr(handle)}"'
            )
        with entered():
            view = self._executor.view(handle, self._executor.module)
            if isinstance(view, SpecialLocation):
                raise ValueError(f"this handle stands for no loop: sample_compute_location chose {view.name.lower()}")
            return view if isinstance(view, int) else info_of(view)

    @property
    def state(self) -> NoReturn:
        """TVM's tree of a schedule; there is none here."""
        raise AttributeError(f"Schedule.state: {_NO_TREE}")

    def get_sref(self, handle: Handle) -> NoReturn:
        """TVM's place of a block or loop in its tree; there is none here."""
        raise AttributeError(f"Schedule.get_sref: {_NO_TREE}")

    def remove_rv(self, handle: Handle) -> None:
        """Forget a handle. Errors: IndexError when it is not known here."""
        if not isinstance(handle, Handle):
            got = short_repr(handle)
            raise TypeError(f'In "Schedule.remove_rv", "handle" has wrong type. Expected a handle, but gets: "{got}"')
        self._executor.forget(handle)

    # --- chance -------------------------------------------------------------------------------------------------------

    def seed(self, seed: int | None) -> None:
        """Start the random choices anew: from a seed in [1, 2**31 - 1], or (None) from the system's randomness."""
        self._executor.random = _random(seed)

    def fork_seed(self) -> int:
        """A seed for another schedule, drawn from this one's random numbers."""
        return self._executor.random.fork_seed()


def _is_index(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _random(seed: int | None) -> Random:
    if isinstance(seed, bool) or not (seed is None or _is_index(seed)):
        raise TypeError(f'In "Schedule", "seed" has wrong type. Expected "int or None", but gets: "{short_repr(seed)}"')
    return Random.seeded(None if seed is None else int(seed))
