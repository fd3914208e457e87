"""A function whose work is kernels, as a Python callable: `lib["main"](a, b, c)` on arrays of a GPU.

The first call with arguments of some types, shapes and strides checks them as CPU calls do and prepares its launches;
later ones only read pointers. Calls return before the kernels are done, unless an array was copied.
"""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, DeviceError
from tir_mlir.dialect.ir import warn_at_user
from tir_mlir.runtime.call import borrowed_tensors, fast_entry
from tir_mlir.runtime.call.arrays import ArgumentValue, PackedArguments, Packer
from tir_mlir.runtime.call.signature import (
    BufferParam,
    CallSignature,
    ProgramFunction,
    ScalarParam,
    positional_arguments,
)
from tir_mlir.runtime.drivers.device_driver import DeviceDriver, KernelCode, Launcher, NativeDriver, active
from tir_mlir.runtime.gpu import tensors
from tir_mlir.runtime.gpu.host_program import (
    CallValue,
    DeviceBuffer,
    HostProgram,
    PreparedCall,
    PreparedLaunch,
    Scalar,
    TensorMapOf,
    bits_of,
)
from tir_mlir.runtime.gpu.loaded_code import LoadedCode
from tir_mlir.runtime.gpu.native_launches import Kernels, can_start

# Where a call runs: the device and stream of its arrays; the checks of arguments on top of those of CPU calls.


class DevicePacker(Packer):
    """Checks and packs arguments of kernels: arrays on one GPU, in place, and NumPy arrays, to be copied."""

    def __init__(self, signature: CallSignature):
        super().__init__(signature)
        self._buffer_params = [(n, p) for n, p in enumerate(signature.params) if isinstance(p, BufferParam)]

    def device(self, driver: DeviceDriver, args: Sequence[object]) -> tuple[int, int, bool]:
        """The device and stream of a call, and whether an argument is a NumPy array.

        Raises ArgumentError for an array in main memory that is not a NumPy array, for one on a device of another kind
        or that does not exist, and for arrays on different GPUs.
        """
        first: tuple[BufferParam, int] | None = None
        stream: int | None = None
        copied = False
        for number, param in self._buffer_params[: len(args)]:
            value = args[number]
            if isinstance(value, np.ndarray):
                copied = True
                continue
            device = self._number(param, value, driver)
            if first is None:
                first = param, device
            elif device != first[1]:
                self._fail(param, f"is on cuda:{device}", f"{first[0].name!r} is on cuda:{first[1]}; all on one GPU")
            stream = tensors.current_stream(value, device) if stream is None else stream
        chosen = driver.current_device() if first is None else first[1]
        return chosen, driver.current_stream(chosen) if stream is None else stream, copied

    def _number(self, param: BufferParam, value: object, driver: DeviceDriver) -> int:
        device = tensors.device_of(value)
        if device is None:
            kind = type(value).__name__
            self._fail(
                param, f"is a {kind}", "an array on a GPU (__dlpack__), or a NumPy array, which is copied, is needed"
            )
        if device[0] not in (tensors.CUDA, tensors.MANAGED):
            ways = {"torch": f'.to("cuda:{driver.current_device()}") moves it, .numpy() has it copied in each call'}
            way = ways.get(tensors.package_of(value), "move it there, or pass it as a NumPy array, which is copied")
            self._fail(param, f"is on {tensors.device_text(device)}", f"the kernels run on a GPU; {way}")
        if device[1] >= len(driver.devices()):
            self._fail(param, f"is on cuda:{device[1]}", f"{driver.name} has {len(driver.devices())} GPUs")
        return device[1]

    def borrow_arguments(self, args: Sequence[object], stream: int) -> tuple[list[object], list[object]]:
        """The arguments with arrays of addresses for the tensors, and what keeps these alive."""
        arrays, owners = list(args), []
        for number, param in self._buffer_params[: len(args)]:
            if not isinstance(args[number], np.ndarray):
                tensor = self._borrow_tensor(param, args[number], stream)
                arrays[number] = tensor.array
                owners.append(tensor.owner)
        return arrays, owners

    def _borrow_tensor(self, param: BufferParam, value: object, stream: int) -> tensors.DeviceTensor:
        if (negated := getattr(value, "is_neg", None)) is not None and negated():
            self._fail(param, "is a lazily negated view", "its memory has other values; pass value.resolve_neg()")
        try:
            tensor = tensors.borrow_tensor(value, stream)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            reason = f"is a {type(value).__name__} that gives no array in place ({error})"
            self._fail(param, reason, "pass a plain array on the GPU")
        if "bfloat16" in (tensor.dtype, param.dtype) and tensor.dtype not in (param.dtype, "uint16"):
            self._fail(param, f"is of type {tensor.dtype}", f"{param.dtype} is needed; convert the array")
        return tensor

    def check_alignment(self, number: int, start: int, alignment: int) -> None:
        """Raise ArgumentError for a buffer that kernels access by vectors and that does not start at a multiple."""
        if start % alignment:
            param = self._buffer_params[[n for n, _ in self._buffer_params].index(number)][1]
            have = f"starts at address {start:#x}"
            self._fail(
                param, have, f"a multiple of {alignment} is needed, as the kernels use vector loads; pass a copy"
            )


def refuse_count(signature: CallSignature, count: int) -> None:
    """Raise ArgumentError for a wrong number of arguments."""
    if count != len(signature.params):
        needed = len(signature.params)
        raise ArgumentError(
            f"{signature.name} takes {needed} argument{'s' * (needed != 1)}, {count} given; it is {signature}"
        )


PREPARED = 1024
"""Combinations of types, shapes and strides of a function whose launches are kept."""


_ReadyLaunch: TypeAlias = tuple[Launcher, list[int], list[tuple[int, DeviceBuffer | Scalar | TensorMapOf]]]


@dataclass
class _Ready:
    """A call that is prepared: for each launch its launcher, the words of its arguments with 0 for what varies, and
    what goes where: (position, source); the same for native code that is called without Python, by the function that
    says the stream."""

    driver: DeviceDriver
    call: PreparedCall
    launches: list[_ReadyLaunch] = field(default_factory=list)
    native: dict[int, Kernels] = field(default_factory=dict)
    direct: Kernels | None = None
    """For calls from Python: all launches at once, on a stream that is given."""

    @cached_property
    def scalars(self) -> dict[int, str]:
        """The types of the numbers that kernels are given, by parameter."""
        arguments = [argument for launch in self.call.launches for argument in launch.arguments]
        return {a.number: a.dtype for a in arguments if isinstance(a, Scalar)}


@dataclass(frozen=True)
class _DeviceCall:
    """A call of a function on a device: its stream, the address of each buffer by number of its parameter, the values
    of the scalars."""

    name: str
    ready: _Ready
    device: int
    stream: int
    starts: Mapping[int, int]
    values: Sequence[ArgumentValue]

    def start(self) -> None:
        """Start the kernels, with memory for the buffers of the function."""
        driver, memory, direct = self.ready.driver, list[int](), self.ready.direct
        started = [*self.ready.native.values(), *([] if direct is None else [direct])]
        self._raise_failure(started)
        if direct is not None and direct.start(self.stream, self._arguments()):
            return
        self._raise_failure(started)  # else the loop below fails where it did, and says where
        try:
            for size in self.ready.call.temporaries:
                memory.append(driver.allocate(self.device, size, self.stream))
            for launcher, template, varying in self.ready.launches:
                words = template.copy()
                for position, source in varying:
                    words[position] = self._word(source, memory)
                launcher(self.stream, words)
        finally:
            for address in memory:
                driver.free(self.device, address, self.stream)

    def _raise_failure(self, started: Sequence[Kernels]) -> None:
        for native in started:
            if native.status:
                self.ready.driver.raise_status(native.status, f"{self.name}, after its first kernel")

    def _arguments(self) -> list[int]:
        """The address, or the bits, of each parameter."""
        words = [self.starts.get(number, 0) for number in range(len(self.values))]
        for number, dtype in self.ready.scalars.items():
            words[number] = bits_of(dtype, self.values[number])
        return words

    def _word(self, source: DeviceBuffer | Scalar | TensorMapOf, memory: Sequence[int]) -> int:
        if isinstance(source, TensorMapOf):
            return self.ready.driver.tensor_map(self.device, self._word(source.buffer, memory), source.layout)
        if isinstance(source, Scalar):
            return bits_of(source.dtype, self.values[source.number])
        return memory[source.number] if source.is_temporary else self.starts[source.number]


class KernelFunction:
    """A compiled function. Takes one array or number per parameter, by position or by name; results are written into
    the arrays.

    alignments: by number of a parameter, what the kernels take its address to be a multiple of, beyond its elements.
    """

    def __init__(self, signature: CallSignature, code: LoadedCode, alignments: Mapping[int, int]):
        self.signature, self.name, self.code = signature, signature.name, code
        self._packer = DevicePacker(signature)
        self._alignments = alignments
        self._ready: dict[Hashable, _Ready] = {}
        self._plans: fast_entry.Plans | None = None
        self._warned = False

    def __call__(self, /, *args: object, **named: object) -> None:
        self.run(self.driver(), self.order_arguments(args, named))

    def driver(self) -> DeviceDriver:
        """The driver of calls. Errors: BuildError without a GPU."""
        return active()

    def order_arguments(self, args: tuple[object, ...], named: Mapping[str, object]) -> tuple[object, ...]:
        """The arguments by position."""
        return (*positional_arguments(self.signature, args, named),) if named else args

    def run(self, driver: DeviceDriver, args: Sequence[object]) -> None:
        """Check the arguments and start the kernels on the device and stream of the arrays."""
        with self._enter_call(driver, args) as (call, packed, is_copied):
            if is_copied and not driver.is_machine:
                self._warn_of_copies(args)
            call.start()
            if not is_copied and self._plans is not None:
                self._learn(self._plans, call, packed, args)

    @contextmanager
    def _enter_call(
        self, driver: DeviceDriver, args: Sequence[object]
    ) -> Iterator[tuple[_DeviceCall, PackedArguments, bool]]:
        """A call with these arguments, checked, and whether some are copied: they are on the device in this context."""
        driver.check()  # before locks, which another thread may have held when the process was forked
        refuse_count(self.signature, len(args))
        device, stream, is_copied = self._packer.device(driver, args)
        arrays, owners = self._packer.borrow_arguments(args, stream)
        packed = self._packer.pack(arrays)
        with driver.device_context(device), _copies(driver, device, stream, packed, args) as starts:
            for number, alignment in self._alignments.items():
                self._packer.check_alignment(number, starts[number], alignment)
            ready = self._get_or_prepare(driver, device, stream, packed)
            yield _DeviceCall(self.name, ready, device, stream, starts, packed.values), packed, is_copied
        del owners  # they keep the arrays alive

    def _learn(
        self, plans: fast_entry.Plans, call: _DeviceCall, packed: PackedArguments, args: Sequence[object]
    ) -> None:
        """Let later calls with such arguments start the kernels without Python, where the tensors' package lends them
        in native code."""
        ready, device, stream = call.ready, call.device, call.stream
        native, buffers = ready.driver.native(device), ready.call.temporaries
        if native is None or ready.call.has_tensor_maps or not ready.launches or (buffers and not native.allocate):
            return
        if len(self._ready) >= PREPARED and not ready.native:
            return
        values = zip([args[slot.index] for slot in packed.plan], packed.arrays, strict=True)
        sources = [borrowed_tensors.source(value, array, (tensors.CUDA, device)) for value, array in values]
        if not sources or not all(s.exchange and s.current_stream for s in sources):
            return
        current_stream = sources[0].current_stream
        if current_stream not in ready.native:
            ready.native[current_stream] = self._kernels(native, ready, device, current_stream, stream)
        plans.add(packed, sources, ready.native[current_stream].address, self._alignments)

    def seconds(self, args: Sequence[object], number: int = 1, repeat: int = 1) -> list[float]:
        """The mean seconds of a call on the device, by events around `number` calls, `repeat` times, after one call.
        NumPy arrays are copied before and after. Raises DeviceError where no GPU runs the kernels."""
        driver = self.driver()
        if driver.is_machine:
            raise DeviceError(
                f"{self.name}: the kernels run on {driver.name}, whose time says nothing about a GPU; "
                "fix: time them where there is one"
            )
        with self._enter_call(driver, args) as (call, _, _):
            call.start()

            def calls() -> None:
                for _ in range(number):
                    call.start()

            return [each / number for each in driver.seconds(call.device, call.stream, [calls] * repeat)]

    def __repr__(self) -> str:
        return f"<compiled {self.signature}, kernels for {self.code.code.chip}>"

    __reduce_ex__ = fast_entry.refuse_pickle

    # -- once per combination of shapes --------------------------------------------------------------------------------

    def _get_or_prepare(self, driver: DeviceDriver, device: int, stream: int, packed: PackedArguments) -> _Ready:
        key = id(driver), device, packed.key, *self.bound_to(stream)
        ready = self._ready.get(key)
        if ready is None:
            ready = self._prepare(driver, device, stream, packed)
            if len(self._ready) >= PREPARED:  # what native code knows remains: it may be using it
                self._ready = {k: r for k, r in list(self._ready.items()) if r.native}
            self._ready[key] = ready
        return ready

    def bound_to(self, stream: int) -> tuple[int, ...]:
        """What a prepared call is for besides its device and arguments: nothing, so that it serves all streams."""
        return ()

    def prepare_call(self, driver: DeviceDriver, device: int, stream: int, packed: PackedArguments) -> PreparedCall:
        """The launches of a call with arguments of these shapes and sizes."""
        raise NotImplementedError

    def _prepare(self, driver: DeviceDriver, device: int, stream: int, packed: PackedArguments) -> _Ready:
        call = self.prepare_call(driver, device, stream, packed)
        started = [launch for launch in call.launches if launch.blocks]  # a grid of 0 blocks starts nothing
        ready = _Ready(driver, call, [self._prepared_launch(driver, device, launch) for launch in started])
        native = driver.native(device) if started and can_start() and not call.has_tensor_maps else None
        if native is not None and (native.allocate or not call.temporaries):
            ready.direct = self._kernels(native, ready, device, 0, stream)
        return ready

    def _kernels(self, native: NativeDriver, ready: _Ready, device: int, current_stream: int, stream: int) -> Kernels:
        """What native code starts, on a stream that the package of the tensors says, or that it is given (0)."""
        parts = zip(ready.launches, [c for c in ready.call.launches if c.blocks], strict=True)
        launches = [(launcher.handle, part.launch, part.arguments) for (launcher, _, _), part in parts]
        only = stream if self.bound_to(stream) else None
        return Kernels(native, (tensors.CUDA, device), current_stream, ready.call.temporaries, launches, only)

    def _prepared_launch(self, driver: DeviceDriver, device: int, prepared: PreparedLaunch) -> _ReadyLaunch:
        module = (prepared.code or self.code).module_on_device(driver, device)
        words = [a if isinstance(a, int) else 0 for a in prepared.arguments]
        varying = [(n, a) for n, a in enumerate(prepared.arguments) if not isinstance(a, int)]
        return driver.launcher(module, prepared.launch), words, varying

    def _warn_of_copies(self, args: Sequence[object]) -> None:
        if self._warned:
            return
        self._warned = True
        names = [repr(p.name) for p, a in zip(self.signature.params, args, strict=True) if isinstance(a, np.ndarray)]
        text = (
            f"{self.name}: {', '.join(names)} are NumPy arrays: each call copies them to the GPU and back, and waits "
            "for the kernels; pass arrays on the GPU (torch, cupy, jax) to avoid that. This is said once"
        )
        warn_at_user(text, UserWarning)


class DeviceFunction(KernelFunction):
    """A function of a program: its kernels are in one module."""

    def __init__(self, signature: CallSignature, program: HostProgram, code: LoadedCode):
        super().__init__(signature, code, program.alignments)
        self.program = program

    def prepare_call(self, driver: DeviceDriver, device: int, stream: int, packed: PackedArguments) -> PreparedCall:
        shapes = {slot.index: slot.tail[1 : 1 + len(slot.tail) // 2] for slot in packed.plan}
        values: list[CallValue] = [shapes.get(n) for n in range(len(self.signature.params))]
        for number, param in enumerate(self.signature.params):
            if isinstance(param, ScalarParam) and param.is_index:
                values[number] = packed.values[number]
        return self.program.prepare(values)


@contextmanager
def _copies(
    driver: DeviceDriver, device: int, stream: int, packed: PackedArguments, args: Sequence[object]
) -> Iterator[dict[int, int]]:
    """The address of each buffer on the device, by number of its parameter; NumPy arrays are there for the time of the
    context, and those that the function writes are copied back at its end."""
    starts: dict[int, int] = {}
    copies: list[tuple[int, np.ndarray, bool]] = []
    try:
        for slot in packed.plan:
            start = packed.values[slot.index][1]
            if isinstance(args[slot.index], np.ndarray):
                low, size = start + slot.back + slot.low, slot.high - slot.low
                address = driver.allocate(device, max(size, 1), stream)
                copies.append((address, _bytes_at(low, size), slot.written))
                driver.copy_in(device, address, copies[-1][1], stream)
                start = address - slot.low - slot.back
            starts[slot.index] = start
        yield starts
        for address, memory, written in copies:
            if written:
                driver.copy_out(device, memory, address, stream)
        if copies:
            driver.synchronize(device, stream)
    finally:
        for address, _, _ in copies:
            driver.free(device, address, stream)


def _bytes_at(start: int, size: int) -> np.ndarray:
    """The bytes of main memory from an address on."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(start)) if size else np.empty(0, np.uint8)


def functions(
    signatures: Sequence[CallSignature], programs: Mapping[str, HostProgram], code: KernelCode
) -> dict[str, ProgramFunction]:
    """A callable for each signature."""
    loaded, callables = LoadedCode(code), {}
    for s in signatures:
        function = DeviceFunction(s, programs[s.name], loaded)
        callables[s.name] = fast_entry.callable_for(function, s, fast_entry.KERNELS, True)
    return callables
