"""The scheduled program of a record: its trace, replayed on the program that is built, with every proof."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mlir import ir

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.diagnostics import NotChecked, TirError, TuneError
from tir_mlir.dialect.diagnostics.remarks import ASSERTED
from tir_mlir.dialect.ir import Func, attrs, enter_context, funcs, ops
from tir_mlir.dialect.ir.lowering_op_views import LLVMFuncOp
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.dialect.ir.size_products import shape_variables
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.kernels.registry import find_kernel
from tir_mlir.schedule import Schedule
from tir_mlir.schedule.trace import Trace
from tir_mlir.schedule.verify import moved_parameters
from tir_mlir.script.module import module_text, parsed_module
from tir_mlir.tune.records.comparison import ScheduleDiffers, verify_schedule
from tir_mlir.tune.records.program_names import rename_values, under_names
from tir_mlir.tune.records.record import Record

_IMPORT = "pragma_import_llvm"
KIND = "records"
_UNSAFE = "unsafe_"
_ALLOWED_OPS = (
    *("llvm.call_intrinsic", "llvm.func", "llvm.getelementptr", "llvm.inttoptr", "llvm.ptrtoint"),
    *("llvm.intr.assume", "llvm.mlir.constant"),
)
"""The ops of LLVM that a program on buffers may have, functions without a body."""


def recorded_program(record: Record, program: ir.Module) -> ir.Module:
    """The program as the trace of a record schedules it.

        trace of a record of func @main(%0 {"A"}, %1 {"B"}): split, ...
        program: func @scale(%0 {"x"}, %1 {"y"})        ->  func @scale(%0 {"x"}, %1 {"y"}), split, ...

    What the record says of itself is not believed: each step is proved as any other, and the first time on a machine,
    the result is compared with the program (`Schedule.verify`). That it passed is remembered by content. Raises
    TuneError for a trace that does not fit, a result that differs, that cannot be compared where a step asserts what
    is not proved, and for code that neither `program` nor a registered kernel provides.
    """
    with enter_context():
        name = _key(record, program)
        text = store.load(KIND, name)
        if text is not None:
            module = parsed_module(text.decode())
        else:
            module = _replay_and_compare(record, program)
            if fingerprint.package_unchanged():
                store.save(KIND, name, module_text(module).encode())
        check_code(module, program)
        return module


def _key(record: Record, program: ir.Module) -> str:
    """The content that the scheduled program depends on: the package, the program, the trace, what intrinsics mean."""
    trace = json.dumps([record.trace, record.names, record.target])
    intrinsics = (TensorIntrin.get(word, allow_missing=True) for word in sorted(set(_words(record.trace))))
    meanings = [part for i in intrinsics if i is not None for part in (i.desc, i.impl)]
    return store.digest(fingerprint.installation(), fingerprint.package(), module_text(program), trace, *meanings)


def _words(value: object) -> Iterator[str]:
    """The texts in a JSON value."""
    if isinstance(value, str):
        yield value.strip('"')
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _words(part)


def _replay_and_compare(record: Record, program: ir.Module) -> ir.Module:
    """The program, scheduled and compared."""
    sch, asserts = replay(record, under_names(program, record.names) if record.names else program)
    module = sch.mod.mlir
    check_code(module, program)
    try:
        if moved := moved_parameters(sch.executor):  # callers pass arrays in the layout of the program
            raise TuneError(f"it has another layout of parameter {', '.join(name for _, name in moved)}")
        verify_schedule(sch)
    except ScheduleDiffers as difference:
        raise TuneError(f"it computes something else than the program: {difference}") from None
    except NotChecked as reason:
        if asserts:
            raise TuneError(
                f"it cannot be compared with the program ({reason}), and is not proved: {asserts}"
            ) from None
    _take_names(module, program)
    return module


def replay(record: Record, program: ir.Module) -> tuple[Schedule, str]:
    """The schedule of a program with the trace of a record, and what its steps assert unproved. Raises TuneError."""
    sch = Schedule(program, error_render_level="fast")
    try:
        Trace.from_json(record.trace).apply_to_schedule(sch)
    except (TirError, TypeError, IndexError, ValueError, RecursionError) as error:
        raise TuneError(f"its trace does not fit the program: {_first_line(error)}") from None
    unsafe = [inst.name for inst in sch.trace.insts if inst.name.startswith(_UNSAFE)]
    facts = dict.fromkeys(fact for step in sch.history for fact in step.facts)
    return sch, "; ".join([*unsafe, *(fact for fact in facts if fact.startswith(ASSERTED))])


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def check_code(module: ir.Module, program: ir.Module | None = None) -> None:
    """Raise TuneError for code that the program, if any, does not have and no registered kernel provides."""
    for op in ops(module.operation) if program is None else ():  # else they come from registered intrinsics
        if op.name.startswith("llvm.") and (op.name not in _ALLOWED_OPS or _has_body(op)):
            raise TuneError(f"it brings code of its own ({op.name}); fix: register an intrinsic with a kernel")
    declared = set() if program is None else set(_declared_functions(program))
    for symbol in _declared_functions(module):
        if symbol not in declared and find_kernel(symbol) is None:
            TensorIntrin.get(symbol, allow_missing=True)  # registers a built-in one, with its kernel
            if find_kernel(symbol) is None:
                raise TuneError(
                    f"it calls {symbol!r}, which is not a registered kernel; fix: register the intrinsic first"
                )
    if not _imports(module) <= (set() if program is None else _imports(program)):
        raise TuneError(
            f"it brings code of its own ({_IMPORT}); fix: register an intrinsic with that kernel, tune again"
        )


def _has_body(op: ir.Operation) -> bool:
    return isa(op, LLVMFuncOp) and bool(len(op.regions[0].blocks))


def _declared_functions(module: ir.Module) -> list[str]:
    """The functions without a body."""
    functions = [op for op in module.body.operations if isa(op, FuncOp, LLVMFuncOp)]
    return [attrs.get(op, "sym_name") for op in functions if not len(op.operation.regions[0].blocks)]


def _imports(module: ir.Module) -> set[str]:
    marked = (op for op in ops(module.operation) for key in (attrs.ANNOTATIONS, attrs.ATTRS) if key in op.attributes)
    texts = {
        str(op.attributes[key]) for op in marked for key in (attrs.ANNOTATIONS, attrs.ATTRS) if key in op.attributes
    }
    return {source for text in texts for source in re.findall(rf'{_IMPORT} = "((?:[^"\\]|\\.)*)"', text)}


def _take_names(module: ir.Module, program: ir.Module) -> None:
    """Give the functions the names, parameters and sizes of those of the program."""
    mine, theirs = funcs(module), funcs(program)
    if len(mine) != len(theirs):
        raise TuneError(f"it has {len(mine)} functions, the program {len(theirs)}")
    for func, model in zip(mine, theirs, strict=True):
        if func.op.attributes["function_type"] != model.op.attributes["function_type"]:
            kinds = [str(f.op.attributes["function_type"]) for f in (func, model)]
            raise TuneError(
                f"its function {func.name} has other parameters than {model.name}: {kinds[0]}, not {kinds[1]}"
            )
        rename_values(func, _new_names(func, model))
        _take_header(func, model)


def _new_names(func: Func, model: Func) -> dict[str, str]:
    """Names in a function -> those of its model, by parameter; another value with one of these gets a new name."""
    renames: dict[str, str] = {}
    for number in range(len(func.args)):
        fields, model_fields = (attrs.argument_attributes(f.op, number) for f in (func, model))
        renames[fields.get(attrs.NAME, f"arg{number}")] = model_fields.get(attrs.NAME, f"arg{number}")
        for name, new in zip(fields.get(attrs.SYMS, ()), model_fields.get(attrs.SYMS, ()), strict=False):
            renames |= dict(zip(shape_variables(name), shape_variables(new), strict=False))
    names = {attrs.get(op, attrs.NAME) for op in ops(func.op) if attrs.NAME in op.attributes} | set(renames.values())
    for name in sorted(names.intersection(renames.values()) - renames.keys()):
        if any(attrs.get(op, attrs.NAME) == name for op in ops(func.op)):
            renames[name] = next(new for n in range(1, len(names) + 2) if (new := f"{name}_{n}") not in names)
            names.add(renames[name])
    return {old: new for old, new in renames.items() if old != new}


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
