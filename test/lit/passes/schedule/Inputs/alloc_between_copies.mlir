func.func @main(%A: memref<8xf32> {tir.name = "A"}, %D: memref<8xf32> {tir.name = "D"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  %Y = memref.alloc() {tir.name = "Y"} : memref<8xf32>
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %Y[%v] : memref<8xf32>
    } {tir.block = "Y", tir.id = 2 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 1 : i64}
  %B = memref.alloc() {tir.name = "B"} : memref<8xf32>
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %y = affine.load %Y[%v] : memref<8xf32>
      affine.store %y, %B[%v] : memref<8xf32>
    } {tir.block = "B", tir.id = 4 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 3 : i64}
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %y = affine.load %B[%v] : memref<8xf32>
      affine.store %y, %D[%v] : memref<8xf32>
    } {tir.block = "D", tir.id = 6 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 5 : i64}
  return
}
