"""Calls of programs in a graph, for its layers; and the graph in which nothing but the sums is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mlir import ir

from tir_mlir.accel.offload.forms import LayerForm, forms_of
from tir_mlir.accel.offload.layers import LayerEnd, LayerReader, layers_of
from tir_mlir.accel.offload.programs import Program
from tir_mlir.dialect.graph import TensorType, create
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.rewrite import NodeCall, Rewriter
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.script.module import copy_function


def call_program(rewriter: Rewriter, end: LayerEnd, form: LayerForm, program: Program, name: str) -> None:
    """Call the function of a program for a layer, up to an end."""
    at = end.value
    operands = form.operands(at)
    if end.biases:
        operands.append(_bias(at, end.biases, program.channels))
    made = TensorType(program.result_shape, at.struct_info.dtype)
    with ir.InsertionPoint(at.node.op):
        node = create.call_tir(rewriter.module, name, operands, [made], at.node.names[:1])
    value = rewriter.add(node)
    at.replace(value if made.shape == at.shape else at.reshape(value, at.shape))


def _bias(at: NodeCall, biases: Sequence[tuple[ir.Value, int]], channels: Sequence[int]) -> ir.Value:
    """The sum of biases, one number a channel."""
    total: ir.Value | None = None
    for value, sign in biases:
        vector = at.reshape(value, channels)
        vector = vector if sign > 0 else at.emit("negative", [vector])
        total = vector if total is None else at.emit("add", [total, vector])
    assert total is not None
    return total


def call_sums(graph: Graph, forms: Mapping[int, int]) -> Graph:
    """A graph whose layers are calls of programs up to their sums with biases; it rounds these itself.

    forms: of a layer, by its number in the graph, the number of its form.
    """
    result, names = graph.clone(), dict[Program, str]()
    with enter_context():
        rewriter = Rewriter(result)
        reader = LayerReader(result, rewriter)
        for number, layer in enumerate(list(layers_of(rewriter))):
            if number not in forms:
                continue
            form = forms_of(layer)[0][forms[number]]
            end = next(end for end in reader.ends(layer, form.axis) if end.rounding is None)
            program = replace(form.program, has_bias=bool(end.biases))
            if program not in names:
                names[program] = create.fresh_symbol(rewriter.module, program.title)
                copy_function(rewriter.module, program.func(names[program]), names[program])
            call_program(rewriter, end, form, program, names[program])
    return clean(result)
