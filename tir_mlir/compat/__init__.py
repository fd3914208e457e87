"""`import tvm` for programs written for TVM's TensorIR.

Either `python -m tir_mlir.compat FILE.py`, or `import tir_mlir.compat` as the first line of the program: from then on
`import tvm` provides the part of TVM's API that tir_mlir implements, in old and new spellings, even if TVM is
installed. Other names can be imported, and raise NotInCompat when used; `hasattr` of them is False.
"""

from __future__ import annotations

from tir_mlir.compat.absent_modules import NotInCompat
from tir_mlir.compat.import_hook import install, uninstall

__all__ = ["NotInCompat", "install", "uninstall"]

install()
