"""`import tvm` for programs written for TVM's TensorIR.

Either `python -m tir_mlir.compat FILE.py`, or `import tir_mlir.compat` as the first line of the program: from then on
`import tvm` gives the part of TVM that tir_mlir has, in the course's spelling and in today's, also where a real TVM is
installed. Names outside that part can be imported and say when they are used that they are not here.
"""

from __future__ import annotations

from tir_mlir.compat.absent import NotInCompat
from tir_mlir.compat.import_hook import install, uninstall

__all__ = ["NotInCompat", "install", "uninstall"]

install()
