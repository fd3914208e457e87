# Graphs are read as scripts, printed, and read back; large constants follow the program.
# RUN: tir-opt %s --emit=script -o %t.py
# RUN: FileCheck %s < %t.py
# RUN: tir-opt %t.py --emit=script | diff %t.py -
# RUN: tir-opt %s | tir-opt - --emit=script | diff %t.py -
# RUN: tir-opt - --emit=script < %t.py | diff %t.py -
# RUN: tir-opt %s --tir-graph-legalize | tir-opt --tir-verify | FileCheck %s --check-prefix=MLIR

# CHECK:       @R.function
# CHECK-NEXT:  def main(x: R.Tensor(("n", 2048), dtype="float32")) -> R.Tensor(("n", 2048), dtype="float32"):
# CHECK:         gv: R.Tensor((n, 2048), dtype="float32") = R.multiply(x, metadata["relax.expr.Constant"][0])
# CHECK:       metadata = {"relax.expr.Constant": [

# MLIR: call @multiply{{.*}}(%arg0, %{{.*}}) {graph.names = ["gv"]
import base64  # noqa: F401  not executed

from tir_mlir.graph import script as R

print("what is not a program is not executed")


@R.function
def main(x: R.Tensor(("n", 2048), "float32")):
    with R.dataflow():
        gv = R.multiply(x, metadata["relax.expr.Constant"][0])  # noqa: F821
        R.output(gv)
    return gv

metadata = {"relax.expr.Constant": [R.const_of_bytes("AAAA" * 2730 + "AAA=", (2048,), "float32")]}
