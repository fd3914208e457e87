"""The fast call path: a C type (`entry.c`) whose instances call compiled functions without a Python frame.

`callable_for(function)` returns an object that behaves like `function`; a call whose arguments match an earlier one in
dtypes, shapes and strides does not enter Python. If the object layout of the interpreter or of NumPy differs from what
`entry.c` expects, the Python object is used instead.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from ctypes import c_char_p, c_int, c_int64, c_long, c_ssize_t, c_uint, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import dtypes
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.cache.fingerprint import FORMAT, installation
from tir_mlir.runtime.call import borrowed_tensors
from tir_mlir.runtime.call.arrays import PackedArguments
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, ProgramFunction, ScalarParam
from tir_mlir.runtime.llvm import llvm_c, object_code

_API = ctypes.PyDLL(None)  # not ctypes.pythonapi: prototypes set there are global
PLANS = 32  # combinations of shapes remembered per function, in a ring
_MAX_ARGS, _MAX_WORDS = 1024, 8192  # what a call may put on the stack: 64 KiB of descriptors
_KINDS = {"float32": (3, 32), "float64": (4, 64), "bool": (5, 1)}
KERNELS = 1  # instead of the address of code: each plan says which kernels a call starts
_HEAD, _COUNT, _LAST, _PLAN_HEAD, _KERNELS = 10, 5, 6, 4, 3  # words of struct function, of struct plan
_TYPE, _DATA, _RANK, _SHAPE, _STRIDES, _DESCR, _WRITEABLE = 8, 16, 24, 32, 40, 56, 64  # bytes in an object, an array


@dataclass(frozen=True)
class FastEntry:
    """The loaded code of entry.c: its vectorcall function, the Python type built on it, its struct python."""

    code: llvm_c.Code
    call: int
    type: type
    python: ctypes.Array[c_int64]


_lock = threading.Lock()
_made: list[FastEntry | None] = []  # the entry, once created


def _unlock() -> None:
    """Replace the lock in a forked child, where the thread that holds it does not exist."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock)


def prepare() -> None:
    """Start creating the entry in a thread: if it is not cached, LLVM has to compile it."""
    if not _made:
        threading.Thread(target=entry, name="tir_mlir entry").start()


def entry() -> FastEntry | None:
    """The entry, created once per process; None if it cannot be used here."""
    with _lock:
        if not _made:
            try:
                _made.append(_make() if _has_expected_layouts() and llvm_c.find_llvm() is not None else None)
            except (BuildError, AttributeError):  # AttributeError: this Python lacks a function that entry.c calls
                _made.append(None)
    return _made[0]


def _make() -> FastEntry:
    name = entry_key()
    data = store.load("entry", name)
    if data is None:
        data = object_code.compile_text(Path(__file__).with_name("entry.ll").read_text())
        store.save("entry", name, data)
    code = llvm_c.Code([data]).keep()  # instances of the type may outlive everything else
    return FastEntry(code, code.address("tir_vectorcall"), _type(code), _python())


def _has_expected_layouts() -> bool:
    """Whether objects and arrays have the layout that entry.c expects."""
    free_threaded = "t" in getattr(sys, "abiflags", "")
    if sys.implementation.name != "cpython" or free_threaded or hasattr(sys, "gettotalrefcount"):
        return False
    if ctypes.sizeof(c_void_p) != 8 or ctypes.sizeof(c_long) != 8 or sys.byteorder != "little":
        return False
    base = np.zeros((4, 6), np.float32)
    for array in (base, base[::-2, 1::2], np.zeros((), np.int8), np.zeros((2, 3, 5), np.int64).transpose(2, 0, 1)):
        for writeable in (False, True):
            array.flags.writeable = writeable
            if not _matches_layout(array):
                return False
    return _word(id(None) + _TYPE) == id(type(None)) and (_is_immortal() or _counts(object()))


def _matches_layout(array: np.ndarray) -> bool:
    address, rank = id(array), array.ndim
    shape, strides = (tuple(_word(_word(address + o) + 8 * d) for d in range(rank)) for o in (_SHAPE, _STRIDES))
    writeable = bool(c_int.from_address(address + _WRITEABLE).value & 0x400)
    return (
        _word(address + _TYPE) == id(np.ndarray)
        and _word(address + _DATA) == array.__array_interface__["data"][0]
        and c_int.from_address(address + _RANK).value == rank
        and (shape, strides) == (array.shape, array.strides)
        and _word(address + _DESCR) == id(array.dtype)
        and writeable == array.flags.writeable
    )


def _is_immortal() -> bool:
    """Whether None is immortal (Python 3.12)."""
    return sys.version_info >= (3, 12)


def _counts(probe: object) -> bool:
    refcount = _word(id(probe))
    also = probe
    return _word(id(also)) == refcount + 1


def _word(address: int) -> int:
    return c_int64.from_address(address).value


# -- the type --------------------------------------------------------------------------------------------------------


class _MemberDef(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("offset", c_ssize_t), ("flags", c_int), ("doc", c_char_p)]


class _TypeSlot(ctypes.Structure):
    _fields_ = [("slot", c_int), ("value", c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p), ("size", c_int), ("item", c_int), ("flags", c_uint), ("slots", ctypes.POINTER(_TypeSlot)),
    ]  # fmt: skip


_VECTORCALL, _FUNCTION, _SLOW, _SIZE = 16, 24, 32, 40  # struct callable of entry.c
_T_SSIZE, _T_OBJECT, _READONLY = 19, 16, 1
_TP_CALL, _TP_DEALLOC, _TP_MEMBERS = 50, 52, 72
_FLAGS = 1 << 18 | 1 << 11 | 1 << 7  # version tag, vectorcall, not instantiable
_members = (_MemberDef * 3)(
    _MemberDef(b"__vectorcalloffset__", _T_SSIZE, _VECTORCALL, _READONLY, None),
    _MemberDef(b"_slow", _T_OBJECT, _SLOW, _READONLY, None),
)


def _type(code: llvm_c.Code) -> type:
    """The type of `callable_for`'s result; everything but the call is delegated to the Python function."""
    slots = (_TypeSlot * 4)(
        _TypeSlot(_TP_CALL, _address(_API.PyVectorcall_Call)),
        _TypeSlot(_TP_DEALLOC, code.address("tir_dealloc")),
        _TypeSlot(_TP_MEMBERS, ctypes.addressof(_members)),
    )
    _kept.append(slots)
    spec = _Spec(b"tir_mlir.runtime.call.fast_entry.Function", _SIZE, 0, _FLAGS, slots)
    _kept.append(spec)
    _API.PyType_FromSpec.restype, _API.PyType_FromSpec.argtypes = ctypes.py_object, (ctypes.POINTER(_Spec),)
    heap_type = _API.PyType_FromSpec(ctypes.byref(spec))
    heap_type.__getattr__ = lambda self, name: getattr(self._slow, name)
    heap_type.__repr__ = lambda self: repr(self._slow)
    heap_type.__doc__ = property(lambda self: self._slow.__doc__)
    heap_type.__copy__ = lambda self: self
    heap_type.__reduce_ex__ = refuse_pickle
    return heap_type


_kept: list[object] = [_members]  # referenced by Python


class Planned(ProgramFunction, Protocol):
    """A function in Python that teaches the fast entry."""

    _plans: Plans | None


def callable_for(function: Planned, signature: CallSignature, run: int, always_release: bool) -> ProgramFunction:
    """A fast callable for `function`, or `function` itself without an entry. Sets `function._plans`.

    run: address of code that takes the arguments as 64-bit words, or KERNELS. always_release: release the GIL in
    every call.
    """
    by = entry() if run and Plans.takes(signature) else None
    if by is None:
        return function
    function._plans = plans = Plans(signature, run, always_release, by)
    make = _API.PyType_GenericAlloc
    make.restype, make.argtypes = ctypes.py_object, (ctypes.py_object, c_ssize_t)
    instance = make(by.type, 0)
    c_int64.from_address(id(instance) + _FUNCTION).value = plans.address
    _API.Py_IncRef(ctypes.py_object(function))
    c_int64.from_address(id(instance) + _SLOW).value = id(function)
    c_int64.from_address(id(instance) + _VECTORCALL).value = by.call
    return instance


def python_function(function: object) -> object:
    """The function in Python behind a callable of `callable_for`; any other is itself."""
    return getattr(function, "_slow", function)


class Plans:
    """The data of one function read by entry.c: struct function, and a ring of plans.

    Accessed under the GIL only; a plan is installed by one copy.
    """

    def __init__(self, signature: CallSignature, run: int, always_release: bool, by: FastEntry):
        self._words = _PLAN_HEAD + sum(_plan_words(p) for p in signature.params)
        self._ring = bytearray(8 * PLANS * self._words)
        self._known: dict[Hashable, tuple[int, list[object]]] = {}
        self._params = signature.params
        self._next = 0
        memory = ctypes.addressof(ctypes.c_char.from_buffer(self._ring))
        self._names = _interned_names(signature)
        described = zip(signature.params, self._names, strict=True)
        params = [n for p, name in described for n in (*_kind(p), 0 if name is None else id(name))]
        head = [ctypes.addressof(by.python), run, len(signature.params), signature.noalias, always_release]
        ring = 0, 0, self._words, _descriptor_words(signature), memory
        self._function = (c_int64 * (_HEAD + len(params)))(*map(int, head), *ring, *params)
        self.address = ctypes.addressof(self._function)

    @staticmethod
    def takes(signature: CallSignature) -> bool:
        """Whether the arguments fit the limits of entry.c."""
        return len(signature.params) <= _MAX_ARGS and _descriptor_words(signature) <= _MAX_WORDS

    def learn(self, packed: PackedArguments, args: Sequence[object]) -> None:
        """Add a plan for the arguments of a call, unless there is one."""
        values = [args[slot.index] for slot in packed.plan]
        sources = [borrowed_tensors.source(value, array) for value, array in zip(values, packed.arrays, strict=True)]
        self.add(packed, sources)

    def add(
        self,
        packed: PackedArguments,
        sources: Sequence[borrowed_tensors.ArgumentSource],
        kernels: int = 0,
        alignments: Mapping[int, int] | None = None,
    ) -> None:
        """Add a plan for arguments from these sources, unless there is one. kernels: the address of what the plan
        starts on a GPU; alignments: of the addresses of parameters, beyond that of elements."""
        program_key = (packed.key, *[(s.type, s.dtype, s.device) for s in sources])
        if program_key in self._known:
            return
        data = (c_int64 * self._words)(*[0] * _PLAN_HEAD, *self._compared_words(packed, sources, alignments or {}))
        data[_KERNELS] = kernels
        index, self._next = self._next, (self._next + 1) % PLANS
        for old in [k for k, (i, _) in self._known.items() if i == index]:
            del self._known[old]
        start = 8 * index * self._words
        memoryview(self._ring)[start : start + 8 * self._words] = memoryview(data).cast("B")
        self._known[program_key] = (index, [(s, a.dtype) for s, a in zip(sources, packed.arrays, strict=True)])  # alive
        self._function[_COUNT] = len(self._known)
        self._function[_LAST] = index

    def _compared_words(
        self, packed: PackedArguments, sources: Sequence[borrowed_tensors.ArgumentSource], alignments: Mapping[int, int]
    ) -> Iterator[int]:
        buffers = iter(zip(packed.plan, sources, strict=True))
        for param, value in zip(self._params, packed.values, strict=True):
            if isinstance(param, BufferParam):
                slot, source = next(buffers)
                yield from (id(source.type), source.exchange, source.grad, *source.device, source.dtype)
                alignment = max(slot.itemsize, alignments.get(slot.index, 1))
                yield from (alignment - 1, int(slot.written), slot.back, slot.low, slot.high)
                yield from (*source.strides, *slot.tail)
            elif param.is_index:
                yield value


def _descriptor_words(signature: CallSignature) -> int:
    return sum(3 + 2 * len(p.dims) for p in signature.params if isinstance(p, BufferParam))


def _interned_names(signature: CallSignature) -> list[str | None]:
    """The names of the parameters as the strings that calls by keyword have; None for a name that several have."""
    names = [p.name for p in signature.params]
    return [sys.intern(str(name)) if names.count(name) == 1 else None for name in names]


def _plan_words(param: BufferParam | ScalarParam) -> int:
    if isinstance(param, BufferParam):
        return 12 + 3 * len(param.dims)
    return int(param.is_index)


def _kind(param: BufferParam | ScalarParam) -> tuple[int, int]:
    if isinstance(param, BufferParam):
        return 0, len(param.dims)
    if param.is_index:
        return 1, 64
    return _KINDS.get(param.dtype) or (6 if dtypes.is_unsigned(param.dtype) else 2, dtypes.bits(param.dtype))


def _python() -> ctypes.Array[c_int64]:
    """struct python of entry.c."""
    objects = (int, float, None, True, False)
    calls = (
        *_calls(), _API.PyTuple_GetItem, _API.PyTuple_Size, _API.PyEval_SaveThread, _API.PyEval_RestoreThread,
        _API.PyLong_AsLongLongAndOverflow, _API.PyFloat_AsDouble, _API.PyObject_GetAttr, _API.PyErr_Clear,
        _API.Py_DecRef, _API.PyObject_Free, ctypes.CDLL(None).clock_gettime,
    )  # fmt: skip
    words = [*map(id, objects), int(not _is_immortal()), *map(_address, calls), time.CLOCK_MONOTONIC]
    return (c_int64 * len(words))(*words)


def _calls() -> tuple[Any, Any]:
    """CPython's vectorcall and the fallback for keyword names, which Python 3.10 inlines."""
    if sys.version_info >= (3, 11):
        return _API.PyObject_Vectorcall, None
    return _API.PyObject_VectorcallDict, _API._PyStack_AsDict


def _address(function: Any) -> int:
    return ctypes.cast(function, c_void_p).value or 0


def entry_key() -> str:
    """The cache key of the code of entry.ll."""
    host = object_code.target()
    return store.digest(FORMAT, installation(), host.triple, host.cpu, host.features)


def refuse_pickle(code: object, protocol: object = None) -> NoReturn:
    """The `__reduce_ex__` of objects that own machine code. Raises TypeError."""
    raise TypeError(
        f"{type(code).__name__} is machine code in this process and cannot be pickled or copied. Pickle the schedule or"
        " the module and build it again there (the code is taken from the cache), or write a shared object:"
        ' lib.export("f.so")'
    )
