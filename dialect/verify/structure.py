"""Type checks of the `tir.*` attributes, run once on parsed text.

Views and rules rely on them, e.g. on `tir.iters` being a list of strings. `check` applies to every module;
`check_program` to one to be scheduled or printed as TVMScript.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable
from typing import Any

from mlir import ir

from tir_mlir.dialect.analysis import visible_buffers
from tir_mlir.dialect.diagnostics import TirError, VerifyError
from tir_mlir.dialect.ir import (
    Func,
    attrs,
    dtypes,
    funcs,
    is_block,
    is_data_where,
    is_where,
    ops,
    parents,
    parse_set,
    symbols_by_name,
)
from tir_mlir.dialect.ir.op_traits import names_of
from tir_mlir.dialect.ir.op_views import (
    AffineForOp,
    AffineIfOp,
    AffineOp,
    AffineParallelOp,
    ApplyOp,
    CallOp,
    ConstantOp,
    FuncOp,
    IntToPtrOp,
    ModuleOp,
    ScfForOp,
    ScfIfOp,
    StridedMetadataOp,
    TypedOp,
    WhileOp,
    isa,
)
from tir_mlir.dialect.verify.rules import LARGEST, check_mlir, huge

_INDICES = ("int32", "int64")
RULE = "wellformed"
KINDS = ("serial", "parallel", "vectorized", "unrolled")
REGION_KEYS = {"buffer", "min", "extent"}


def check(module: ir.Module) -> None:
    """Raise `VerifyError`, with its location, for the first attribute of wrong type or arity, or on a wrong op."""
    check_mlir(module.operation)
    listed = ops(module.operation)
    for op in listed:
        if (buffer := huge(op)) is not None:
            _fail(op, f"{buffer.type} has more elements than 64 bits can count")
        for key in op.attributes:
            if key.startswith("tir."):
                _check_attribute(op, key, op.attributes[key], op.name)
        if message := misfit(op):
            _fail(op, message)
        if isa(op, FuncOp):
            _check_names(op)
            _arguments(op)
    for op in listed:
        for applies, rule in _RULES:
            if applies(op):
                rule(op)


def check_program(module: ir.Module) -> None:
    """Raise `VerifyError` for constructs outside TensorIR: loops with iter_args, control flow, undefined names."""
    for func in funcs(module):
        if len(func.op.regions[0].blocks) != 1:
            _fail(func.op, f"function {func.name} has several basic blocks; a tensor program is made of loops")
        if len(list(func.body.operations)[-1].operands):
            _fail(func.op, f"function {func.name} returns a value; a tensor program writes its results to buffers")
        symbols = symbols_by_name(func.op)
        for number, arg in enumerate(func.args):
            _parameter(func, number, arg.type, symbols)
        _assumption(func, symbols)
        for op in ops(func.op):
            if isa(op, AffineForOp) and len(op.results):
                _fail(op, "this loop carries values (iter_args); a loop of a tensor program keeps them in a buffer")
            if is_block(op):
                _regions(op)
            if isa(op, AffineOp) and not isa(op, ApplyOp):
                _indices(op, list(op.operands), symbols.values())


def _indices(op: ir.Operation, operands: Iterable[ir.Value], sizes: Collection[ir.Value]) -> None:
    """Check that indices use only loop variables, iters and sizes; MLIR allows any value defined at the top level."""
    for value in operands:
        if not isinstance(value.type, ir.IndexType) or isinstance(value.owner, ir.Block) or value in sizes:
            continue
        maker = value.owner
        if isa(maker, ApplyOp):
            _indices(op, list(maker.operands), sizes)
        elif not isa(maker, ConstantOp):
            _fail(
                op,
                f"{op.name} uses an index that {maker.name} computes; in a tensor program an index is made of loop"
                " variables, iters and shape variables: write it as affine.apply",
            )


def _parameter(func: Func, number: int, type_: ir.Type, symbols: Iterable[str]) -> None:
    """Check that a symbolic shape is expressed over existing shape variables."""
    facts = _argument_facts(func.op, number)
    if not isinstance(type_, ir.MemRefType) or type_.has_static_shape:
        return
    name = func.arg_name(number)
    if attrs.SHAPE not in facts:
        _fail(func.op, f"parameter {name} has a symbolic shape but no {attrs.SHAPE} and {attrs.SYMS}")
    for sym in attrs.from_attr(facts.get(attrs.SYMS, ir.ArrayAttr.get([]))):
        if sym not in symbols:
            _fail(
                func.op, f"parameter {name}: the function has no shape variable {sym} (it has {_join_names(symbols)})"
            )


def _assumption(func: Func, symbols: Iterable[str]) -> None:
    """Check that the assumptions of a function use existing shape variables."""
    if attrs.ASSUME not in func.op.attributes:
        return
    syms = attrs.get(func.op, attrs.SYMS, [])
    map_, _ = parse_set(str(func.op.attributes[attrs.ASSUME]))
    if map_.n_dims or map_.n_symbols != len(syms):
        _fail(func.op, f"{attrs.ASSUME} of function {func.name} must be over the {len(syms)} names of {attrs.SYMS}")
    if missing := [s for s in syms if s not in symbols]:
        _fail(func.op, f"function {func.name} has no shape variable {missing[0]} (it has {_join_names(symbols)})")


def _regions(op: ir.Operation) -> None:
    """Check that declared regions are boxes of buffers in scope."""
    name = attrs.get(op, attrs.BLOCK)
    ranks = {b.name: b.rank for b in visible_buffers(op)}
    iters = sum(len(attrs.get(o, attrs.ITERS)) for o in [op, *parents(op)] if is_block(o))
    for key in (attrs.READS, attrs.WRITES):
        for region in attrs.get(op, key, []):
            buffer = region["buffer"]
            if buffer not in ranks:
                _fail(op, f'{key} of block "{name}": no buffer {buffer} (there are {_join_names(ranks)})')
            for part in ("min", "extent"):
                map_ = region[part]
                inputs = map_.n_dims <= iters and map_.n_symbols == len(attrs.get(op, attrs.SYMS, []))
                if len(map_.results) != ranks[buffer] or not inputs:
                    needed = f"{ranks[buffer]} results over the {iters} iters around it and the names of {attrs.SYMS}"
                    _fail(op, f'{part} of {buffer} in {key} of block "{name}" must have {needed}, not {map_}')


# --- attributes one by one ------------------------------------------------------------------------------------------

Test = Callable[[ir.Attribute], bool]


def _is_text(attr: ir.Attribute) -> bool:
    return isinstance(attr, ir.StringAttr)


def _is_texts(attr: ir.Attribute) -> bool:
    return isinstance(attr, ir.ArrayAttr) and all(isinstance(a, ir.StringAttr) for a in attr)


def _is_number(attr: ir.Attribute) -> bool:
    if not isinstance(attr, ir.IntegerAttr) or isinstance(attr, ir.BoolAttr):
        return False
    return _is_plain(attr) and 0 <= attr.value < LARGEST  # ids count up from what a module has


def _is_flag(attr: ir.Attribute) -> bool:
    return isinstance(attr, ir.UnitAttr)


def _is_dict(attr: ir.Attribute) -> bool:
    return isinstance(attr, ir.DictAttr) and all(_is_plain(named.attr) for named in attr)


def _is_plain(attr: ir.Attribute) -> bool:
    """Whether Python can read the attribute: reading an integer of more than 64 bits aborts the process."""
    if isinstance(attr, ir.DictAttr):
        return all(_is_plain(named.attr) for named in attr)
    if isinstance(attr, ir.ArrayAttr):
        return all(_is_plain(a) for a in attr)
    if isinstance(attr, ir.IntegerAttr) and isinstance(attr.type, ir.IntegerType):
        return attr.type.width <= 64
    return True


def _is_map(attr: ir.Attribute) -> bool:
    return isinstance(attr, ir.AffineMapAttr)


def _is_set(attr: ir.Attribute) -> bool:
    return isinstance(attr, ir.IntegerSetAttr)


def _is_kind(attr: ir.Attribute) -> bool:
    if not isinstance(attr, ir.StringAttr):
        return False
    return attr.value in (*KINDS, "core") or "." in attr.value or attr.value.startswith("vthread")


def _is_access(attr: ir.Attribute) -> bool:
    return isinstance(attr, ir.StringAttr) and attr.value in ("r", "w", "rw")


def _is_hidden(attr: ir.Attribute) -> bool:
    return isinstance(attr, ir.ArrayAttr) and all(
        isinstance(a, ir.StringAttr) and a.value in ("reads", "writes") for a in attr
    )


def _is_regions(attr: ir.Attribute) -> bool:
    return isinstance(attr, ir.ArrayAttr) and all(isinstance(a, ir.DictAttr) and _is_region(a) for a in attr)


def _is_region(attr: ir.DictAttr) -> bool:
    entries = {named.name: named.attr for named in attr}
    if entries.keys() != REGION_KEYS or not _is_text(entries["buffer"]):
        return False
    return _is_map(entries["min"]) and _is_map(entries["extent"])


_DICT = "a dictionary of strings, numbers, lists and dictionaries"
_REGIONS = "a list of {buffer = string, min = affine_map, extent = affine_map}"
# attribute: (description of its type, test, classes of ops that may have it; empty: any)
TABLE: dict[str, tuple[str, Test, tuple[type[TypedOp], ...]]] = {
    attrs.NAME: ("a string", _is_text, ()),
    attrs.ID: ("an integer >= 0", _is_number, ()),
    "tir.next": ("an integer >= 0", _is_number, (ModuleOp,)),
    attrs.ATTRS: (_DICT, _is_dict, (FuncOp,)),
    attrs.LOOP: ("a string", _is_text, (AffineForOp, ScfForOp, WhileOp)),
    attrs.KIND: (f"one of {', '.join(KINDS)}, or a thread axis such as threadIdx.x", _is_kind, (AffineForOp,)),
    attrs.ANNOTATIONS: (_DICT, _is_dict, (AffineForOp, AffineParallelOp, FuncOp)),
    attrs.BLOCK: ("a string", _is_text, (AffineParallelOp,)),
    attrs.ITERS: ('a list of "S", "R" and "O"', _is_texts, (AffineParallelOp,)),
    attrs.NAMES: ("a list of strings", _is_texts, (AffineParallelOp,)),
    attrs.MIN: ("an affine_map", _is_map, (AffineParallelOp,)),
    attrs.EXTENT: ("an affine_map", _is_map, (AffineParallelOp,)),
    attrs.SYMS: ("a list of strings", _is_texts, ()),
    attrs.SHAPE: ("an affine_map", _is_map, ()),
    attrs.ASSUME: ("an affine_set over tir.syms", _is_set, (FuncOp,)),
    attrs.READS: (_REGIONS, _is_regions, (AffineParallelOp,)),
    attrs.WRITES: (_REGIONS, _is_regions, (AffineParallelOp,)),
    attrs.INIT: ("a flag without a value", _is_flag, (AffineIfOp,)),
    attrs.WHERE: ("a flag without a value", _is_flag, (AffineIfOp, ScfIfOp)),
    attrs.STRIDES: ("a list of strings", _is_texts, ()),
    attrs.OFFSET_FACTOR: ("an integer >= 0", _is_number, ()),
    attrs.ALIGN: ("an integer >= 0", _is_number, ()),
    attrs.BIND: ("a flag without a value", _is_flag, (AffineForOp,)),
    attrs.LAYOUT: ("a string", _is_text, (CallOp,)),
    attrs.FRAGMENT_LAYOUTS: ("a list of strings", _is_texts, (CallOp,)),
    attrs.COUNT: ("an integer >= 0", _is_number, (IntToPtrOp,)),
    attrs.ACCESS: ('"r", "w" or "rw"', _is_access, (IntToPtrOp,)),
    attrs.OP: ("a string", _is_text, ()),
    attrs.DTYPE: ("a string", _is_text, ()),
    attrs.DTYPES: (_DICT, _is_dict, (AffineParallelOp,)),
    attrs.EXTENT_DTYPE: ("a string", _is_text, ()),
    attrs.HIDDEN: ('a list of "reads" and "writes"', _is_hidden, (AffineParallelOp,)),
    attrs.PARTIAL: ('a list of "reads" and "writes"', _is_hidden, (AffineParallelOp,)),
}


def _check_attribute(op: ir.Operation, key: str, attr: ir.Attribute, owner: str) -> None:
    if key not in TABLE:
        near = difflib.get_close_matches(key, TABLE, 1, 0.8)
        if near:
            _fail(op, f"unknown attribute {key} on {owner}; did you mean {near[0]}?")
        return
    words, test, owners = TABLE[key]
    if owners and not isa(op, *owners):
        _fail(op, f"{key} belongs on {' or '.join(names_of(*owners))}, not on {owner}")
    if not test(attr):
        text = str(attr)
        _fail(op, f"{key} of {owner} must be {words}, not {text if len(text) <= 60 else text[:57] + '...'}")


def _check_names(op: ir.Operation) -> None:
    """Check that code can be made of a function's name."""
    name = ir.StringAttr(op.attributes["sym_name"]).value
    if not name:
        _fail(op, "a function has an empty name")
    if name.startswith("llvm.") and len(op.regions[0].blocks):
        _fail(op, f"the function {name} has the name of an intrinsic of LLVM, which starts with llvm.")


def _arguments(op: ir.Operation) -> None:
    """Check the attributes of a function's arguments: a shape has one result per axis, over named symbols."""
    inputs = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs
    for number, type_ in enumerate(inputs):
        facts = _argument_facts(op, number)
        for key, attr in facts.items():
            if key.startswith("tir."):
                _check_attribute(op, key, attr, "a parameter")
        dtype = facts.get(attrs.DTYPE)
        if dtype is not None and (message := misfit_argument(number, type_, dtype.value)):
            _fail(op, message)
        rank = ir.MemRefType(type_).rank if isinstance(type_, ir.MemRefType) else 0
        if attrs.SHAPE in facts:
            map_ = facts[attrs.SHAPE].value
            syms = facts.get(attrs.SYMS, ())
            if len(map_.results) != rank or map_.n_dims or map_.n_symbols != len(syms):
                needed = f"{rank} results, one per axis, over its {attrs.SYMS}"
                _fail(op, f"{attrs.SHAPE} of parameter {number} must have {needed}")
        if attrs.STRIDES in facts and len(facts[attrs.STRIDES]) != rank:
            _fail(op, f"{attrs.STRIDES} of parameter {number} must have {rank} entries, one per axis")


def _argument_facts(op: ir.Operation, number: int) -> dict[str, Any]:
    if "arg_attrs" not in op.attributes:
        return {}
    return {named.name: named.attr for named in ir.DictAttr(ir.ArrayAttr(op.attributes["arg_attrs"])[number])}


# --- attributes of one op together ----------------------------------------------------------------------------------


def _block(op: ir.Operation) -> None:
    """Check that a block has all its attributes, of one length, over existing symbols."""
    name = attrs.get(op, attrs.BLOCK)
    _inside_function(op)
    for key in (attrs.ITERS, attrs.MIN, attrs.EXTENT):
        if key not in op.attributes:
            _fail(op, f'block "{name}" has no attribute {key}')
    count, syms = len(attrs.get(op, attrs.ITERS)), attrs.get(op, attrs.SYMS, [])
    if attrs.NAMES in op.attributes and len(attrs.get(op, attrs.NAMES)) != count:
        named = len(attrs.get(op, attrs.NAMES))
        _fail(op, f'block "{name}" has {count} entries in {attrs.ITERS} and {named} in {attrs.NAMES}')
    if len(op.results):
        _fail(op, f'block "{name}" has a result; a block writes to buffers')
    arguments = len(op.regions[0].blocks[0].arguments)
    if arguments != max(1, count):
        needed = f"its {count} entries in {attrs.ITERS} need {max(1, count)}"
        _fail(op, f'block "{name}" has {arguments} arguments; {needed}')
    for key in (attrs.MIN, attrs.EXTENT):
        map_ = attrs.get(op, key)
        if len(map_.results) != count or map_.n_dims or map_.n_symbols != len(syms):
            needed = f"{count} results, one per iter, over the {len(syms)} names of {attrs.SYMS}"
            _fail(op, f'{key} of block "{name}" must have {needed}, not {map_}')
    symbols = symbols_by_name(op)
    if missing := [s for s in syms if s not in symbols]:
        _fail(
            op,
            f'block "{name}": no shape variable of the function is called {missing[0]} (it has {_join_names(symbols)})',
        )


def _where(op: ir.Operation) -> None:
    """Check that a guard contains its block and nothing else."""
    guarded = [o.operation for o in op.regions[0].blocks[0].operations][:-1]
    if sum(is_block(o) for o in guarded) != 1 or len(op.results) or any(len(r.blocks) for r in list(op.regions)[1:]):
        _fail(op, f"{attrs.WHERE} marks the guard of a block: an affine.if without else that contains only the block")


def _data_where(op: ir.Operation) -> None:
    """Check that a guard by data contains its block, or the affine guard of it, and nothing else."""
    guarded = [o.operation for o in op.regions[0].blocks[0].operations][:-1]
    if not any(is_block(o) or is_where(o) for o in guarded) or len(guarded) != 1 or len(op.results):
        _fail(op, f"{attrs.WHERE} marks the guard of a block: an scf.if without else that contains only the block")


def _init(op: ir.Operation) -> None:
    """Check that an init is directly in the body of a block."""
    parent = op.parent
    in_block = parent is not None and is_block(parent.operation)
    if not in_block or len(op.results) or any(len(r.blocks) for r in list(op.regions)[1:]):
        _fail(op, f"{attrs.INIT} marks the init of a block: an affine.if without else, directly in the block")


def _strides(op: ir.Operation) -> None:
    source = StridedMetadataOp(op).source.type
    names = attrs.get(op, attrs.STRIDES)
    if not isinstance(source, ir.MemRefType) or len(names) != ir.MemRefType(source).rank:
        _fail(op, f"{attrs.STRIDES} must have one entry per axis of the buffer, not {len(names)}")


def _refuse_stray(op: ir.Operation) -> None:
    _fail(op, f"this affine.parallel has attributes of a block but no {attrs.BLOCK}")


def _inside_function(op: ir.Operation) -> None:
    if not any(isa(p, FuncOp) for p in parents(op)):
        _fail(op, f"{op.name} with tir attributes is outside any func.func")


def _is_stray(op: ir.Operation) -> bool:
    return isa(op, AffineParallelOp) and attrs.BLOCK not in op.attributes and attrs.ITERS in op.attributes


_RULES: list[tuple[Callable[[ir.Operation], bool], Callable[[ir.Operation], None]]] = [
    (is_block, _block),
    (_is_stray, _refuse_stray),
    (is_where, _where),
    (is_data_where, _data_where),
    (lambda op: isa(op, AffineIfOp) and attrs.INIT in op.attributes, _init),
    (lambda op: isa(op, StridedMetadataOp) and attrs.STRIDES in op.attributes, _strides),
    (lambda op: isa(op, AffineForOp) and attrs.LOOP in op.attributes, _inside_function),
]


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _fail(op: ir.Operation, message: str) -> None:
    number = op.attributes.get(attrs.ID, None)
    if number is not None and _is_number(number):
        raise VerifyError(message, RULE, op.location, ir.IntegerAttr(number).value)
    raise VerifyError(message, RULE, op.location)


# --- declared types fit the MLIR types, which determine what is computed ----------------------------------------------


def misfit(op: ir.Operation) -> str:
    """Why a declared type of an op does not fit its values; "" if all do."""
    if is_block(op):
        return _iters(op)
    if attrs.DTYPE not in op.attributes:
        return ""
    dtype = attrs.get(op, attrs.DTYPE)
    if isa(op, AffineForOp):
        return _misfit_text(dtype, ir.IndexType.get(), f"loop {attrs.get(op, attrs.LOOP, '')}".rstrip())
    if len(op.results) != 1:
        return f"{attrs.DTYPE} declares the type of a loop or of a result; {op.name} has {len(op.results)} results"
    return _misfit_text(dtype, op.results[0].type, op.name)


def misfit_argument(number: int, type_: ir.Type, dtype: str) -> str:
    """Why the declared type of a parameter does not fit it; "" if it does."""
    return _misfit_text(dtype, type_, f"parameter {number}")


def _iters(op: ir.Operation) -> str:
    """Check `tir.dtypes`: iters of the block, each of the type of an index."""
    declared, names = attrs.get(op, attrs.DTYPES, {}), attrs.get(op, attrs.NAMES, [])
    block = f'block "{attrs.get(op, attrs.BLOCK)}"'
    for name, dtype in declared.items():
        if name not in names:
            return f"{attrs.DTYPES} of {block}: it has no iter {name} (its iters: {', '.join(names) or 'none'})"
        if misfit := _misfit_text(str(dtype), ir.IndexType.get(), f"iter {name} of {block}", attrs.DTYPES):
            return misfit
    return ""


def _misfit_text(dtype: str, type_: ir.Type, owner: str, key: str = attrs.DTYPE) -> str:
    element = ir.MemRefType(type_).element_type if isinstance(type_, ir.MemRefType) else type_
    fitting = _allowed_dtypes(element)
    if dtype in fitting:
        return ""
    needed = f"{element} holds {' or '.join(fitting)}" if fitting else f"{element} has only one reading"
    return f'{key} = "{dtype}" does not fit {owner}: {needed}'


def _allowed_dtypes(type_: ir.Type) -> tuple[str, ...]:
    """The types that a value of an MLIR type may be declared as: of an integer, both signs of its width."""
    if isinstance(type_, ir.IndexType):
        return _INDICES
    try:
        name = dtypes.to_name(type_)
    except TirError:
        return ()
    return (name, f"u{name}") if f"u{name}" in dtypes.NAMES else (name,)
