"""Write firmware to a folder: the functions as C, weights as constant arrays, the function that calls them, a driver.

NAME.h            what an application includes
NAME.c            NAME_run: the calls, in order, and the memory between them
NAME_functions.c  the functions: loops around instructions, and statements of the CPU
NAME_weights.c    constant arrays, which a linker puts into read-only memory
main.c            a driver with memory for the arguments
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.c_source import ALIGNED, array_text, print_c, prototype
from tir_mlir.accel.cores import loop_over_cores
from tir_mlir.accel.firmware.firmware_model import FirmwareModel, FirmwareTensor
from tir_mlir.accel.firmware.fold_constants import fold_constants
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.drivers.c_entry import C_TYPES, identifier
from tir_mlir.runtime.tools import files

_MADE = "/* made by tir_mlir */"
_INCLUDES = ["#include <stdbool.h>", "#include <stdint.h>"]


def write_firmware(directory: str | Path, model: FirmwareModel, functions: Mapping[str, PlacedProgram]) -> list[Path]:
    """Write a model, and the functions that its calls name, to a folder. Returns the paths.

    The files need the functions that the machine's instructions call, and nothing else: no C library, heap or thread
    local memory; on a CPU without floats in hardware also what its compiler calls for them. Errors: BuildError.
    """
    name = model.name
    if identifier(name) != name or name == "main":
        raise BuildError(f"firmware is named by a word of C, not {name!r}; fix: name=")
    for function, placed in functions.items():
        if loop_over_cores(placed.program) is not None:
            raise BuildError(
                f"{function} runs on several cores, which the firmware's one function cannot start; fix: export it as "
                'C, lib.export("f.c"), and call it on each core'
            )
    machine = next(iter(functions.values())).program.machine
    if f"{name}.h" in re.findall(r'#\s*include\s+"([^"]+)"', machine.header):
        raise BuildError(
            f'{name}.h is the header of the firmware, and also one that {machine} includes; fix: name="{name}_net", or '
            "another one"
        )
    model, functions = fold_constants(model, functions)
    folder = Path(directory)
    texts = {
        f"{name}.h": _header(model),
        f"{name}.c": _run(model, functions),
        f"{name}_functions.c": print_c(machine.header, functions),
        "main.c": _driver(model),
    }
    if model.weights:
        texts[f"{name}_weights.c"] = _weights(model)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {folder / file: text.encode() for file, text in texts.items()}
    files.write_whole(contents)
    return list(contents)


def _prototype(model: FirmwareModel) -> str:
    return f"void {model.name}_run({', '.join(t.pointer for t in model.arguments) or 'void'})"


def _header(model: FirmwareModel) -> str:
    guard = f"{model.name.upper()}_H"
    lines = [_MADE, f"#ifndef {guard}", f"#define {guard}", *_INCLUDES, ""]
    ways = [f"   {'out' if t.is_written else 'in '} {t.name}: {t.comment}" for t in model.arguments]
    lines += ["/* Row-major arrays:", *ways]
    return "\n".join([*lines, "*/", f"{_prototype(model)};", "#endif", ""])


def _run(model: FirmwareModel, functions: Mapping[str, PlacedProgram]) -> str:
    lines = [_MADE, f'#include "{model.name}.h"', ""]
    lines += [f"{prototype(name, placed)};" for name, placed in functions.items()]
    lines += [f"extern {_array(t)};" for t in model.tensors("weight")]
    between = model.tensors("arena")
    if between:
        lines += ["", ALIGNED, "", "/* the tensors between calls */"]
        lines += [f"static uint8_t arena[{model.arena_bytes}] ALIGNED;"]
    lines += ["", _prototype(model), "{"]
    for t in between:
        type_ = C_TYPES[t.dtype]
        lines.append(f"  {type_} *const {t.name} = ({type_} *)(void *)(arena + {t.start}); /* {t.comment} */")
    lines += [f"  {call.function}({', '.join(t.name for t in call.operands)});" for call in model.calls]
    for source, target in model.copies:
        lines.append(f"  for (int32_t i = 0; i < {target.elements}; ++i) {target.name}[i] = {source.name}[i];")
    used = {t for call in model.calls for t in call.operands} | {t for pair in model.copies for t in pair}
    lines += [f"  (void){t.name};" for t in model.arguments if t not in used]
    return "\n".join([*lines, "}", ""])


def _array(tensor: FirmwareTensor) -> str:
    """The declaration of a constant array."""
    return f"const {C_TYPES[tensor.dtype]} {tensor.name}[{tensor.elements}]"


def _weights(model: FirmwareModel) -> str:
    parts: list[str] = [_MADE, *_INCLUDES, ALIGNED]
    for t in model.tensors("weight"):
        text = array_text(t.name, model.weights[t.name], t.dtype)
        parts.append(f"\n/* {t.comment} */\nextern {_array(t)};\n{text}")
    return "\n".join([*parts, ""])


def _driver(model: FirmwareModel) -> str:
    """A `main` with memory for the arguments: an application fills the inputs before the call, and reads the outputs
    after it."""
    name = model.name
    lines = [_MADE, f'#include "{name}.h"', "", ALIGNED, ""]
    for t in model.arguments:
        array = f"{C_TYPES[t.dtype]} {name}_{t.name}[{max(1, t.elements)}]"
        lines += [f"extern {array};", f"{array} ALIGNED;"]
    passed = ", ".join(f"{name}_{t.name}" for t in model.arguments)
    return "\n".join([*lines, "", "int main(void)", "{", f"  {name}_run({passed});", "  return 0;", "}", ""])
