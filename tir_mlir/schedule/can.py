"""`can_NAME`: would this step be legal? Asked on a copy, with the arguments of the step itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Concatenate, Literal, ParamSpec

from tir_mlir.dialect.diagnostics import Counterexample, ScheduleError, html
from tir_mlir.schedule.primitives import Methods
from tir_mlir.script.module import IRModule

P = ParamSpec("P")


def _asked(step: Callable[Concatenate[Any, P], Any]) -> Callable[Concatenate[Any, P], Answer]:
    """The question about a step."""

    def question(self: Questions, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        return self._ask(lambda trial: step(trial, *args, **kwargs))

    question.__name__ = question.__qualname__ = f"can_{step.__name__}"
    question.__doc__ = f"Whether `{step.__name__}` with these arguments would be legal, and if not, why."
    return question


class Questions(Methods):
    """A question a primitive. Answers change nothing: no module, trace, handle or random number.

    `can_decompose_padding` is a step's own question, answered by a bool; `explain("decompose_padding", ...)` says why.
    """

    def _ask(self, step: Callable[[Any], Any]) -> Answer:
        raise NotImplementedError

    can_get_block = _asked(Methods.get_block)
    can_get_loops = _asked(Methods.get_loops)
    can_get_child_blocks = _asked(Methods.get_child_blocks)
    can_get_producers = _asked(Methods.get_producers)
    can_get_consumers = _asked(Methods.get_consumers)
    can_get_output_blocks = _asked(Methods.get_output_blocks)
    can_sample_categorical = _asked(Methods.sample_categorical)
    can_sample_perfect_tile = _asked(Methods.sample_perfect_tile)
    can_sample_partitioned_tile = _asked(Methods.sample_partitioned_tile)
    can_sample_compute_location = _asked(Methods.sample_compute_location)
    can_enter_postproc = _asked(Methods.enter_postproc)
    can_split = _asked(Methods.split)
    can_fuse = _asked(Methods.fuse)
    can_merge = _asked(Methods.merge)
    can_loop_partition = _asked(Methods.loop_partition)
    can_add_unit_loop = _asked(Methods.add_unit_loop)
    can_reorder = _asked(Methods.reorder)
    can_parallel = _asked(Methods.parallel)
    can_vectorize = _asked(Methods.vectorize)
    can_unroll = _asked(Methods.unroll)
    can_bind = _asked(Methods.bind)
    can_annotate = _asked(Methods.annotate)
    can_unannotate = _asked(Methods.unannotate)
    can_blockize = _asked(Methods.blockize)
    can_decompose_reduction = _asked(Methods.decompose_reduction)
    can_rfactor = _asked(Methods.rfactor)
    can_fuse_reduction_epilogue = _asked(Methods.fuse_reduction_epilogue)
    can_pad_einsum = _asked(Methods.pad_einsum)
    can_tensorize = _asked(Methods.tensorize)
    can_cache_read = _asked(Methods.cache_read)
    can_cache_write = _asked(Methods.cache_write)
    can_cache_index = _asked(Methods.cache_index)
    can_cache_inplace = _asked(Methods.cache_inplace)
    can_reindex = _asked(Methods.reindex)
    can_reindex_cache_read = _asked(Methods.reindex_cache_read)
    can_reindex_cache_write = _asked(Methods.reindex_cache_write)
    can_set_scope = _asked(Methods.set_scope)
    can_storage_align = _asked(Methods.storage_align)
    can_unsafe_set_dtype = _asked(Methods.unsafe_set_dtype)
    can_transform_layout = _asked(Methods.transform_layout)
    can_rolling_buffer = _asked(Methods.rolling_buffer)
    can_annotate_buffer_access = _asked(Methods.annotate_buffer_access)
    can_unsafe_hide_buffer_access = _asked(Methods.unsafe_hide_buffer_access)
    can_transform_block_layout = _asked(Methods.transform_block_layout)
    can_reorder_block_iter_var = _asked(Methods.reorder_block_iter_var)
    can_compute_at = _asked(Methods.compute_at)
    can_reverse_compute_at = _asked(Methods.reverse_compute_at)
    can_read_at = _asked(Methods.read_at)
    can_write_at = _asked(Methods.write_at)
    can_compute_inline = _asked(Methods.compute_inline)
    can_reverse_compute_inline = _asked(Methods.reverse_compute_inline)


Verdict = Literal["legal", "illegal", "not provable"]


@dataclass(frozen=True)
class Answer:
    """What would become of a step. True exactly when it is legal.

    `reason`: why it is not (for "not provable": what could not be shown). `counterexample`: the iterations and the
    element that show it, where there are such; `fix`: what to do instead, where the reason does not say it. `text` is
    the whole refusal with the program. `mod`: the program after a legal step.
    """

    call: str
    verdict: Verdict
    reason: str = ""
    counterexample: Counterexample | None = None
    fix: str = ""
    text: str = field(default="", repr=False, compare=False)
    mod: IRModule | None = field(default=None, repr=False, compare=False)

    @staticmethod
    def refused(call: str, error: ScheduleError) -> Answer:
        verdict: Verdict = "illegal" if error.provable else "not provable"
        return Answer(call, verdict, error.reason, error.counterexample, error.fix, str(error))

    @property
    def missing(self) -> str:
        """What could not be shown, of a step that is not provable."""
        return self.reason if self.verdict == "not provable" else ""

    def __bool__(self) -> bool:
        return self.verdict == "legal"

    def __str__(self) -> str:
        if self:
            return f"{self.call}: legal"
        lines = [f"{self.call}: {self.verdict}: {self.reason}"]
        example = self.counterexample
        if example is not None:
            sizes = "".join(f", {n}={v}" for n, v in example.sizes)
            lines += [f"  iteration: {i}{sizes}" for i in example.iterations]
            lines += [f"  element: {example.element}"] if example.element else []
            lines += [f"  not so where: {example.unless}"] if example.unless else []
        return "\n".join(lines + ([f"  fix: {self.fix}"] if self.fix else []))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(str(self))
