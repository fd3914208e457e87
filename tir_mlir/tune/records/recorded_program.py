"""The scheduled program of a record, under the names of the program that it is built for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mlir import ir

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.diagnostics import TirError, TuneError
from tir_mlir.dialect.ir import Func, annotation_keys, attrs, entered, funcs, ops
from tir_mlir.dialect.ir.size_products import renamed, shape_variables
from tir_mlir.dialect.verify import structure, verify
from tir_mlir.runtime.kernels.registry import find_kernel
from tir_mlir.script.mlir_text import parse_mlir
from tir_mlir.script.parser.source import Source
from tir_mlir.tune.records.record import Record

_IMPORT = "pragma_import_llvm"


def recorded_program(record: Record, program: ir.Module) -> ir.Module:
    """The scheduled program of a record with the names of functions, parameters and shape variables of `program`.

        record:  func @main(%0 {"A"}, %1 {"B"}), scheduled
        program: func @scale(%0 {"x"}, %1 {"y"})        ->  func @scale(%0 {"x"}, %1 {"y"}), scheduled

    Nothing of the record is executed. Raises TuneError if its text is no valid program, if its parameters are others
    than those of `program`, or if it calls code that neither `program` nor a registered kernel provides.
    """
    with entered():
        try:
            module = parse_mlir(record.text, Source("record", record.text.splitlines(keepends=True)))
            structure.check(module)
            check_code(module, program)
            _rename_functions(module, program)
            structure.check_program(module)
            verify(module, source=True, written=True)
        except TuneError:
            raise
        except TirError as error:
            raise TuneError(f"its scheduled program is not valid: {str(error).splitlines()[0]}") from None
        return module


def check_code(module: ir.Module, program: ir.Module | None = None) -> None:
    """Raise TuneError for code that the program, if any, does not have and no registered kernel provides."""
    declared = set() if program is None else set(_declared(program))
    for symbol in _declared(module):
        if symbol not in declared and find_kernel(symbol) is None:
            TensorIntrin.get(symbol, allow_missing=True)  # registers a built-in one, with its kernel
            if find_kernel(symbol) is None:
                raise TuneError(
                    f"it calls {symbol!r}, which is no registered kernel; fix: register the intrinsic first"
                )
    if not _imports(module) <= (set() if program is None else _imports(program)):
        raise TuneError(
            f"it brings code of its own ({_IMPORT}); fix: register an intrinsic with that kernel, tune again"
        )


def _declared(module: ir.Module) -> list[str]:
    """The functions without a body."""
    functions = [op for op in module.body.operations if op.operation.name in ("func.func", "llvm.func")]
    return [attrs.get(op, "sym_name") for op in functions if not len(op.operation.regions[0].blocks)]


def _imports(module: ir.Module) -> set[str]:
    marked = (op for op in ops(module.operation) for key in (attrs.ANNOTATIONS, attrs.ATTRS) if key in op.attributes)
    texts = {
        str(op.attributes[key]) for op in marked for key in (attrs.ANNOTATIONS, attrs.ATTRS) if key in op.attributes
    }
    return {source for text in texts for source in re.findall(rf'{_IMPORT} = "((?:[^"\\]|\\.)*)"', text)}


def _rename_functions(module: ir.Module, program: ir.Module) -> None:
    mine, theirs = funcs(module), funcs(program)
    if len(mine) != len(theirs):
        raise TuneError(f"it has {len(mine)} functions, the program {len(theirs)}")
    for func, model in zip(mine, theirs, strict=True):
        if func.op.attributes["function_type"] != model.op.attributes["function_type"]:
            kinds = [str(f.op.attributes["function_type"]) for f in (func, model)]
            raise TuneError(
                f"its function {func.name} has other parameters than {model.name}: {kinds[0]}, not {kinds[1]}"
            )
        _rename_values(func, _new_names(func, model))
        _take_header(func, model)


def _new_names(func: Func, model: Func) -> dict[str, str]:
    """Names in a function -> those of its model, by parameter; another value with one of these gets a new name."""
    renames: dict[str, str] = {}
    for number in range(len(func.args)):
        fields, model_fields = (attrs.of_argument(f.op, number) for f in (func, model))
        renames[fields.get(attrs.NAME, f"arg{number}")] = model_fields.get(attrs.NAME, f"arg{number}")
        for name, new in zip(fields.get(attrs.SYMS, ()), model_fields.get(attrs.SYMS, ()), strict=False):
            renames |= dict(zip(shape_variables(name), shape_variables(new), strict=False))
    names = {attrs.get(op, attrs.NAME) for op in ops(func.op) if attrs.NAME in op.attributes} | set(renames.values())
    for name in sorted(names.intersection(renames.values()) - renames.keys()):
        if any(attrs.get(op, attrs.NAME) == name for op in ops(func.op)):
            renames[name] = next(new for n in range(1, len(names) + 2) if (new := f"{name}_{n}") not in names)
            names.add(renames[name])
    return {old: new for old, new in renames.items() if old != new}


def _rename_values(func: Func, names: Mapping[str, str]) -> None:
    """Rename buffers and shape variables in the attributes and annotations that name them."""
    if not names:
        return
    for op in ops(func.op):
        for key in (attrs.NAME, attrs.SYMS, attrs.READS, attrs.WRITES):
            if key in op.attributes:
                op.attributes[key] = _renamed(op.attributes[key], names)
    annotation_keys.rename_buffers(func.op, names)


def _renamed(attribute: ir.Attribute, names: Mapping[str, str]) -> ir.Attribute:
    """An attribute with the names in it replaced: a name, a list of them, or regions with a buffer each."""
    if isinstance(attribute, ir.StringAttr):
        return ir.StringAttr.get(renamed(attribute.value, names))
    if isinstance(attribute, ir.ArrayAttr):
        return ir.ArrayAttr.get([_renamed(entry, names) for entry in attribute])
    if isinstance(attribute, ir.DictAttr):
        fields = {entry.name: entry.attr for entry in attribute}
        return ir.DictAttr.get({k: _renamed(v, names) if k == "buffer" else v for k, v in fields.items()})
    return attribute


def _take_header(func: Func, model: Func) -> None:
    """Give a function the symbol, the visibility and the parameters' attributes of its model."""
    facts = {**func.attributes}
    facts.pop("global_symbol", None)
    if "global_symbol" in model.attributes:
        facts["global_symbol"] = model.attributes["global_symbol"]
    attrs.put(func.op, attrs.ATTRS, facts)
    for key in ("sym_name", "sym_visibility", "arg_attrs"):
        if key in model.op.attributes:
            func.op.attributes[key] = model.op.attributes[key]
        elif key in func.op.attributes:
            del func.op.attributes[key]
