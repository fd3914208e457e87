"""The kernels of one function, compiled for a GPU: the host function that launches them, and their PTX."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlir import ir

from tir_mlir.build import build
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.graph.units.unit_queries import (
    NAME,
    UnitQuery,
    decode_query,
    encode_result,
    parse_canonical,
    run_unit,
)
from tir_mlir.runtime.call.signature import CallSignature, signatures
from tir_mlir.runtime.drivers.device_driver import KernelCode
from tir_mlir.runtime.gpu.host_program import HostProgram
from tir_mlir.runtime.gpu.loaded_code import LoadedCode
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.script.module import PrimFunc
from tir_mlir.targets.cuda import PtxCode
from tir_mlir.targets.stages import BuildOptions


@dataclass(frozen=True)
class FunctionKernels:
    """A function as launches of kernels, their code, and what lowering warned of. device: the text of the module that
    it was compiled from, which prints as CUDA C."""

    name: str
    signature: CallSignature
    program: HostProgram
    code: LoadedCode
    device: str
    warnings: tuple[str, ...]


def kernels_of_each(functions: Sequence[PrimFunc], options: BuildOptions) -> list[FunctionKernels]:
    """The kernels of functions that are bound to blocks and threads. Raises LoweringError for what a GPU does not
    run."""
    answers = run_unit(f"{__name__}:compile_kernels", [UnitQuery(function) for function in functions], options)
    chip = options.compiled_for.chip
    return [_read(function.name, chip, *answer) for function, answer in zip(functions, answers, strict=True)]


def compile_kernels(payload: bytes) -> bytes:
    """The answer to one question of `kernels_of_each`."""
    text, _, target, _ = decode_query(payload)
    with warnings.catch_warnings(record=True) as caught, built_as_given():
        warnings.simplefilter("always")
        library = build(parse_canonical(text), target=target)
    code = library.exporter
    assert isinstance(code, PtxCode)
    with enter_context():
        device = str(code.device)
    return encode_result([device, code.ptx, [str(warning.message) for warning in caught]])


def _read(name: str, chip: str, device: str, ptx: str, warned: Sequence[str]) -> FunctionKernels:
    own = _c_name(name)
    device, ptx = (re.sub(rf"\b{NAME}(_kernel(?:s|_\d+)?)\b", rf"{own}\1", text) for text in (device, ptx))
    with enter_context():
        module = ir.Module.parse(device)
        (func,) = [f for f in funcs(module) if f.name == NAME]
        program, signature = HostProgram(func.op), replace(signatures(module)[NAME], name=name)
    return FunctionKernels(name, signature, program, LoadedCode(KernelCode(ptx, chip)), device, tuple(warned))


def _c_name(name: str) -> str:
    return re.sub(r"\W", "_", name)
