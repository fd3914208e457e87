"""The speed of a scheduled program on a CPU that need not be here, from its machine code and its schedule.

print(tir_mlir.explain_speed(sch, "zen4"))      # loops, their cycles, what limits them, what would help
prediction.predict(sch, "neoverse_v1").cycles   # of a call on one thread; threads=16: on as many cores
"""

from tir_mlir.prediction.cores import core_of as core_of
from tir_mlir.prediction.explain import SpeedReport as SpeedReport
from tir_mlir.prediction.explain import explain_speed as explain_speed
from tir_mlir.prediction.predict import Prediction as Prediction
from tir_mlir.prediction.predict import predict as predict
