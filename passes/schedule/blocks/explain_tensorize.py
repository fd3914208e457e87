"""explain_tensorize: report whether a block matches an intrinsic, and the differences of each alignment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.dialect.computation import Alignment, Form, NotRaisable, TensorIntrin, alignments, raise_form
from tir_mlir.dialect.diagnostics import IntrinError, ScheduleError, short_repr
from tir_mlir.dialect.ir import Block, only_reads
from tir_mlir.passes.schedule.blocks.intrinsic_body import check_inlinable
from tir_mlir.passes.schedule.blocks.tensorize import parameter_bindings, region_checks


@dataclass(frozen=True)
class Fit:
    """The result for one intrinsic: the possible alignments with their differences, best first, or the `obstacle` that
    rules out all of them. True if it fits.
    """

    name: str
    ways: tuple[Alignment, ...] = ()
    obstacle: str = ""

    def __bool__(self) -> bool:
        return any(not way.differences for way in self.ways)

    def __str__(self) -> str:
        if self.obstacle:
            return f"{self.name}: does not fit: {self.obstacle}"
        lines = [f"{self.name}: fits ({way})" for way in self.ways if not way.differences]
        lines += [] if self else [f"{self.name}: does not fit"]
        for way in self.ways:
            if way.differences:
                lines += [f"  not with {way}:"] if way.operands else []
                lines += [f"  - {d}" for d in way.differences]
        return "\n".join(lines)


@dataclass(frozen=True)
class FitReport(Mapping[str, Fit]):
    """The results for one block, by name of the intrinsic. True if one of them fits."""

    by_name: dict[str, Fit]

    def __getitem__(self, name: str) -> Fit:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def __bool__(self) -> bool:
        return any(self.by_name.values())

    def __str__(self) -> str:
        return "\n".join(map(str, self.by_name.values())) or "no tensor intrinsic is registered"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "<pre>" + str(self).replace("&", "&amp;").replace("<", "&lt;") + "</pre>"


def explain_tensorize(block: Block, tensor_intrin: str | Sequence[str] | None = None) -> FitReport:
    """For each intrinsic (default: all registered ones), the buffers its parameters would be bound to, or the
    differences.

    Call inside `context.entered()`. Does not change the module. Errors: IntrinError for an unknown intrinsic.
    """
    if tensor_intrin is not None and not isinstance(tensor_intrin, (str, list, tuple)):
        raise IntrinError(f"tensor_intrin is a name or a list of names, not {short_repr(tensor_intrin)}")
    names = [tensor_intrin] if isinstance(tensor_intrin, str) else list(tensor_intrin or TensorIntrin.list())
    intrinsics = [i for n in names if (i := TensorIntrin.get(n)) is not None]
    try:
        form = raise_form(block)
    except NotRaisable as error:
        return FitReport({n: Fit(n, obstacle=f"{block} is not a pure tensor computation: {error}") for n in names})
    return FitReport({i.name: _fit(block, form, i) for i in intrinsics})


@only_reads
def _fit(block: Block, form: Form, intrinsic: TensorIntrin) -> Fit:
    if not form.canonical().axes and intrinsic.form().canonical().axes:
        way = "pass the loop around the tile to tensorize, or a blockized block"
        return Fit(intrinsic.name, obstacle=f"{block} is a single point; {way}")
    return Fit(intrinsic.name, tuple(_checked(block, way, intrinsic) for way in alignments(form, intrinsic.form())))


def _checked(block: Block, way: Alignment, intrinsic: TensorIntrin) -> Alignment:
    """A matching alignment, with the implementation's unmet requirements on the regions."""
    if way.match is None:
        return way
    impl = intrinsic.impl_func()
    reasons = []
    for region_check in region_checks(block, parameter_bindings(way.match, impl.func), impl.func, intrinsic.name):
        try:
            region_check()
        except ScheduleError as error:
            reasons.append(error.reason)
    try:
        check_inlinable(impl.func, intrinsic.name)
    except ScheduleError as error:
        reasons.append(error.reason)
    return Alignment(way.operands, way.axes, tuple(reasons), way.match)
