# RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-graph-inline-calls --emit=script | FileCheck %s
# RUN: not tir-opt %s --split-input-file -p 'tir-graph-inline-calls{graph=nothing}' 2>&1 | FileCheck %s --check-prefix=NONE

# NONE: the module has no graph nothing

# What a graph does stands instead of its call; what the caller calls the result is its name.
# CHECK-LABEL: def main(
# CHECK:         y{{.*}} = R.exp(x)
# CHECK-NEXT:    a_tuple{{.*}} = R.split(y, axis=1, indices_or_sections=2)
# CHECK-NEXT:    a{{.*}} = a_tuple[0]
# CHECK-NEXT:    b{{.*}} = a_tuple[1]
# CHECK-NEXT:    gv{{.*}} = R.add(a, b)
from tir_mlir.script import ir as I
from tir_mlir.graph import script as R


@I.ir_module
class Module:
    @R.function
    def halves(x: R.Tensor(("n", 6), "float32")):
        with R.dataflow():
            y = R.exp(x)
            z = R.split(y, 2, axis=1)
            R.output(z)
        return z

    @R.function
    def main(x: R.Tensor(("k", 6), "float32")) -> R.Tensor(("k", 3), "float32"):
        with R.dataflow():
            z = cls.halves(x)
            a = z[0]
            b = z[1]
            gv = R.add(a, b)
            R.output(gv)
        return gv


# -----


# A private function is a group, to be one program; one that returns an input cannot be.
# CHECK-LABEL: def main(
# CHECK:         a{{.*}} = cls.inner(x)
# CHECK-NEXT:    b_1{{.*}} = R.exp(a)
# CHECK-NEXT:    gv{{.*}} = R.add(a, b_1)
from tir_mlir.script import ir as I
from tir_mlir.graph import script as R


@I.ir_module
class Module:
    @R.function(private=True)
    def inner(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.nn.relu(x)
            R.output(y)
        return y

    @R.function(private=True)
    def both(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return x, y

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = cls.inner(x)
            b = cls.both(a)
            gv = R.add(b[0], b[1])
            R.output(gv)
        return gv
