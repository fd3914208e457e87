"""Run an object file for another CPU: link it into a C program for that CPU and run it under QEMU user mode.

The program is freestanding, because no C library for that CPU may be installed: it makes system calls itself.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tir_mlir.runtime.drivers import c_entry
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.tools import toolchain


@dataclass(frozen=True)
class Machine:
    """An emulated machine: QEMU's program, the CPU with its options, the triple for the C compiler, how to make a
    system call (the registers of its number and arguments, and the instruction), and what a linker subtracts from the
    offset of a thread-local variable."""

    program: str
    cpu: str
    triple: str
    number: str
    arguments: tuple[str, str, str]
    call: str
    bias: int = 0

    @property
    def path(self) -> str | None:
        """Where the emulator is installed."""
        return shutil.which(self.program) or shutil.which(f"{self.program}-static")

    @property
    def missing(self) -> pytest.MarkDecorator:
        """Skips a test without the emulator."""
        return pytest.mark.skipif(self.path is None, reason=f"{self.program} is not there: apt install qemu-user")


def arm(sve: int = 256, sme: int = 512) -> Machine:
    """A 64-bit ARM with all extensions; the lengths of its vectors in bits."""
    cpu = f"max,sve-default-vector-length={sve // 8},sme-default-vector-length={sme // 8}"
    return Machine("qemu-aarch64", cpu, "aarch64-linux-musl", "x8", ("x0", "x1", "x2"), "svc 0")


def riscv(bits: int = 256) -> Machine:
    """A 64-bit RISC-V with vectors of this length."""
    cpu = f"rv64,v=true,vext_spec=v1.0,vlen={bits}"
    return Machine("qemu-riscv64", cpu, "riscv64-linux-musl", "a7", ("a0", "a1", "a2"), "ecall", bias=0x800)


_MAIN = """
#include "f.h"
#include <stddef.h>

static long ask(long number, long a, long b, long c) {{
  register long n __asm__("{n}") = number, x __asm__("{x}") = a, y __asm__("{y}") = b, z __asm__("{z}") = c;
  __asm__ volatile("{call}" : "+r"(x) : "r"(n), "r"(y), "r"(z) : "memory");
  return x;
}}
static void all(long number, long file, char *data, long size) {{  /* 63: read, 64: write */
  for (long done = 0; done < size;) {{
    long n = ask(number, file, (long)(data + done), size - done);
    if (n <= 0) ask(93, 1, 0, 0);
    done += n;
  }}
}}

static _Alignas(64) char heap[1 << 24];
static size_t used;
void *malloc(size_t size) {{ void *p = heap + used; used += (size + 63) / 64 * 64; return p; }}
void free(void *p) {{ (void)p; }}
void __arm_tpidr2_save(void) {{}}  /* of the compiler's library: this program leaves nothing to save in ZA */
static _Alignas(16) char own[256];  /* what is thread-local: there is one thread */
void *__tls_get_addr(size_t *at) {{ return own + at[1] + {bias}; }}  /* of the C library; linkers keep it on RISC-V */
void *memset(void *p, int c, size_t n) {{ for (char volatile *q = p; n--;) *q++ = c; return p; }}
void *memcpy(void *to, const void *from, size_t n) {{
  const char *f = from;
  for (char volatile *q = to; n--;) *q++ = *f++;
  return to;
}}

{buffers}
void _start(void) {{
  {reads}
  {before}
  if (f({given})) ask(93, 2, 0, 0);
  {writes}
  ask(93, 0, 0, 0);
}}
"""


def run(
    lib: Library, arrays: Sequence[np.ndarray], folder: Path, machine: Machine, before: str = ""
) -> list[np.ndarray]:
    """Call `main` of a library for another machine on arrays of these shapes; return the arrays afterwards.

    before: C code that runs first.
    """
    obj, _ = lib.export(folder / "f.o")
    (folder / "main.c").write_text(_source(lib, arrays, machine, before))
    main, program = str(folder / "main.o"), str(folder / "program")
    options = ["-target", machine.triple, "-c", "-O1", "-ffreestanding", "-fno-sanitize=all"]
    toolchain.run("zig", ["cc", *options, str(folder / "main.c"), "-o", main])
    toolchain.run("zig", ["ld.lld", "-static", main, str(obj), "-o", program])
    assert machine.path is not None
    given = b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
    data = subprocess.run(
        [machine.path, "-cpu", machine.cpu, program], input=given, stdout=-1, check=True, timeout=120
    ).stdout
    results = []
    for array in arrays:
        results.append(np.frombuffer(data[: array.nbytes], array.dtype).reshape(array.shape))
        data = data[array.nbytes :]
    return results


def _source(lib: Library, arrays: Sequence[np.ndarray], machine: Machine, before: str) -> str:
    names = [f"x{i}" for i in range(len(arrays))]
    (entry,) = c_entry.entries(lib.exporter.signatures, {}, "f", None)
    buffers = [f"static _Alignas(64) char {n}[{a.nbytes}];" for n, a in zip(names, arrays, strict=True)]
    system = dict(zip("xyz", machine.arguments, strict=True)) | {
        "n": machine.number,
        "call": machine.call,
        "bias": hex(machine.bias),
    }
    return _MAIN.format(
        **system,
        before=before,
        buffers="\n".join(buffers),
        reads="\n  ".join(f"all(63, 0, {n}, sizeof {n});" for n in names),
        given=", ".join([*map(str, c_entry.size_values(entry, arrays)), *(f"(void *){n}" for n in names)]),
        writes="\n  ".join(f"all(64, 1, {n}, sizeof {n});" for n in names),
    )
