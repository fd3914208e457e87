import numpy as np
from golden.programs import matmul

from tir_mlir import build

lib = build(matmul)
a, b, c = np.zeros((3, 64, 32), "float32")
lib(a, b, c)
