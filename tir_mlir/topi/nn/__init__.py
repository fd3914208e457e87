"""Operators of neural networks: layers, activations, normalizations, pools, attention."""

from typing import NoReturn as _NoReturn

from tir_mlir.topi.creation import one_hot
from tir_mlir.topi.image.resize import upsampling
from tir_mlir.topi.nn import activations as _activations
from tir_mlir.topi.nn import attention as _attention
from tir_mlir.topi.nn import convolution as _convolution
from tir_mlir.topi.nn import convolutions_by_layout as _convolutions_by_layout
from tir_mlir.topi.nn import dense as _dense
from tir_mlir.topi.nn import normalization as _normalization
from tir_mlir.topi.nn import padding as _padding
from tir_mlir.topi.nn import pooling as _pooling
from tir_mlir.topi.nn import transposed_convolution as _transposed_convolution
from tir_mlir.topi.nn import windows as _windows
from tir_mlir.topi.nn import winograd as _winograd
from tir_mlir.topi.nn.activations import *  # noqa: F403
from tir_mlir.topi.nn.attention import *  # noqa: F403
from tir_mlir.topi.nn.convolution import *  # noqa: F403
from tir_mlir.topi.nn.convolutions_by_layout import *  # noqa: F403
from tir_mlir.topi.nn.dense import *  # noqa: F403
from tir_mlir.topi.nn.normalization import *  # noqa: F403
from tir_mlir.topi.nn.padding import *  # noqa: F403
from tir_mlir.topi.nn.pooling import *  # noqa: F403
from tir_mlir.topi.nn.transposed_convolution import *  # noqa: F403
from tir_mlir.topi.nn.windows import *  # noqa: F403
from tir_mlir.topi.nn.winograd import *  # noqa: F403
from tir_mlir.topi.operands import missing_name_error as _absent
from tir_mlir.topi.products import batch_matmul
from tir_mlir.topi.shapes import flatten

__all__ = [
    "batch_matmul", "flatten", "one_hot", "upsampling", *_activations.__all__, *_attention.__all__,
    *_convolution.__all__, *_convolutions_by_layout.__all__, *_dense.__all__, *_normalization.__all__,
    *_padding.__all__, *_pooling.__all__, *_transposed_convolution.__all__, *_windows.__all__,
    *_winograd.__all__,
]  # fmt: skip


def __getattr__(name: str) -> _NoReturn:
    """Errors: AttributeError with a near name."""
    raise _absent("topi.nn", name, __all__)
