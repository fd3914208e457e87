// The callee fixes the memory of what it takes.
func.func private @sink(memref<8xf32>)
func.func @main(%A: memref<8xf32> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  %c = arith.constant 1.0 : f32
  %Y = memref.alloc() {tir.name = "Y"} : memref<8xf32>
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %Y[%v] : memref<8xf32>
    } {tir.block = "Y", tir.id = 2 : i64, tir.iters = ["S"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 1 : i64}
  affine.for %i = 0 to 1 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      func.call @sink(%Y) : (memref<8xf32>) -> ()
    } {tir.block = "B", tir.id = 4 : i64, tir.iters = ["O"], tir.names = ["v"],
       tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (1)>, tir.syms = []}
  } {tir.loop = "i", tir.id = 3 : i64}
  return
}
