// B is allocated behind the block that reads A: what computes it cannot move ahead.
func.func @main(%A: memref<8x4xf32> {tir.name = "A"}, %D: memref<8xf32> {tir.name = "D"}) attributes {tir.id = 0 : i64} {
  %zero = arith.constant 0.0 : f32
  %Y = memref.alloc() {tir.name = "Y"} : memref<8xf32>
  affine.for %i = 0 to 8 {
    affine.for %k = 0 to 4 {
      affine.parallel (%v, %vk) = (%i, %k) to (%i + 1, %k + 1) {
        affine.if affine_set<(d0) : (d0 == 0)>(%vk) {
          affine.store %zero, %Y[%v] : memref<8xf32>
        } {tir.init}
        %y = affine.load %Y[%v] : memref<8xf32>
        %a = affine.load %A[%v, %vk] : memref<8x4xf32>
        %s = arith.addf %y, %a : f32
        affine.store %s, %Y[%v] : memref<8xf32>
      } {tir.block = "Y", tir.id = 3 : i64, tir.iters = ["S", "R"], tir.names = ["v", "vk"],
         tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (8, 4)>, tir.syms = []}
    } {tir.loop = "k", tir.id = 2 : i64}
  } {tir.loop = "i", tir.id = 1 : i64}
  %B = memref.alloc() {tir.name = "B"} : memref<8xf32>
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %y = affine.load %Y[%v] : memref<8xf32>
      affine.store %y, %B[%v] : memref<8xf32>
    } {tir.block = "B", tir.id = 5 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 4 : i64}
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %y = affine.load %B[%v] : memref<8xf32>
      affine.store %y, %D[%v] : memref<8xf32>
    } {tir.block = "D", tir.id = 7 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 6 : i64}
  return
}
