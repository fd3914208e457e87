"""Operators as tensor expressions, under TVM's names: te tensors -> te tensor.

    x, w = te.placeholder((1, 784), name="x"), te.placeholder((128, 784), name="w")
    y = topi.nn.relu(topi.nn.dense(x, w))
    func = te.create_prim_func([x, w, y])

Sizes may be symbolic. An operand that does not fit raises a GraphError that names it.
"""

from typing import NoReturn as _NoReturn

from tir_mlir.topi import broadcast as _broadcast
from tir_mlir.topi import creation as _creation
from tir_mlir.topi import elementwise as _elementwise
from tir_mlir.topi import fourier as _fourier
from tir_mlir.topi import image, nn
from tir_mlir.topi import indexing as _indexing
from tir_mlir.topi import joining as _joining
from tir_mlir.topi import prefix_sums as _prefix_sums
from tir_mlir.topi import products as _products
from tir_mlir.topi import quantization as _quantization
from tir_mlir.topi import reductions as _reductions
from tir_mlir.topi import scalar_operators as _scalar_operators
from tir_mlir.topi import shapes as _shapes
from tir_mlir.topi import sorting as _sorting
from tir_mlir.topi import special_functions as _special_functions
from tir_mlir.topi.broadcast import *  # noqa: F403
from tir_mlir.topi.creation import *  # noqa: F403
from tir_mlir.topi.elementwise import *  # noqa: F403
from tir_mlir.topi.fourier import *  # noqa: F403
from tir_mlir.topi.indexing import *  # noqa: F403
from tir_mlir.topi.joining import *  # noqa: F403
from tir_mlir.topi.operands import missing_name_error as _absent
from tir_mlir.topi.prefix_sums import *  # noqa: F403
from tir_mlir.topi.products import *  # noqa: F403
from tir_mlir.topi.quantization import *  # noqa: F403
from tir_mlir.topi.reductions import *  # noqa: F403
from tir_mlir.topi.scalar_operators import *  # noqa: F403
from tir_mlir.topi.shapes import *  # noqa: F403
from tir_mlir.topi.sorting import *  # noqa: F403
from tir_mlir.topi.special_functions import *  # noqa: F403

__all__ = [
    "image", "nn", *_broadcast.__all__, *_creation.__all__, *_elementwise.__all__, *_fourier.__all__,
    *_indexing.__all__, *_joining.__all__, *_prefix_sums.__all__, *_products.__all__, *_quantization.__all__,
    *_reductions.__all__, *_scalar_operators.__all__, *_shapes.__all__, *_sorting.__all__, *_special_functions.__all__,
]  # fmt: skip


def __getattr__(name: str) -> _NoReturn:
    """Errors: AttributeError with a near name."""
    raise _absent("topi", name, __all__)
