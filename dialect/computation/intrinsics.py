"""Tensor intrinsics by name: the computation of an accelerator instruction, and the program that implements it.

A description is matched against blocks by its canonical form (`match`); the implementation replaces the match. Both
are stored as text and parsed at each use, so no IR outlives a call.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mlir import ir

from tir_mlir.dialect.computation.form import Form, NotRaisable
from tir_mlir.dialect.computation.raising import raise_form
from tir_mlir.dialect.computation.scalar_params import is_size, size_params
from tir_mlir.dialect.computation.scalar_tree import ScalarArgument, scalar_number
from tir_mlir.dialect.diagnostics import IntrinError, short_repr
from tir_mlir.dialect.ir import Buffer, Func, enter_context, funcs
from tir_mlir.extensions import extension_point

if TYPE_CHECKING:
    from pathlib import Path


_known: dict[str, TensorIntrin] = {}


@dataclass(frozen=True)
class Parsed:
    """A function, and its module, which must be referenced to remain alive."""

    module: ir.Module
    func: Func


@extension_point
def register_built_in(name: str) -> None:
    """Register the built-in intrinsic of a name, or of the function that implements it, if there is one."""
    ...


@extension_point
def find_fault(intrinsic: TensorIntrin) -> str | None:
    """The first difference between an implementation in loops and the description on small numbers, or None."""
    ...


@dataclass(frozen=True)
class TensorIntrin:
    """An intrinsic: `desc` and `impl` are modules as text, with one function each and the same parameters."""

    name: str
    desc: str
    impl: str

    @staticmethod
    def register(name: str, desc: object, impl: object, override: bool = False) -> None:
        """Register an intrinsic under a name, for `tensorize`.

        `desc` is a PrimFunc (or an MLIR module with one function) that computes one value per point of a box of loops;
        `impl` has the same parameters and computes the same. All parameters are buffers of constant shape; strides may
        be variables. Registering an identical intrinsic again (a notebook cell run twice) is allowed. Errors:
        IntrinError if the name is taken by a different intrinsic (without `override`), if the parameters of the two
        differ, if `desc` is not a pure tensor computation, or if an implementation in loops computes something else.
        """
        if not name or not isinstance(name, str):
            raise IntrinError(f"the name of an intrinsic must be a string, not {short_repr(name)}")
        with enter_context():
            first = _text(desc, f'the description of "{name}"')
            intrinsic = TensorIntrin(name, first, _text(impl, f'the implementation of "{name}"'))
            if name in _known and not override and _known[name] != intrinsic:
                raise IntrinError(f'another intrinsic "{name}" is registered already; pass override=True to replace it')
            _check(intrinsic)
            if (fault := find_fault(intrinsic)) is not None:
                raise IntrinError(f'"{name}": {fault}')
        _known[name] = intrinsic

    def register_again(self) -> None:
        """Be the intrinsic of its name, as when it was registered, whatever was registered since."""
        _known[self.name] = self

    @staticmethod
    def get(name: str, allow_missing: bool = False) -> TensorIntrin | None:
        """The intrinsic of a name. Unknown: None with `allow_missing`, else IntrinError with similar names."""
        if not isinstance(name, str):
            raise IntrinError(f"the name of an intrinsic must be a string, not {short_repr(name)}")
        if name not in _known:
            register_built_in(name)
        if name in _known or allow_missing:
            return _known.get(name)
        near = difflib.get_close_matches(name, _known, n=3, cutoff=0.5)
        if near:
            way = f"did you mean {' or '.join(near)}?"
        elif _known:
            way = f"known are {', '.join(sorted(_known))}"
        else:
            way = "none is registered yet: TensorIntrin.register(name, desc, impl)"
        raise IntrinError(f'no tensor intrinsic "{name}"; {way}')

    @staticmethod
    @extension_point
    def check(name: str, seed: int = 0, kernel: str | None = None, libs: Sequence[str | Path] = ()) -> Any:
        """Run the implementation of an intrinsic, with its kernel, against its description: on random data, on small
        numbers, at ties, at the ends of types and at the constants of the description; strides of operands differ.

        kernel: the code of the functions that the implementation calls, instead of those that are registered: C or C++
        source, LLVM IR, or MLIR in the llvm dialect; text or the path of a file. It may keep state from call to call.
        libs: paths of shared objects that define the functions.

        The result is true if they agree (integers exactly, floats within the rounding error of the sums) and if
        parameters that the description only writes are not read; its text is the report. Errors: IntrinError,
        BuildError.
        """
        ...

    @staticmethod
    def list() -> list[str]:
        """The names of all intrinsics."""
        return sorted(_known)

    def desc_func(self) -> Parsed:
        """The description, freshly parsed (call inside `entered`)."""
        return _parse(self.desc)

    def impl_func(self) -> Parsed:
        """The implementation, freshly parsed (call inside `entered`)."""
        return _parse_cached(self.impl)

    def form(self) -> Form:
        """The canonical form of the description (call inside `entered`)."""
        return _form(self.desc)

    def __repr__(self) -> str:
        return f'TensorIntrin("{self.name}")'


@lru_cache(maxsize=64)
def _form(text: str) -> Form:
    parsed = _parse(text)
    form = raise_form(parsed.func, guarded=True)
    return replace(form, keep=parsed.module, sizes=tuple(p for p in size_params(parsed.func) if is_size(form, p)))


@lru_cache(maxsize=64)
def _parse_cached(text: str) -> Parsed:
    return _parse(text)


def _parse(text: str) -> Parsed:
    module = ir.Module.parse(text)
    return Parsed(module, funcs(module)[0])


def _text(part: object, what: str) -> str:
    """The text of a module with one function, given a PrimFunc, an IRModule or an MLIR module."""
    module = getattr(part, "isolated_module", part)  # a PrimFunc, without the other functions of its module
    module = getattr(module, "mlir", module)
    if not isinstance(module, ir.Module):
        raise IntrinError(f"{what} must be a @T.prim_func function (or an MLIR module), not {type(part).__name__}")
    count = len(funcs(module))
    if count != 1:
        raise IntrinError(f"{what} must be a single function; this module has {count}")
    return str(module.operation.get_asm(enable_debug_info=True))


def _check(intrinsic: TensorIntrin) -> None:
    name = intrinsic.name
    parsed = intrinsic.desc_func(), intrinsic.impl_func()
    desc, impl = (p.func for p in parsed)
    for func, what in ((desc, "description"), (impl, "implementation")):
        _check_params(func, f'the {what} of "{name}"')
    _check_same(desc, impl, name)
    try:
        form = raise_form(desc, guarded=True)
    except NotRaisable as error:
        raise IntrinError(f'the description of "{name}" is not a pure tensor computation: {error}') from error
    _check_operands(desc, form, name)
    _check_scalars(desc, form, name)


def _check_params(func: Func, what: str) -> None:
    for number, arg in enumerate(func.args):
        if is_buffer(arg) and None in Buffer(arg).shape:
            raise IntrinError(
                f"{what}: the shape of {func.arg_name(number)} must be constant; fix: the greatest one, and a "
                "parameter n: T.int32 with T.assume(n <= 16) that limits loops or conditions"
            )


def _check_same(desc: Func, impl: Func, name: str) -> None:
    desc_params, impl_params = desc.params, impl.params
    if len(desc_params) != len(impl_params):
        raise IntrinError(
            f'"{name}": the description has {len(desc_params)} parameters ({_names(desc_params)}), '
            f"the implementation {len(impl_params)} ({_names(impl_params)})"
        )
    scalars = [[(n, str(a.type)) for n, a in enumerate(f.args) if not is_buffer(a)] for f in (desc, impl)]
    if scalars[0] != scalars[1]:
        texts = [", ".join(f"{f.arg_name(n)}: {t}" for n, t in s) for f, s in zip((desc, impl), scalars, strict=True)]
        raise IntrinError(
            f'"{name}": the numbers among the parameters differ: {texts[0] or "none"} in the description, '
            f"{texts[1] or 'none'} in the implementation"
        )
    for a, b in zip(desc_params, impl_params, strict=True):
        for what in ("shape", "dtype", "scope"):
            desc_fact, impl_fact = getattr(a, what), getattr(b, what)
            if desc_fact != impl_fact:
                raise IntrinError(
                    f'"{name}": {what} of parameter {a.name} is {_show(desc_fact)} in the description, '
                    f"of {b.name} {_show(impl_fact)} in the implementation"
                )


def _check_scalars(desc: Func, form: Form, name: str) -> None:
    """Check that a parameter that is a number limits conditions and loops, or is computed with, but not both."""
    computed = {scalar_number(t) for t in form.values if isinstance(t, ScalarArgument)}
    params = {p.number: p for p in size_params(desc)}
    for number, arg in enumerate(desc.args):
        if is_buffer(arg):
            continue
        param, what = params.get(number), f'the description of "{name}"'
        if param is not None and is_size(form, param):
            if number in computed:
                raise IntrinError(
                    f"{what} computes with {param.name}, which limits a loop or a condition; fix: two parameters"
                )
        elif number not in computed:
            raise IntrinError(f"{what} does not use parameter {desc.arg_name(number)}")
        elif param is not None and (param.low, param.high) != (None, None):
            raise IntrinError(
                f"{what} computes with {param.name}, whose bounds are not proved; fix: leave out T.assume"
            )


def _check_operands(desc: Func, form: Form, name: str) -> None:
    """Check that every parameter is used, over the whole extent of each dimension."""
    for param in desc.params:
        operands = [o for o in form.operands if o.buffer == param]
        if not operands:
            raise IntrinError(f'the description of "{name}" does not use parameter {param.name}')
        for operand in operands:
            for number, (row, size) in enumerate(zip(operand.rows, param.shape, strict=True)):
                if not any(row) and size != 1:
                    raise IntrinError(
                        f'the description of "{name}" uses one point of dimension {number} of {param.name}, '
                        f"which has {size}"
                    )
    foreign = [o.buffer.name for o in form.operands if o.buffer not in desc.params]
    if foreign:
        raise IntrinError(f'the description of "{name}" uses {foreign[0]}, which is not one of its parameters')


def is_buffer(arg: ir.Value) -> bool:
    return isinstance(arg.type, ir.MemRefType)


def _names(params: Sequence[Buffer]) -> str:
    return ", ".join(p.name for p in params)


def _show(value: str | Sequence[int]) -> str:
    return f'"{value}"' if isinstance(value, str) else str(tuple(value))
