"""The sizes that `dynamic_shapes` of `from_torch` names, as torch.export takes them; what an import makes of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch.export import AdditionalInputs, Dim, ShapesCollection
from torch.export.dynamic_shapes import _DerivedDim, refine_dynamic_shapes_from_suggested_fixes
from torch.utils._pytree import tree_map

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.ir import enter_context, warn_at_user
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.importers.torch_export.export_refusals import export_refusal, suggested_fixes
from tir_mlir.graph.importers.torch_export.size_guards import guard_ranges

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.export.dynamic_shapes import _DimHint

SizeSpecs: TypeAlias = "Mapping[int, SizeSpec] | Mapping[str, SizeSpec] | Mapping[int | str, SizeSpec]"
SizeSpec: TypeAlias = "Dim | _DimHint | int | str | Sequence[SizeSpec] | SizeSpecs | None"
"""What is said of a size, or of those of tensors in a mapping or a sequence."""
DynamicShapes: TypeAlias = "Mapping[str, SizeSpec] | Sequence[SizeSpec] | ShapesCollection | AdditionalInputs | None"
"""What `dynamic_shapes` of `torch.export.export` takes, with names in text as well."""
_ROUNDS = 8
"""Times that an export is tried with what torch says of the sizes: each fixes some of them."""


class Dimensions:
    """The sizes of one import.

    spec: what torch takes (a Dim, Dim.AUTO, None or a number for each axis, by argument or in their order; or a
    ShapesCollection), where a name in text is a Dim of that name.
    """

    def __init__(
        self, model: torch.nn.Module, args: Sequence[object], kwargs: Mapping[str, object], spec: DynamicShapes
    ):
        collected = isinstance(spec, (ShapesCollection, AdditionalInputs))
        given = spec.dynamic_shapes(model, tuple(args), dict(kwargs)) if collected else spec
        self._arguments = _by_name(model, args, kwargs)
        self.shapes = _dimensions(self._arguments, given)
        self.from_two = {d.__name__ for d in _dims(self.shapes) if d.min >= 2}
        """The names of sizes that are said to be at least 2, which is also what torch takes for the least of others."""

    def refine_and_export(
        self, export: Callable[[dict[str, SizeSpec] | None, bool], ExportedProgram]
    ) -> ExportedProgram:
        """`export(shapes, False)` for sizes as forward needs them: n becomes 8 * n, or m, or at most 512 where torch
        says so. `export(shapes, True)` where what torch says holds for all sizes: it is not to restrict them.

        Errors: GraphError, also for a size that forward needs to be a number."""
        deferred = False
        for _ in range(_ROUNDS):
            try:
                return export(self.shapes, deferred)
            except Exception as error:  # torch's errors have many classes
                ranges = guard_ranges(str(error))
                fixes = suggested_fixes(error) if ranges is None else [_range_fix(n, *r) for n, r in ranges.items()]
                shapes = self._refine_shapes(fixes, may_stay=ranges is not None and not deferred)
                deferred = deferred or ranges is not None
                if shapes is None:
                    raise export_refusal(error) from error
                self.shapes = shapes
        raise GraphError(f"from_torch: torch.export.export finds no sizes that forward takes in {_ROUNDS} attempts")

    def _refine_shapes(self, suggested: list[str], may_stay: bool) -> dict[str, SizeSpec] | None:
        """The sizes with what torch suggests; None where it suggests nothing, or a number. may_stay: or no change."""
        if self.shapes is None or not suggested or any(fix.partition(" = ")[2].isdigit() for fix in suggested):
            return None
        try:
            message = "\n".join(["Suggested fixes:", *suggested])
            fixed = refine_dynamic_shapes_from_suggested_fixes(message, self.shapes)
        except Exception:  # it does not take all that `dynamic_shapes` may have
            return None
        return None if (str(fixed) == str(self.shapes) and not may_stay) or not isinstance(fixed, dict) else fixed

    def leaves(self) -> list[tuple[object, SizeSpec]]:
        """The inputs in torch's order, each with what is said of its sizes."""
        return [
            pair for name, value in self._arguments.items() for pair in _leaves(value, (self.shapes or {}).get(name))
        ]

    def names(self, program: ExportedProgram) -> dict[str, str]:
        """The names that the user gave the symbols of a program: {"s77": "n"}."""
        placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        user_inputs = program.graph_signature.user_inputs
        values = [placeholders[name].meta["val"] for name in user_inputs if name in placeholders]
        names: dict[str, str] = {}
        for value, (_, spec) in zip(values, self.leaves(), strict=False):
            for axis, dim in by_axis(spec).items():
                symbols = getattr(getattr(value.shape[axis], "node", None), "expr", None)
                if symbols is not None and len(symbols.free_symbols) == 1 and (roots := _dims(dim)):
                    names.setdefault(str(next(iter(symbols.free_symbols))), roots[0].__name__)
        return names


def enlarged_examples(
    sizes: Dimensions, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """Example inputs in which each named size is more than one: torch takes a size whose example is 1 for a constant.

    The elements along an axis are repeated; multiples of a size change with it. Others are as they are.
    """
    replaced: dict[int, torch.Tensor] = {}
    for tensor, dims in sizes.leaves():
        for axis, dim in by_axis(dims).items():
            if not isinstance(tensor, torch.Tensor) or not _dims(dim):
                continue
            if tensor.shape[axis] == _size_of_axis(dim, 1):
                several = replaced.get(id(tensor), tensor)
                rows = torch.arange(_size_of_axis(dim, 2)) % tensor.shape[axis]
                replaced[id(tensor)] = several.detach().index_select(axis, rows.to(tensor.device))
    return tree_map(lambda leaf: replaced.get(id(leaf), leaf), (args, kwargs))


def by_axis(spec: SizeSpec) -> dict[int, SizeSpec]:
    """What is said of each axis of a tensor."""
    pairs = spec.items() if isinstance(spec, Mapping) else enumerate(spec if isinstance(spec, (tuple, list)) else ())
    return {axis: dim for axis, dim in pairs if isinstance(axis, int)}


def _size_of_axis(dim: SizeSpec, root: int) -> int:
    """The size of an axis where its Dim, or the one that it is a multiple of, has a value."""
    return dim.fn(root) if isinstance(dim, _DerivedDim) else root


def _range_fix(name: str, least: int, greatest: int | None) -> str:
    """A range in the words of torch's suggestions: `t = Dim('t', min=60)`."""
    return f"{name} = Dim('{name}', min={least}{'' if greatest is None else f', max={greatest}'})"


def _by_name(model: torch.nn.Module, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, object]:
    """The arguments of forward by name, in order; those of `*args` and `**kwargs` under the names of these."""
    try:
        return dict(inspect.signature(model.forward).bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise GraphError(f"from_torch: the example inputs do not fit forward: {error}") from error


def _dimensions(
    named: Mapping[str, object], dynamic: Mapping[str, SizeSpec] | Sequence[SizeSpec] | None
) -> dict[str, SizeSpec] | None:
    """`dynamic_shapes` as torch wants it: all arguments, with a torch Dim for each name."""
    if dynamic is None:
        return None
    if not isinstance(dynamic, Mapping):
        dynamic = dict(zip(named, dynamic, strict=False))
    unknown = [name for name in dynamic if name not in named]
    if unknown:
        raise GraphError(
            f"from_torch: dynamic_shapes names {short_repr(unknown[0])}, which forward is not called with\n"
            f"  fix: its arguments are {', '.join(named)}"
        )
    dims: dict[str, Dim] = {}
    return {name: _with_dims(dynamic.get(name), dims) for name in named}


def _with_dims(spec: SizeSpec, dims: dict[str, Dim]) -> SizeSpec:
    if isinstance(spec, str):
        if not spec.isidentifier():
            raise GraphError(
                f"from_torch: dynamic size {spec!r} is not a name\n"
                '  fix: use a name such as "n"; for a multiple of a size pass 2 * torch.export.Dim("n")'
            )
        return dims.setdefault(spec, torch.export.Dim(spec))
    if isinstance(spec, Mapping):
        return {key: _with_dims(value, dims) for key, value in spec.items()}
    if isinstance(spec, (tuple, list)):
        return type(spec)(_with_dims(value, dims) for value in spec)
    return spec


def _dims(spec: SizeSpec) -> list[Dim]:
    """The Dims in a specification, those that others are multiples of for these."""
    if isinstance(spec, Mapping):
        return [d for value in spec.values() for d in _dims(value)]
    if isinstance(spec, (tuple, list)):
        return [d for value in spec for d in _dims(value)]
    return [spec.root if isinstance(spec, _DerivedDim) else spec] if isinstance(spec, Dim) else []


def _leaves(value: object, spec: SizeSpec) -> Iterator[tuple[object, SizeSpec]]:
    """The leaves of an argument with their parts of the specification, in torch's order."""
    if isinstance(value, torch.Tensor) or not isinstance(value, (tuple, list, dict)):
        yield value, spec
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, spec.get(key) if isinstance(spec, Mapping) else None)
    else:
        specs = spec if isinstance(spec, (tuple, list)) else [None] * len(value)
        for item, part in zip(value, specs, strict=False):
            yield from _leaves(item, part)


_MULTIPLE = re.compile(r"(\d+) \* \w+")


def warn_of_multiples(graph: Graph, sizes: Dimensions) -> None:
    """Warn of each size that the caller leaves open and the graph has as a multiple, or a sum, of another: forward
    needs it so for the example, and calls take no others."""
    leaves = [(value, spec) for value, spec in sizes.leaves() if isinstance(value, torch.Tensor)]
    with enter_context():
        func = graph.func
        inputs = [n for n in range(len(func.inputs)) if func.weight(n) is None]
        types = [(func.input_name(n), func.input_type(n)) for n in inputs]
    for (value, spec), (name, type_) in zip(leaves, types, strict=False):
        for axis in _open_axes(spec):
            size = type_.shape[axis]
            if isinstance(size, str) and not size.isidentifier():
                multiple = _MULTIPLE.fullmatch(size)
                taken = f"multiples of {multiple[1]}" if multiple else f"sizes {size}"
                said = f'{multiple[1]} * torch.export.Dim("n")' if multiple else "a Dim of that form"
                warn_at_user(
                    f"from_torch: axis {axis} of {name} is imported as {size}, as forward computes with it for the "
                    f"example, which has {value.shape[axis]}: calls take {taken} only; fix: if forward takes other "
                    f"sizes, an example of one; else {said} in dynamic_shapes, which says so",
                    UserWarning,
                )


def _open_axes(spec: SizeSpec) -> Iterator[int]:
    """The axes that vary, of which the caller does not say how: by a name, a Dim or Dim.AUTO, no multiple of one."""
    for axis, dim in by_axis(spec).items():
        if dim is not None and not isinstance(dim, (int, _DerivedDim)):
            yield axis
