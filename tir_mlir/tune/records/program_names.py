"""The names in a program, in order, and a program under the names of another one that is equal but for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mlir import ir

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.dialect.ir import Func, annotation_keys, attrs, create, enter_context, funcs, held_module, ops
from tir_mlir.dialect.ir.size_products import rename_size, shape_variables

if TYPE_CHECKING:
    from tir_mlir.tune.records.program_identity import Program

_NAME_ATTRIBUTES = (attrs.BLOCK, attrs.LOOP, attrs.NAME)


def names_of(program: Program) -> list[Any]:
    """The names of each function: its own, those of the parameters and of their sizes, those of the ops.

        def mm(A: (n, 8), B: ...): for i ...: block "C"(vi)   ->   [["mm", ["A", "B"], ["n", "8"], ["i", "C", ["vi"]]]]

    Raises TuneError for what is not a program.
    """
    module = held_module(program)
    if module is None:
        raise TuneError(f"a program is an IRModule, a PrimFunc, a Schedule or an MLIR module, not {program!r}")
    with enter_context():
        return [_names(func) for func in funcs(module)]


def _names(func: Func) -> list[Any]:
    arguments = [attrs.argument_attributes(func.op, number) for number in range(len(func.args))]
    parameters = [facts.get(attrs.NAME, f"arg{number}") for number, facts in enumerate(arguments)]
    sizes = [str(size) for facts in arguments for size in facts.get(attrs.SYMS, ())]
    return [func.name, parameters, sizes, [attrs.get(op, key) for op, key in _named_ops(func)]]


def _named_ops(func: Func) -> Iterator[tuple[ir.Operation, str]]:
    """The ops in a function with a name, each with the attribute that holds it."""
    for op in ops(func.op):
        yield from ((op, key) for key in (*_NAME_ATTRIBUTES, attrs.NAMES) if key in op.attributes)


def under_names(module: ir.Module, names: Sequence[Any]) -> ir.Module:
    """A copy of a program with other names in it, those that `names_of` gave of an equal one; inside `entered`.

    Raises TuneError for names that are not those of such a program.
    """
    copy = create.clone_module(module)
    functions = funcs(copy)
    if len(functions) != len(names):
        raise TuneError(f"it has the names of {len(names)} functions, the program has {len(functions)}")
    for func, new in zip(functions, names, strict=True):
        if not _fits(_names(func), new):
            raise TuneError(f"the names that it has are not those of a program like {func.name}")
        _rename(func, _names(func), new)
    return copy


def _fits(own: object, new: object) -> bool:
    """Whether names are as many, in lists like these, and fit to be names."""
    if isinstance(own, list):
        return isinstance(new, list) and len(own) == len(new) and all(map(_fits, own, new))
    return isinstance(new, str) and new.isprintable() and bool(new) == bool(own)


def _rename(func: Func, own: list[Any], new: list[Any]) -> None:
    values = dict(zip(own[1], new[1], strict=True))
    for old_size, size in zip(own[2], new[2], strict=True):
        values |= dict(zip(shape_variables(old_size), shape_variables(size), strict=False))
    for (op, key), old_name, name in zip(list(_named_ops(func)), own[3], new[3], strict=True):
        if key == attrs.NAME:
            values.setdefault(old_name, name)
        elif key == attrs.NAMES and attrs.DTYPES in op.attributes:
            types = attrs.get(op, attrs.DTYPES)
            iters = dict(zip(old_name, name, strict=True))
            op.attributes[attrs.DTYPES] = attrs.to_attr({iters.get(n, n): type_ for n, type_ in types.items()})
        if key != attrs.NAME:
            op.attributes[key] = attrs.to_attr(name)
    if len(set(values.values())) != len(values):
        raise TuneError("two of the names that it has are the same")
    rename_values(func, {old: name for old, name in values.items() if old != name})
    if own[0] != new[0]:
        func.op.attributes["sym_name"] = ir.StringAttr.get(new[0])


def rename_values(func: Func, names: Mapping[str, str]) -> None:
    """Rename buffers and shape variables in the attributes and annotations that name them, parameters' included."""
    if not names:
        return
    keys = (attrs.NAME, attrs.SYMS, attrs.READS, attrs.WRITES, attrs.STRIDES)
    for op in ops(func.op):
        for key in keys:
            if key in op.attributes:
                op.attributes[key] = _rename_in_attribute(op.attributes[key], names)
    if "arg_attrs" in func.op.attributes:
        arguments = [{n.name: n.attr for n in ir.DictAttr(a)} for a in ir.ArrayAttr(func.op.attributes["arg_attrs"])]
        func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([
            ir.DictAttr.get({key: _rename_in_attribute(a, names) if key in keys else a for key, a in facts.items()})
            for facts in arguments
        ])  # fmt: skip
    annotation_keys.rename_buffers(func.op, names)


def _rename_in_attribute(attribute: ir.Attribute, names: Mapping[str, str]) -> ir.Attribute:
    """An attribute with the names in it replaced: a name, a list of them, or regions with a buffer each."""
    if isinstance(attribute, ir.StringAttr):
        return ir.StringAttr.get(rename_size(attribute.value, names))
    if isinstance(attribute, ir.ArrayAttr):
        return ir.ArrayAttr.get([_rename_in_attribute(entry, names) for entry in attribute])
    if isinstance(attribute, ir.DictAttr):
        fields = {entry.name: entry.attr for entry in attribute}
        return ir.DictAttr.get({k: _rename_in_attribute(v, names) if k == "buffer" else v for k, v in fields.items()})
    return attribute
