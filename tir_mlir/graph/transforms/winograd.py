"""Convolutions with windows of 3 x 3 by Winograd's algorithm, with fewer multiplications."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import bits, enter_context
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.rewrite import NodeCall, Rewriter, Rule, apply_rules, is_op, wildcard
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.patches import every
from tir_mlir.schedules.products.short_numbers import multiplies_words
from tir_mlir.schedules.products.tile_sizes import register_tile
from tir_mlir.target import Target, chosen
from tir_mlir.target.work_cost import balance

FEWER = 36 / 16
"""How many multiplications a tile of 2 x 2 results takes for one of Winograd's."""
TRANSFORMS = 10
"""Transforms take the time of the products of a channel with so many others: they are bound by loads and by caches."""
LEAST_GAIN = 1.1
FEWEST_TILES = 16
"""Tiles that share the weights, which are 16 / 9 of those of a convolution, and from memory for few tiles."""
FEWEST_OF_BYTES = 32
"""Channels of convolutions of bytes: with fewer, transforms take what products save."""
MOST_OF_BYTES = 1 << 10
"""Channels of an image of bytes: four times a result, of so many times 9 products, fits in 32 bits."""


def winograd(graph: Graph, target: Target | str = "llvm", threads: int | None = None) -> Graph:
    """Compute convolutions with windows of 3 x 3, and stride 1, by Winograd's algorithm F(2 x 2, 3 x 3).

        lv = R.nn.conv2d(x, w, padding=[1, 1, 1, 1],    ->    lv = R.nn.winograd_weights(w, width=16)
                         data_layout="NHWC")                  gv = R.nn.conv2d_winograd(x, lv, padding=[1, 1, 1, 1])

    4 results of a channel then take 16 multiplications instead of 36, and sums of pixels and of products beside them.
    The transformed weights are computed once and are 16 / 9 as large. In exact arithmetic results are the same; in
    float32 errors are relative to the largest number of a tile, and a pixel that is infinite or not a number makes all
    results of its tiles so. Only float32 images of known, even sizes and of many channels are computed so, with weights
    that are not widened, and only if there are enough rows of tiles for the threads; other convolutions remain.
    (Lavin, Gray 2016: Fast algorithms for convolutional neural networks.)

        lv = R.nn.conv2d(x, w,                     lv = R.nn.winograd_tiles(R.nn.pad(x))        (4, 4, 1, 28, 28, 64)
                         data_layout="NHWC",  ->   lv1 = R.matmul(lv, w1, out_dtype="int32")    as (16, 784, 64)
                         out_dtype="int32")        lv2 = R.nn.winograd_results(lv1, size=[56, 56])

    So are convolutions of bytes where the target multiplies them as words, and L3 holds the sums of the tiles
    and their products. They are exact: words hold the sums, and results are divided by four, as weights are four times
    as large.
    """
    cpu = chosen(target)
    with enter_context():
        calls = [call for call, _ in Rewriter(graph).calls(_LAST)]
        if not any(_width(call, cpu, threads) or _is_of_bytes(call, cpu) for call in calls):
            return graph
    return clean(apply_rules(graph, [Rule(_LAST, lambda call, _: _product_of_tiles(call, cpu, threads))]))


def _product_of_tiles(call: NodeCall, target: Target, threads: int | None) -> ir.Value | None:
    """A convolution by the algorithm, see `winograd`; None if it remains."""
    if _is_of_bytes(call, target):
        return _product_of_bytes(call)
    width = _width(call, target, threads)
    if width == 0:
        return None
    image, kernel = call.args
    weights = call.emit("nn.winograd_weights", [kernel], {"width": width})
    padding = {"padding": every(call.attrs["padding"], 4)}
    return call.emit("nn.conv2d_winograd", [image, weights], padding, call.struct_info)


def _width(call: NodeCall, target: Target, threads: int | None) -> int:
    """The panels of the weights of a convolution that gains by the algorithm; 0 for others."""
    attrs, (image, kernel), made = call.attrs, call.args, call.struct_info
    if {call.type_of(image).dtype, made.dtype} != {"float32"} or not _has_tiles(call):
        return 0
    if attrs.get("pad_value", 0) != 0 or not _is_kept(call, kernel):
        return 0
    n, h, w, o = map(int, made.shape)
    channels, lanes = int(call.shape_of(kernel)[1]), target.lanes(bits(made.dtype))
    if h % 2 or w % 2 or min(h, w) == 2 or o % lanes or n * h * w < 4 * FEWEST_TILES:
        return 0
    gain = FEWER / (1 + TRANSFORMS / channels + TRANSFORMS / o) * balance(n * h // 2, threads or target.cores)
    if gain < LEAST_GAIN:
        return 0
    most = register_tile(None, o, lanes, target).vectors
    return lanes * next(vectors for vectors in range(most, 0, -1) if o % (vectors * lanes) == 0)


def _has_tiles(call: NodeCall) -> bool:
    """Whether a convolution, of known sizes, moves one window of 3 x 3 by one pixel."""
    attrs, sizes = call.attrs, [size for value in call.args for size in call.shape_of(value)]
    plain = attrs["groups"] == 1 and attrs.get("out_layout") in (None, "NHWC")
    dense = every(attrs["strides"], 2) == every(attrs["dilation"], 2) == [1, 1]
    return plain and dense and call.shape_of(call.args[1])[2:] == (3, 3) and not any(isinstance(s, str) for s in sizes)


def _is_of_bytes(call: NodeCall, target: Target) -> bool:
    """Whether a convolution of bytes gains by the algorithm."""
    image, kernel = call.args
    types = (call.type_of(image).dtype, call.type_of(kernel).dtype)
    if types[1] != "int8" or call.struct_info.dtype != "int32" or not _has_tiles(call) or not call.is_weight(kernel):
        return False
    n, h, w, o = map(int, call.shape)
    channels, tiles = int(call.shape_of(kernel)[1]), n * -(-h // 2) * -(-w // 2)
    near = 16 * tiles * (2 * channels + 4 * o) <= target.l3
    enough = min(channels, o) >= FEWEST_OF_BYTES and tiles >= FEWEST_TILES
    return near and enough and channels <= MOST_OF_BYTES and multiplies_words(target, *types)


def _product_of_bytes(call: NodeCall) -> ir.Value:
    """A convolution of bytes as a batch of 16 products, see `winograd`."""
    (image, kernel), (n, h, w, o) = call.args, map(int, call.shape)
    channels, high, wide = int(call.shape_of(kernel)[1]), -(-h // 2), -(-w // 2)
    top, left, bottom, right = every(call.attrs["padding"], 4)
    sides = [0, 0, top, bottom + h % 2, left, right + w % 2, 0, 0]
    value = call.attrs.get("pad_value", 0)
    padded = call.emit("nn.pad", [image], {"pad_width": sides, "pad_value": value}) if any(sides) else image
    tiles = call.reshape(call.emit("nn.winograd_tiles", [padded]), [16, n * high * wide, channels])
    weights = call.reshape(call.emit("nn.winograd_weights", [kernel], {"width": o}), [16, channels, o])
    product = call.emit("matmul", [tiles, weights], {"out_dtype": "int32"})
    points = call.reshape(product, [4, 4, n, high, wide, o])
    return call.emit("nn.winograd_results", [points], {"size": [h, w]})


def _is_kept(call: NodeCall, weight: ir.Value) -> bool:
    """Whether what is computed from a weight is computed once: rounded ones are widened in each call."""
    if not call.is_weight(weight):
        return False
    waiting, dtype = [weight], call.type_of(weight).dtype
    while waiting:
        value = waiting.pop()
        if call.type_of(value).dtype != dtype:
            return False
        if (made := call.rewriter.definition(value)) is not None:
            waiting += made.args
    return True


_LAST = is_op("nn.conv2d")(wildcard(), wildcard()).has_attr({"data_layout": "NHWC", "kernel_layout": "OIHW"})
