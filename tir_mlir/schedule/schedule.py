"""Schedule: a module, and the primitives that rewrite it."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import ScheduleError, shown
from tir_mlir.dialect.index_maps import Formula
from tir_mlir.dialect.ir import Block, create, entered, funcs
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.passes.schedule.blocks.explain_tensorize import Fits, explain_tensorize
from tir_mlir.passes.schedule.placement.location import Mark
from tir_mlir.passes.schedule.queries.lookup import working_function
from tir_mlir.passes.schedule.queries.rng import Random
from tir_mlir.schedule.arguments import value_type
from tir_mlir.schedule.can import Answer
from tir_mlir.schedule.executor import Stepper
from tir_mlir.schedule.handles import BlockHandle, Handle, LoopHandle
from tir_mlir.schedule.history import Diff, History
from tir_mlir.schedule.info import BlockInfo, LoopInfo, info_of
from tir_mlir.schedule.primitives import BlockLike
from tir_mlir.script import display
from tir_mlir.script.module import IRModule, PrimFunc

if TYPE_CHECKING:
    from tir_mlir.equivalence.result import Result

_NO_TREE = (
    "a schedule here is its module, without a tree beside it: sch.get(handle) tells what a block or loop is now,"
    " sch.get_loops and sch.get_child_blocks what is around and beneath it"
)


class Schedule(Stepper):
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
            raise ValueError(f'verify is "each step" or None, not {shown(verify)}')
        if error_render_level not in ("detail", "fast", "none"):
            raise ValueError(f'error_render_level is "detail", "fast" or "none", not {shown(error_render_level)}')
        random = _random(seed)
        alone = IRModule({"main": mod}) if isinstance(mod, PrimFunc) else mod  # TVM looks a lone function up as main
        source = alone.mlir if isinstance(alone, IRModule) else alone
        if not isinstance(source, ir.Module):
            raise TypeError(f"Schedule takes an IRModule, a PrimFunc or an MLIR module, not {type(mod).__name__}")
        with entered():
            super().__init__(create.clone_module(source), random, error_render_level, debug_mask not in ("none", 0))
        self._original = self._module
        self._verify_steps = bool(verify)
        _ = enable_check  # accepted for TVM's sake: our checks are proofs and cannot be switched off

    # --- the module ---------------------------------------------------------------------------------------------------

    @property
    def mod(self) -> IRModule:
        """The module as it stands now. It does not change under you: later steps work on copies."""
        return IRModule(self._module)

    def verify(self, sizes: str = "auto", *, seed: int = 0) -> Result:
        """Whether the program still computes what it did at first: both run over a prime field and must agree exactly.

        `sizes`: "full", "scaled" (the trace is replayed on a smaller program, whose guards are of the same kinds), or
        "auto": full where that is soon done. The answer is true when they are equal; its text says at which sizes they
        ran, or which element differs first and who wrote it. Errors: NotChecked names what has no exact meaning.
        """
        from tir_mlir.equivalence.verify_schedule import verify_schedule

        return verify_schedule(self, sizes, seed)

    def show(self, diff: bool = False, **options: Any) -> None:
        """Print the module as TVMScript; with `diff`, what the last step that changed it made of it."""
        if not diff:
            self.mod.show(**options)
            return
        last = next((e for e in reversed(self._history) if e.before is not e.after), None)
        display.show_rich(last.diff() if last else Diff("no step has changed the program yet"))

    # --- what was done, and what would be -----------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """Every step: its call, the user's line, its time, the program after it."""
        return History(self._history)

    def undo(self, n: int = 1) -> None:
        """Take back the last `n` steps that did more than look or sample, and all that came after the first of them.

        The module, the trace, the handles and the random numbers are as they were before; handles given out since are
        dead. Errors: ValueError when there are not so many steps.
        """
        steps = [e for e in self._history if e.changed]
        if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= len(steps):
            raise ValueError(f"undo takes back from 0 to {len(steps)} steps here, not {shown(n)}")
        if n:
            self._take_back(steps[-n].first)

    def explain(self, primitive: str, /, *args: Any, **kwargs: Any) -> Answer:
        """Whether a step would be legal, asked by its name: `sch.explain("split", loop, [None, 16])`.

        The same as `sch.can_split(loop, [None, 16])`. The schedule stays as it is. Errors: those of a wrong call.
        """
        name = {"get_sblock": "get_block"}.get(primitive, primitive) if isinstance(primitive, str) else ""
        if name not in PRIMITIVES or PRIMITIVES[name].returns is bool:
            near = difflib.get_close_matches(name, PRIMITIVES, n=3)
            way = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ValueError(f"there is no primitive {shown(primitive)}{way}")
        return self._ask(lambda trial: getattr(trial, name)(*args, **kwargs))

    def explain_tensorize(
        self, block_or_loop: BlockLike | LoopHandle, tensor_intrin: str | Sequence[str] | None = None
    ) -> Fits:
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
            view = trial._view(handle, trial._module)
            if not isinstance(view, Block):
                raise ScheduleError("this is the root block; name a block with a computation")
            return explain_tensorize(view, tensor_intrin)

    def _ask(self, step: Callable[[Any], Any]) -> Answer:
        trial = self._twin()
        trial._verify_steps = False  # a question is about proofs; running the program is for the step itself
        try:
            step(trial)
        except ScheduleError as error:
            return Answer.refused(error.call, error)
        return Answer(trial._history[-1].call, "legal", mod=trial.mod)

    def _twin(self) -> Schedule:
        """A schedule in the same state, random numbers included."""
        other = object.__new__(type(self))
        other.__dict__ |= self._state()
        return other

    def copy(self) -> Schedule:
        """A schedule in the same state; the two go separate ways, handles given out so far are good for both.

        The copy makes random choices of its own.
        """
        other = self._twin()
        other._random = Random(self._random.fork_seed())
        return other

    def work_on(self, func_name: str) -> None:
        """Choose the function in which `get_block` looks from now on."""
        if not isinstance(func_name, str):
            got = value_type(func_name)
            raise TypeError(f'In "Schedule.work_on", "func_name" has wrong type. Expected "str", but gets: "{got}"')
        with entered():
            working_function(funcs(self._module), func_name)
        self._working = func_name

    @property
    def func_working_on(self) -> str | None:
        return self._working

    # --- handles ------------------------------------------------------------------------------------------------------

    def get(self, handle: Handle | Formula | int) -> LoopInfo | BlockInfo | Any:
        """The block or loop behind a handle as it is now, or the integer that was sampled."""
        if isinstance(handle, int):
            return handle
        if isinstance(handle, Formula):
            return handle.value(self._integer)
        if not isinstance(handle, Handle):
            raise TypeError(
                f'In "Schedule.get", "handle" has wrong type. Expected a handle, but gets: "{shown(handle)}"'
            )
        with entered():
            view = self._view(handle, self._module)
            if isinstance(view, Mark):
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
            got = shown(handle)
            raise TypeError(f'In "Schedule.remove_rv", "handle" has wrong type. Expected a handle, but gets: "{got}"')
        self._check_known(handle)
        self._known.discard(handle.serial)

    # --- chance -------------------------------------------------------------------------------------------------------

    def seed(self, seed: int | None) -> None:
        """Start the random choices anew: from a seed in [1, 2**31 - 1], or (None) from the system's randomness."""
        self._random = _random(seed)

    def fork_seed(self) -> int:
        """A seed for another schedule, drawn from this one's random numbers."""
        return self._random.fork_seed()


def _is_index(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _random(seed: int | None) -> Random:
    if isinstance(seed, bool) or not (seed is None or _is_index(seed)):
        raise TypeError(f'In "Schedule", "seed" has wrong type. Expected "int or None", but gets: "{shown(seed)}"')
    return Random.seeded(None if seed is None else int(seed))
