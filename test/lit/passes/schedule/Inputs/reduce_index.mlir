// The reduce iter says where A is written: an init cannot start that.
func.func @main(%A: memref<8x4xf32> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 8 {
    affine.for %k = 0 to 4 {
      affine.parallel (%v, %vk) = (%i, %k) to (%i + 1, %k + 1) {
        affine.if affine_set<(d0) : (d0 == 0)>(%vk) {
          affine.store %zero, %A[%v, 0] : memref<8x4xf32>
        } {tir.init}
        affine.store %c, %A[%v, %vk] : memref<8x4xf32>
      } {tir.block = "B", tir.id = 3 : i64, tir.iters = ["S", "R"], tir.names = ["v", "vk"],
         tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (8, 4)>, tir.syms = []}
    } {tir.loop = "k", tir.id = 2 : i64}
  } {tir.loop = "i", tir.id = 1 : i64}
  return
}
