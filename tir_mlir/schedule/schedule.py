"""Schedule: a module, and the primitives that rewrite it."""

from __future__ import annotations

import difflib
import html as _html
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, overload

from mlir import ir

from tir_mlir.dialect.diagnostics import InternalError, ScheduleError, ScheduleWarning, check_type, short_repr
from tir_mlir.dialect.incremental import Version
from tir_mlir.dialect.ir import Block, create, enter_context, funcs, walk
from tir_mlir.dialect.symbolic import Formula
from tir_mlir.dialect.verify import is_verified
from tir_mlir.extensions import extension_point
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.passes.schedule.blocks.tensorize import FitReport, explain_tensorize
from tir_mlir.passes.schedule.queries.decider import Decider, Random
from tir_mlir.passes.schedule.queries.lookup import working_function
from tir_mlir.schedule.can import Answer, LegalityQueries
from tir_mlir.schedule.executor import Executor
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, Handle, LoopHandle, is_other, register
from tir_mlir.schedule.history import Diff, History
from tir_mlir.schedule.info import BlockInfo, LoopInfo, own_copy
from tir_mlir.schedule.primitives import BlockLike
from tir_mlir.schedule.step_arguments import value_type
from tir_mlir.schedule.trace import Trace
from tir_mlir.script import display
from tir_mlir.script.module import IRModule, PrimFunc

if TYPE_CHECKING:
    from tir_mlir.equivalence.result import Result
    from tir_mlir.schedule.layouts import Layouts
    from tir_mlir.target import AnyTarget
    from tir_mlir.visual.svg import Picture

_NO_TREE = (
    "schedules have no sref tree: use sch.get(handle) for the properties of a block or loop, and sch.get_loops and"
    " sch.get_child_blocks for the ops around and inside it"
)


class Schedule(LegalityQueries):
    """A module, and the primitives that rewrite it step by step.

    Every step rewrites a copy, which the verifier checks before the step is committed: a step that raises leaves `mod`,
    the trace and all handles unchanged. `mod`: an IRModule, a PrimFunc or an MLIR module, which is copied.
    `verify="each step"`: run `verify` after every step, and roll back a step that changes the result of the program
    (StepError) or cannot be checked (NotChecked).
    `decider`: makes the decisions of sampling steps instead of the random numbers: `decider.choose(name, candidates,
    weights)` returns a position among the candidates. Copies of the schedule share it; a pickled one has none.
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
        decider: Decider | None = None,
    ):
        if verify not in (None, "", "each step"):
            raise ValueError(f'verify must be "each step" or None, not {short_repr(verify)}')
        if error_render_level not in ("detail", "fast", "none"):
            raise ValueError(
                f'error_render_level must be "detail", "fast" or "none", not {short_repr(error_render_level)}'
            )
        if not (decider is None or callable(getattr(decider, "choose", None))):
            raise TypeError(f"decider must have a method choose(name, candidates, weights), not {short_repr(decider)}")
        random = _random(seed)
        alone = IRModule({"main": mod}) if isinstance(mod, PrimFunc) else mod  # named main, as in TVM
        source = alone.mlir if isinstance(alone, IRModule) else alone
        if is_other(source, ir.Module):
            raise TypeError(f"Schedule takes an IRModule, a PrimFunc or an MLIR module, not {type(mod).__name__}")
        with enter_context():
            copy = create.clone_module(source)
            known = is_verified(mod.module.mlir if isinstance(mod, PrimFunc) else source)
            version = Version(copy, known)
        super().__init__(Executor(version, random, error_render_level, debug_mask not in ("none", 0)))
        self._executor.decider = decider
        if verify:
            self._executor.check = self.verify
        _ = enable_check  # accepted for compatibility: legality checks cannot be disabled

    # --- the module ---------------------------------------------------------------------------------------------------

    @property
    def mod(self) -> IRModule:
        """The current module. Later steps do not modify it, as they rewrite copies."""
        return IRModule(self._executor.version.share_module())

    @extension_point
    def verify(self, sizes: str = "auto", *, seed: int = 0, target: str | AnyTarget | None = None) -> Result:
        """Check that the program is equivalent to the original: run both over a prime field, compare exactly.

        `sizes`: "full", "scaled" (replay the trace on a smaller program with the same kinds of guards), or "auto":
        "full" if that is fast enough. The result is truthy if the programs agree; its text names the sizes of the run,
        or the first element that differs and the block that wrote it. `target`: a GPU, "cuda" or CUDA("sm_80"): its
        kernels run on the PTX machine instead, with all checks, on exact data. Errors: NotChecked for operations
        without exact semantics; LoweringError for what a GPU cannot run.
        """
        ...

    def show(self, diff: bool = False, **options: object) -> None:
        """Print the module as TVMScript, or with `diff` the diff of the last step that changed it."""
        check_type(diff, (bool, int), "Schedule.show", "diff", "a bool")
        if not diff:
            self.mod.show(**options)
            return
        last = next((e for e in reversed(self._executor.history) if e.changed), None)
        display.show_rich(last.diff() if last else Diff("no step has changed the program yet"))

    @property
    def trace(self) -> Trace:
        """The steps and sampling decisions so far. Prints as Python; can be replayed on other schedules."""
        return self._executor.trace

    @property
    def executor(self) -> Executor:
        """The state of the schedule, for tools that replay or check steps."""
        return self._executor

    # --- history ------------------------------------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """Every step with its call, source location, run time and resulting program."""
        return History(self._executor.history, self._executor.refused, self._executor.version)

    def __repr__(self) -> str:
        with enter_context():
            blocks = [
                f"{f.name}: {', '.join(b.name for b in walk.all_blocks(f.op)) or 'no'}"
                for f in funcs(self._executor.module)
            ]
        steps = sum(e.changed for e in self._executor.history)
        return f"Schedule({'; '.join(blocks)} blocks; {steps} step{'s' * (steps != 1)} changed the program)"

    def _repr_html_(self) -> str:
        return f"{display.html(self.mod.script())}<p>{_html.escape(repr(self))}</p>"

    # --- pictures -----------------------------------------------------------------------------------------------------

    @extension_point
    def plot(self, step: int | None = None, *, width: float = 560) -> Picture:
        """Draw the loop nest as SVG: loops as nested frames, blocks with their iters and regions.

            sch.plot()                       # the current program
            sch.plot(step=3).save("3.svg")   # before and after step 3 of sch.history, with the changes marked

        Lines wrap at about `width` px. Errors: ValueError for an unknown step.
        """
        ...

    @extension_point
    def plot_access(
        self,
        block: BlockLike,
        buffer: str | None = None,
        loop: LoopHandle | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
    ) -> Picture:
        """Draw the elements of a buffer that a block accesses in one iteration of a loop around it.

            sch.plot_access("C", "A", sch.get_loops("C")[1])

        Dark: the elements of the first iteration of `loop`; light: those of all its iterations. Without a loop, those
        of the whole run. Without `buffer`, one picture for each buffer. Of buffers with more than three dimensions, the
        last three are drawn. `sizes`: values of shape variables; missing ones are chosen.

        Errors: ValueError for a loop that is not around the block, or a buffer that the block does not access.
        """
        ...

    @extension_point
    def show_layout(self, buffer: str | BlockLike, target: str | AnyTarget = "sm_80") -> Layouts:
        """Print which lane holds which element of a fragment, or which bank has which element of a shared buffer.

            sch.show_layout("A_shared_mma.matrix_a")     # lane and register of each element of a tile
            sch.show_layout("A_shared")                  # banks of each row, with the permutation of `swizzle`

        buffer: its name, or a block: the buffers that it accesses in these scopes. target: the GPU for which addresses
        are chosen. Returns the layouts, an object with `text`. Errors: ScheduleError for a buffer that there is not,
        or that is in another scope; those of a build for a shared buffer.
        """
        ...

    def undo(self, n: int = 1) -> None:
        """Undo the last `n` steps that are not lookups or sampling, and all steps after the first of them.

        Restores the module, the trace, the handles and the RNG state; handles returned since then are dead. Errors:
        ValueError if there are fewer steps.
        """
        steps = [e for e in self._executor.history if e.changed]
        if isinstance(n, bool) or is_other(n, int) or not 0 <= n <= len(steps):
            raise ValueError(f"undo can undo from 0 to {len(steps)} steps, not {short_repr(n)}")
        if n:
            self._executor.take_back(steps[-n].first)

    def explain(self, primitive: str, /, *args: object, **kwargs: object) -> Answer:
        """Check whether a step would be legal, by the name of its primitive: `sch.explain("split", loop, [None, 16])`.

        Same as `sch.can_split(loop, [None, 16])`. The schedule is unchanged. Errors: ValueError for an unknown
        primitive, and the TypeError and IndexError of invalid arguments.
        """
        name = {"get_sblock": "get_block"}.get(primitive, primitive) if not is_other(primitive, str) else ""
        if name not in PRIMITIVES or PRIMITIVES[name].returns is bool:
            near = difflib.get_close_matches(name, PRIMITIVES, n=3)
            way = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ValueError(f"unknown primitive {short_repr(primitive)}{way}")
        return self._ask(lambda trial: getattr(trial, name)(*args, **kwargs))

    def explain_tensorize(
        self, block_or_loop: BlockLike | LoopHandle, tensor_intrin: str | Sequence[str] | None = None
    ) -> FitReport:
        """Report how tensor intrinsics (default: all) match a block: each mapping of iters, and why it fits or not.

        A loop is blockized first, on a copy. Errors: IntrinError for an unknown intrinsic, ScheduleError for a loop
        that cannot be blockized.
        """
        trial = self._twin()
        block = trial.blockize(block_or_loop) if isinstance(block_or_loop, LoopHandle) else block_or_loop
        handle = trial.get_block(block) if isinstance(block, str) else block
        if is_other(handle, BlockHandle):
            raise TypeError(
                'In "Schedule.explain_tensorize", "block_or_loop" has wrong type. Expected "BlockHandle, LoopHandle or'
                f' str", but gets: "{value_type(handle)}"'
            )
        with enter_context():
            view = trial._executor.view(handle, trial._executor.version)
            if not isinstance(view, Block):
                raise ScheduleError("this is the root block; name a block with a computation")
            return explain_tensorize(view, tensor_intrin)

    def _ask(self, step: Callable[[object], object]) -> Answer:
        trial = self._twin()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ScheduleWarning)
                step(trial)
        except InternalError:
            raise  # a fault says nothing about the step
        except ScheduleError as error:
            return Answer.from_error(error.call, error)
        return Answer(trial._executor.history[-1].call, "legal", mod=trial.mod)

    def _twin(self) -> Schedule:
        """A copy of the schedule, RNG state included, that does not verify its steps."""
        duplicate = object.__new__(type(self))
        duplicate.__dict__ |= self.__dict__ | {"_executor": self._executor.twin()}
        return duplicate

    def __getstate__(self) -> dict[str, object]:
        return {"executor": self._executor, "checks": self._executor.check is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._executor = state["executor"]
        if state["checks"]:
            self._executor.check = self.verify

    def __copy__(self) -> Schedule:
        return self._duplicate()

    def __deepcopy__(self, memo: dict[int, object]) -> Schedule:
        return self._duplicate()

    def _duplicate(self) -> Schedule:
        """A copy of the schedule, RNG state included, that verifies its steps if this one does."""
        duplicate = self._twin()
        duplicate._executor.decider = self._executor.decider
        if self._executor.check is not None:
            duplicate._executor.check = duplicate.verify
        register(duplicate._executor._owner, duplicate._executor)
        return duplicate

    def copy(self) -> Schedule:
        """A copy of the schedule. Existing handles are valid in both; the copy has its own random numbers."""
        duplicate = self._duplicate()
        duplicate._executor.random = Random(self.fork_seed())
        return duplicate

    def work_on(self, func_name: str) -> None:
        """Set the function in which `get_block` looks up names."""
        if is_other(func_name, str):
            got = value_type(func_name)
            raise TypeError(f'In "Schedule.work_on", "func_name" has wrong type. Expected "str", but gets: "{got}"')
        with enter_context():
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
        """The current properties of the block or loop of a handle, or the value of a sampled integer."""
        if isinstance(handle, int):
            return handle
        if isinstance(handle, Formula):
            return handle.value(self._executor.integer)
        if is_other(handle, Handle):
            raise TypeError(
                f'In "Schedule.get", "handle" has wrong type. Expected a handle, but gets: "{short_repr(handle)}"'
            )
        if isinstance(handle, ExprHandle):
            return self._executor.integer(handle)
        return own_copy(self._executor.info(handle))

    @property
    def state(self) -> NoReturn:
        """The sref tree of TVM. Not supported: raises AttributeError."""
        raise AttributeError(f"Schedule.state: {_NO_TREE}")

    def get_sref(self, handle: Handle) -> NoReturn:
        """The sref of a block or loop in TVM. Not supported: raises AttributeError."""
        raise AttributeError(f"Schedule.get_sref: {_NO_TREE}")

    def remove_rv(self, handle: Handle) -> None:
        """Invalidate a handle. Errors: IndexError if it is not valid in this schedule."""
        if is_other(handle, Handle):
            got = short_repr(handle)
            raise TypeError(f'In "Schedule.remove_rv", "handle" has wrong type. Expected a handle, but gets: "{got}"')
        self._executor.forget(handle)

    # --- random -------------------------------------------------------------------------------------------------------

    def seed(self, seed: int | None) -> None:
        """Seed the random number generator: an integer in [0, 2**31 - 1], or None for a seed from the system."""
        self._executor.random = _random(seed)

    def fork_seed(self) -> int:
        """Draw a seed for another schedule from the random number generator."""
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
    return Random.from_seed(None if seed is None else int(seed))
