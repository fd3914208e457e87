"""Nets of a few layers with the structure of ones in use, and weights at random: a ResNet, a MobileNet, a BERT."""

from __future__ import annotations

import numpy as np

from tir_mlir.graph import Graph, GraphBuilder
from tir_mlir.graph.builder import Value

ONE_SCALE = {"activations": "int8", "symmetric": True, "per_channel": False, "bias": "int32", "threads": 1}
"""How `calibrate` rounds for machines that have no zero points and one scale for a tensor."""


class NetBuilder:
    """Writes layers with weights at random."""

    def __init__(self, seed: int = 0):
        self.rng, self.b, self.count = np.random.default_rng(seed), GraphBuilder("main"), 0

    def weight(self, *shape: int) -> Value:
        """A weight whose products keep the size of what they multiply."""
        self.count += 1
        scale = np.prod(shape[1:]) ** -0.5 if len(shape) > 1 else 0.1
        return self.b.weight(f"w{self.count}", (self.rng.standard_normal(shape) * scale).astype(np.float32))

    def convolution(self, x: Value, outputs: int, taps: int, stride: int = 1, groups: int = 1) -> Value:
        """A convolution with a bias."""
        kernel = self.weight(outputs, int(x.shape[1]) // groups, taps, taps)
        y = self.b.op("nn.conv2d", x, kernel, padding=[taps // 2] * 4, strides=[stride, stride], groups=groups)
        return self.b.op("add", y, self.b.op("reshape", self.weight(outputs), shape=(1, outputs, 1, 1)))

    def dense(self, x: Value, outputs: int) -> Value:
        """A dense layer with a bias."""
        return self.b.op("add", self.b.op("nn.dense", x, self.weight(outputs, int(x.shape[-1]))), self.weight(outputs))

    def classify(self, x: Value, classes: int) -> Value:
        """The mean of an image, and a dense layer."""
        y = self.b.op("nn.adaptive_avg_pool2d", x, output_size=[1, 1])
        return self.dense(self.b.op("reshape", y, shape=(1, int(x.shape[1]))), classes)

    def finish(self, result: Value, shape: tuple[int, ...]) -> tuple[Graph, np.ndarray]:
        """The graph in 8 bits, and an input of it."""
        self.b.output(result)
        x = self.rng.standard_normal(shape, np.float32)
        return self.b.finish().calibrate([x], **ONE_SCALE), x


def resnet(size: int = 6) -> tuple[Graph, np.ndarray]:
    """A stem, a bottleneck with its sum, and a classifier."""
    net = NetBuilder()
    relu = lambda v: net.b.op("nn.relu", v)  # noqa: E731
    x = relu(net.convolution(net.b.input("x", (1, 3, size, size)), 16, 3))
    y = relu(net.convolution(relu(net.convolution(x, 8, 1)), 8, 3))
    return net.finish(net.classify(relu(net.b.op("add", net.convolution(y, 16, 1), x)), 10), (1, 3, size, size))


def mobilenet(size: int = 12) -> tuple[Graph, np.ndarray]:
    """A stem of stride 2, an inverted residual block, and a classifier."""
    net = NetBuilder()
    relu = lambda v: net.b.op("nn.relu6", v)  # noqa: E731
    x = net.convolution(net.b.input("x", (1, 3, size, size)), 8, 3, 2)
    y = relu(net.convolution(relu(net.convolution(x, 32, 1)), 32, 3, groups=32))
    return net.finish(net.classify(net.b.op("add", net.convolution(y, 8, 1), x), 10), (1, 3, size, size))


def bert(layers: int = 1, tokens: int = 7, heads: int = 2, width: int = 16) -> tuple[Graph, np.ndarray]:
    """Layers of an encoder: attention and two dense layers, each with a sum and a normalisation."""
    net = NetBuilder()
    b, shape = net.b, (1, tokens, width)

    def normalize(x: Value) -> Value:
        return b.op("nn.layer_norm", x, net.weight(width), net.weight(width), axis=[-1])

    def by_head(x: Value) -> Value:
        return b.op("reshape", net.dense(x, width), shape=(1, tokens, heads, width // heads))

    x = b.input("x", shape)
    for _ in range(layers):
        y = b.op("nn.attention", by_head(x), by_head(x), by_head(x))
        x = normalize(b.op("add", x, net.dense(b.op("reshape", y, shape=shape), width)))
        x = normalize(b.op("add", x, net.dense(b.op("nn.gelu", net.dense(x, 2 * width)), width)))
    return net.finish(x, shape)
