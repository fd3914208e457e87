"""Compiled functions as Python callables, and their entry points in LLVM IR."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.calls import C_INTERFACE
from tir_mlir.dialect.calls.function_texts import symbol
from tir_mlir.dialect.diagnostics import CheckedSite
from tir_mlir.dialect.ir.lowering_op_views import LLVMFuncOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.runtime.call import fast_entry
from tir_mlir.runtime.call.arrays import Packer
from tir_mlir.runtime.call.signature import CallSignature, ProgramFunction, positional_arguments

PREFIX = C_INTERFACE


@dataclass(frozen=True)
class Entries:
    """The addresses of a function: its C interface, and its entry that takes 64-bit words (0: none)."""

    direct: int
    words: int = 0


class CompiledFunction:
    """A compiled function. Takes one array or number per parameter, by position or by name; results are written into
    the arrays."""

    def __init__(self, signature: CallSignature, entries: Entries, owner: object):
        self.signature = signature
        self.name = signature.name
        self.entries = entries
        self._owner = owner  # keeps the code alive
        self._packer = Packer(signature)
        self._call = ctypes.CFUNCTYPE(None, *self._packer.argtypes)(entries.direct)
        self._plans: fast_entry.Plans | None = None

    def __call__(self, /, *args: object, **named: object) -> None:
        if named:
            args = (*positional_arguments(self.signature, args, named),)
        packed = self._packer.pack(args)
        self._call(*packed.values)
        if self._plans is not None:
            self._plans.learn(packed, args)

    def __repr__(self) -> str:
        return f"<compiled {self.signature}>"

    __reduce_ex__ = fast_entry.refuse_pickle


def functions(
    signatures: Sequence[CallSignature], entries: dict[str, Entries], owner: object, always_release: bool
) -> dict[str, ProgramFunction]:
    """A callable for each signature, through the fast entry where possible.

    always_release: release the GIL in every call, however short.
    """
    callables: dict[str, ProgramFunction] = {}
    for s in signatures:
        function = CompiledFunction(s, entries[s.name], owner)
        callables[s.name] = fast_entry.callable_for(function, s, entries[s.name].words, always_release)
    return callables


NAME = "__tir_call_"


def c_types(lowered: ir.Module, names: Sequence[str]) -> dict[str, list[str]]:
    """The LLVM parameter types of the C-interface functions with these names."""
    parameter_types = {}
    for op in lowered.body.operations:
        if isa(op, LLVMFuncOp):
            symbol = ir.StringAttr(op.attributes["sym_name"]).value
            if symbol.startswith(PREFIX) and symbol[len(PREFIX) :] in names:
                match = re.search(r"\((.*)\)", str(op.attributes["function_type"]))
                types = match.group(1).split(", ") if match and match.group(1) else []
                parameter_types[symbol[len(PREFIX) :]] = [{"f32": "float", "f64": "double"}.get(t, t) for t in types]
    return parameter_types


def text(types: Mapping[str, Sequence[str]], declare: bool) -> str:
    """LLVM IR of the entries that take words. `declare`: declare the callees as well."""
    return "\n".join(_thunk(name, parameters, declare) for name, parameters in types.items())


def _thunk(name: str, types: Sequence[str], declare: bool) -> str:
    lines = [f"declare void {symbol(PREFIX + name)}({', '.join(types)})"] if declare else []
    lines += [f"define void {symbol(NAME + name)}(ptr %words) {{"]
    for i, t in enumerate(types):
        stored = "i8" if t == "i1" else t
        lines += [f"  %p{i} = getelementptr i64, ptr %words, i64 {i}", f"  %v{i} = load {stored}, ptr %p{i}, align 8"]
        if t == "i1":
            lines.append(f"  %b{i} = trunc i8 %v{i} to i1")
    values = [f"{t} %{'b' if t == 'i1' else 'v'}{i}" for i, t in enumerate(types)]
    return "\n".join([*lines, f"  call void {symbol(PREFIX + name)}({', '.join(values)})", "  ret void", "}"])


class CheckedFunction(CompiledFunction):
    """A function whose code records the first access outside its buffer.

    Calls of the functions of a library run one after the other, as they share the record.
    """

    def __init__(self, signature: CallSignature, entries: Entries, owner: object, record: OutOfBoundsRecord):
        super().__init__(signature, entries, owner)
        self._record = record

    def __call__(self, /, *args: object, **named: object) -> None:
        with self._record.lock:
            self._record.clear()
            super().__call__(*args, **named)
            self._record.check()


class OutOfBoundsRecord:
    """The record in the memory of a library: {site + 1 or 0, index and extent per dimension}."""

    def __init__(self, address: int, sites: Sequence[CheckedSite]):
        self.lock = threading.Lock()
        self._sites = sites
        length = 1 + 2 * max((s.rank for s in sites), default=0)
        self._words = (ctypes.c_int64 * length).from_address(address) if sites else (ctypes.c_int64 * 1)()

    def clear(self) -> None:
        self._words[0] = 0

    def check(self) -> None:
        """Raise OutOfBoundsError if there was an access outside."""
        if not self._words[0]:
            return
        site = self._sites[self._words[0] - 1]
        pairs = self._words[1 : 1 + 2 * site.rank]
        raise site.error(tuple(pairs[::2]), tuple(pairs[1::2]))
