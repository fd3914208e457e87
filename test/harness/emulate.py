"""Run an object file for another CPU: link it into a C program for that CPU and run it under QEMU user mode.

The program is freestanding, because no C library for that CPU may be installed: it makes system calls itself.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tir_mlir.runtime.library import Library
from tir_mlir.runtime.tools import toolchain

EMULATOR = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")

_MAIN = """
#include "f.h"
#include <stddef.h>

static long ask(long number, long a, long b, long c) {{
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
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
void *memset(void *p, int c, size_t n) {{ for (char volatile *q = p; n--;) *q++ = c; return p; }}
void *memcpy(void *to, const void *from, size_t n) {{
  const char *f = from;
  for (char volatile *q = to; n--;) *q++ = *f++;
  return to;
}}

{buffers}
void _start(void) {{
  {reads}
  _mlir_ciface_main({pointers});
  {writes}
  ask(93, 0, 0, 0);
}}
"""


def run(lib: Library, arrays: Sequence[np.ndarray], folder: Path) -> list[np.ndarray]:
    """Call `main` of a library for 64-bit ARM on arrays of these shapes; return the arrays afterwards."""
    obj, _ = lib.export(folder / "f.o")
    (folder / "main.c").write_text(_source(lib, arrays))
    main, program = str(folder / "main.o"), str(folder / "program")
    options = ["-target", "aarch64-linux-musl", "-c", "-O1", "-ffreestanding", "-fno-sanitize=all"]
    toolchain.run("zig", ["cc", *options, str(folder / "main.c"), "-o", main])
    toolchain.run("zig", ["ld.lld", "-static", main, str(obj), "-o", program])
    assert EMULATOR is not None
    given = b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
    data = subprocess.run([EMULATOR, "-cpu", "max", program], input=given, stdout=-1, check=True, timeout=120).stdout
    results = []
    for array in arrays:
        results.append(np.frombuffer(data[: array.nbytes], array.dtype).reshape(array.shape))
        data = data[array.nbytes :]
    return results


def _source(lib: Library, arrays: Sequence[np.ndarray]) -> str:
    names = [f"x{i}" for i in range(len(arrays))]
    kinds = [f"tir_{p.dtype}_{len(p.dims)}d" for p in lib["main"].signature.params]
    buffers = [f"static _Alignas(64) char {n}[{a.nbytes}];" for n, a in zip(names, arrays, strict=True)]
    made = [
        f"{kind} d_{n} = make_{kind}((void *){n}, {', '.join(map(str, a.shape))});"
        for n, a, kind in zip(names, arrays, kinds, strict=True)
    ]
    return _MAIN.format(
        buffers="\n".join(buffers),
        reads="\n  ".join([*(f"all(63, 0, {n}, sizeof {n});" for n in names), *made]),
        pointers=", ".join(f"&d_{n}" for n in names),
        writes="\n  ".join(f"all(64, 1, {n}, sizeof {n});" for n in names),
    )
