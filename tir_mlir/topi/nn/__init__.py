"""Operators of neural networks: layers, activations, normalizations, pools, attention."""

from typing import NoReturn as _NoReturn

from tir_mlir.topi.creation import one_hot
from tir_mlir.topi.image.resize import upsampling
from tir_mlir.topi.nn.activations import (
    dropout,
    elu,
    gelu,
    gelu_tanh,
    hardsigmoid,
    hardswish,
    leaky_relu,
    mish,
    prelu,
    relu,
    relu6,
    selu,
    silu,
    softplus,
    softsign,
)
from tir_mlir.topi.nn.attention import attention, rotary_embedding
from tir_mlir.topi.nn.convolution import conv1d, conv2d, conv3d
from tir_mlir.topi.nn.convolutions_by_layout import (
    conv1d_ncw,
    conv1d_nwc,
    conv2d_hwcn,
    conv2d_nchw,
    conv2d_nhwc,
    conv2d_transpose_nchw,
    conv3d_ncdhw,
    conv3d_ndhwc,
    depthwise_conv2d_nchw,
    depthwise_conv2d_nhwc,
    group_conv2d_nchw,
    group_conv2d_nhwc,
)
from tir_mlir.topi.nn.dense import bias_add, dense, matmul
from tir_mlir.topi.nn.normalization import batch_norm, group_norm, instance_norm, layer_norm, rms_norm
from tir_mlir.topi.nn.padding import pad
from tir_mlir.topi.nn.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    adaptive_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    global_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    pool2d,
)
from tir_mlir.topi.nn.softmax import log_softmax, softmax
from tir_mlir.topi.nn.transposed_convolution import conv1d_transpose, conv2d_transpose, conv3d_transpose
from tir_mlir.topi.operands import absent as _absent
from tir_mlir.topi.products import batch_matmul
from tir_mlir.topi.shapes import flatten

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "adaptive_pool",
    "attention",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_matmul",
    "batch_norm",
    "bias_add",
    "conv1d",
    "conv1d_ncw",
    "conv1d_nwc",
    "conv1d_transpose",
    "conv2d",
    "conv2d_hwcn",
    "conv2d_nchw",
    "conv2d_nhwc",
    "conv2d_transpose",
    "conv2d_transpose_nchw",
    "conv3d",
    "conv3d_ncdhw",
    "conv3d_ndhwc",
    "conv3d_transpose",
    "dense",
    "depthwise_conv2d_nchw",
    "depthwise_conv2d_nhwc",
    "dropout",
    "elu",
    "flatten",
    "gelu",
    "gelu_tanh",
    "global_pool",
    "group_conv2d_nchw",
    "group_conv2d_nhwc",
    "group_norm",
    "hardsigmoid",
    "hardswish",
    "instance_norm",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "matmul",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mish",
    "one_hot",
    "pad",
    "pool2d",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rotary_embedding",
    "selu",
    "silu",
    "softmax",
    "softplus",
    "softsign",
    "upsampling",
]


def __getattr__(name: str) -> _NoReturn:
    """Errors: AttributeError with a near name."""
    raise _absent("topi.nn", name, __all__)
