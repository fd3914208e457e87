"""NVIDIA's driver without a GPU: fake_cuda.c, compiled and loaded."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from tir_mlir.runtime.drivers.cuda import Cuda
from tir_mlir.runtime.tools import c_tools

SOURCE = Path(__file__).with_suffix(".c")


def compiled(folder: Path) -> Path:
    """The shared library, in a folder."""
    path, code = folder / "libcuda.so.1", folder / "fake_cuda.o"
    c_tools.compile_c(SOURCE, code, "-std=c11")
    c_tools.link_shared([str(code)], str(path), [])
    return path


class FakeCuda(Cuda):
    """CUDA's driver on the fake library; `fake` has the functions by which tests ask and set it."""

    def __init__(self, library: Path, devices: int = 1, fails: tuple[str, int] = ("", 0)):
        self.fake: Any = ctypes.CDLL(str(library))
        self.fake.fake_word.restype = self.fake.fake_launched.restype = ctypes.c_uint64
        self.fake.fake_kernel.restype = self.fake.fake_log.restype = ctypes.c_char_p
        self.fake.fake_devices(devices)
        self.fake.cuCtxSetCurrent(None)
        self.fake.fake_takes_text(0)
        self.fake.fake_arguments(1)
        self.fake.fake_forget()
        self.fails(*fails)
        super().__init__(str(library))

    def fails(self, name: str, status: int) -> None:
        """Let a function fail from now on; status 0: none."""
        self.fake.fake_fail(name.encode(), status)

    def count(self, what: str) -> int:
        """How often the driver did something."""
        return self.fake.fake_count(what.encode())

    def launched(self) -> tuple[bytes, list[int]]:
        """The kernel of the last launch, and its grid, block, shared bytes and stream."""
        return self.fake.fake_kernel(), [self.fake.fake_launched(n) for n in range(8)]

    def launches(self) -> list[str]:
        """The names of the kernels that were launched since this was asked, in order."""
        names = self.fake.fake_log().decode().split()
        self.fake.fake_forget()
        return names

    def make_current(self, device: int) -> None:
        """Make a device that of the thread, as other packages do."""
        self.fake.cuCtxSetCurrent(ctypes.c_void_p(0xC0 + device))

    @property
    def launch_device(self) -> int:
        """The device whose context was current at the last launch."""
        return self.fake.fake_launched(8)
