"""Machines that ship: each is described from a public manual, and ready for `build(sch, target=machine)`."""

from tir_mlir.accel.machines.amx import amx as amx
from tir_mlir.accel.machines.c_model import c_model as c_model
from tir_mlir.accel.machines.gemmini import gemmini as gemmini
from tir_mlir.accel.machines.npu import npu as npu
from tir_mlir.accel.machines.sme import sme as sme
from tir_mlir.accel.machines.tmm16 import tmm16 as tmm16
from tir_mlir.accel.machines.vta import vta as vta
