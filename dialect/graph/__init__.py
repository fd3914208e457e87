"""Graphs of operators in MLIR: the encoding of functions on tensors, typed views of them, and their creation."""

from tir_mlir.dialect.graph import create as create
from tir_mlir.dialect.graph import encoding as encoding
from tir_mlir.dialect.graph.control import LoopFacts as LoopFacts
from tir_mlir.dialect.graph.control import control as control
from tir_mlir.dialect.graph.control import passed_inputs as passed_inputs
from tir_mlir.dialect.graph.create import copy_op as copy_op
from tir_mlir.dialect.graph.create import replace_node as replace_node
from tir_mlir.dialect.graph.encoding import TensorType as TensorType
from tir_mlir.dialect.graph.encoding import free_name as free_name
from tir_mlir.dialect.graph.views import Node as Node
from tir_mlir.dialect.graph.views import TensorFunc as TensorFunc
from tir_mlir.dialect.graph.views import graph_bodies as graph_bodies
from tir_mlir.dialect.graph.views import graphs as graphs
from tir_mlir.dialect.graph.views import is_tensor_func as is_tensor_func
from tir_mlir.dialect.graph.views import node_of as node_of
from tir_mlir.dialect.graph.views import tensor_func as tensor_func
from tir_mlir.dialect.graph.views import tensor_funcs as tensor_funcs
