// The last state of the course's chapter: caches in special scopes, decomposed reduction, tensorized update.
module {
  func.func private @tmm16(!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32) -> i32
  func.func @main(%A: memref<1024x1024xf32> {tir.name = "A"}, %B: memref<1024x1024xf32> {tir.name = "B"}, %C: memref<1024x1024xf32> {tir.name = "C"})
      attributes {tir.id = 0 : i64, tir.attrs = {global_symbol = "main", tir.noalias = true}} {
    %zero = arith.constant 0.0 : f32
    %A_reg = memref.alloc() {tir.name = "A_global.A_reg", alignment = 64 : i64} : memref<1024x1024xf32, "global.A_reg">
    %B_reg = memref.alloc() {tir.name = "B_global.B_reg", alignment = 64 : i64} : memref<1024x1024xf32, "global.B_reg">
    %C_acc = memref.alloc() {tir.name = "C_global.accumulator", alignment = 64 : i64} : memref<1024x1024xf32, "global.accumulator">
    affine.for %i_0 = 0 to 64 {
      affine.for %j_0 = 0 to 64 {
      affine.parallel (%vi_o, %vj_o) = (%i_0, %j_0) to (%i_0 + 1, %j_0 + 1) {
        affine.for %i_1 = 0 to 16 {
          affine.for %j_1 = 0 to 16 {
            affine.parallel (%vi_i_init, %vj_i_init) = (%i_1, %j_1) to (%i_1 + 1, %j_1 + 1) {
              affine.store %zero, %C_acc[%vi_o * 16 + %vi_i_init, %vj_o * 16 + %vj_i_init] : memref<1024x1024xf32, "global.accumulator">
            } {tir.block = "matmul_init", tir.id = 20 : i64, tir.iters = ["S", "S"], tir.names = ["vi_i_init", "vj_i_init"],
               tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (16, 16)>, tir.syms = []}
          } {tir.loop = "j_1", tir.id = 22 : i64}
        } {tir.loop = "i_1", tir.id = 21 : i64}
      } {tir.block = "matmul_o_init", tir.id = 23 : i64, tir.iters = ["S", "S"], tir.names = ["vi_o", "vj_o"],
         tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (64, 64)>, tir.syms = []}
        affine.for %k_0 = 0 to 64 {
          affine.for %ax0 = 0 to 16 {
            affine.for %ax1 = 0 to 16 {
              affine.parallel (%v0, %v1) = (%i_0 * 16 + %ax0, %k_0 * 16 + %ax1) to (%i_0 * 16 + %ax0 + 1, %k_0 * 16 + %ax1 + 1) {
                %x = affine.load %A[%v0, %v1] : memref<1024x1024xf32>
                affine.store %x, %A_reg[%v0, %v1] : memref<1024x1024xf32, "global.A_reg">
              } {tir.block = "A_global.A_reg", tir.id = 43 : i64, tir.iters = ["S", "S"], tir.names = ["v0", "v1"],
                 tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (1024, 1024)>, tir.syms = []}
            } {tir.loop = "ax1", tir.id = 42 : i64}
          } {tir.loop = "ax0", tir.id = 41 : i64}
          affine.for %ax0 = 0 to 16 {
            affine.for %ax1 = 0 to 16 {
              affine.parallel (%v0, %v1) = (%j_0 * 16 + %ax0, %k_0 * 16 + %ax1) to (%j_0 * 16 + %ax0 + 1, %k_0 * 16 + %ax1 + 1) {
                %x = affine.load %B[%v0, %v1] : memref<1024x1024xf32>
                affine.store %x, %B_reg[%v0, %v1] : memref<1024x1024xf32, "global.B_reg">
              } {tir.block = "B_global.B_reg", tir.id = 47 : i64, tir.iters = ["S", "S"], tir.names = ["v0", "v1"],
                 tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (1024, 1024)>, tir.syms = []}
            } {tir.loop = "ax1", tir.id = 46 : i64}
          } {tir.loop = "ax0", tir.id = 45 : i64}
          affine.parallel (%vi_o2, %vj_o2, %vk_o2) = (%i_0, %j_0, %k_0) to (%i_0 + 1, %j_0 + 1, %k_0 + 1) {
            %A_r = affine.apply affine_map<(d0) -> (d0 * 16)>(%vi_o2)
            %A_c = affine.apply affine_map<(d0) -> (d0 * 16)>(%vk_o2)
            %A_1 = memref.subview %A_reg[%A_r, %A_c] [16, 16] [1, 1] {tir.name = "A", tir.offset_factor = 16 : i64, tir.strides = ["A_s0", ""]} : memref<1024x1024xf32, "global.A_reg"> to memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.A_reg">
            %B_r = affine.apply affine_map<(d0) -> (d0 * 16)>(%vj_o2)
            %B_c = affine.apply affine_map<(d0) -> (d0 * 16)>(%vk_o2)
            %B_1 = memref.subview %B_reg[%B_r, %B_c] [16, 16] [1, 1] {tir.name = "B", tir.offset_factor = 16 : i64, tir.strides = ["B_s0", ""]} : memref<1024x1024xf32, "global.B_reg"> to memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.B_reg">
            %C_r = affine.apply affine_map<(d0) -> (d0 * 16)>(%vi_o2)
            %C_c = affine.apply affine_map<(d0) -> (d0 * 16)>(%vj_o2)
            %C_1 = memref.subview %C_acc[%C_r, %C_c] [16, 16] [1, 1] {tir.name = "C", tir.offset_factor = 16 : i64, tir.strides = ["C_s0", ""]} : memref<1024x1024xf32, "global.accumulator"> to memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.accumulator">
            %c4 = arith.constant 4 : index
            %C_b, %C_o, %C_n:2, %C_s:2 = memref.extract_strided_metadata %C_1 : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.accumulator"> -> memref<f32, "global.accumulator">, index, index, index, index, index
            %C_a = memref.extract_aligned_pointer_as_index %C_1 : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.accumulator"> -> index
            %C_m = arith.muli %C_o, %c4 : index
            %C_d = arith.addi %C_a, %C_m : index
            %C_i = arith.index_cast %C_d : index to i64
            %C_p = llvm.inttoptr %C_i {tir.access = "w"} : i64 to !llvm.ptr
            %C_k = arith.index_cast %C_s#0 : index to i32
            %A_b, %A_o, %A_n:2, %A_s:2 = memref.extract_strided_metadata %A_1 : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.A_reg"> -> memref<f32, "global.A_reg">, index, index, index, index, index
            %A_a = memref.extract_aligned_pointer_as_index %A_1 : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.A_reg"> -> index
            %A_m = arith.muli %A_o, %c4 : index
            %A_d = arith.addi %A_a, %A_m : index
            %A_i = arith.index_cast %A_d : index to i64
            %A_p = llvm.inttoptr %A_i {tir.access = "r"} : i64 to !llvm.ptr
            %A_k = arith.index_cast %A_s#0 : index to i32
            %B_b, %B_o, %B_n:2, %B_s:2 = memref.extract_strided_metadata %B_1 : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.B_reg"> -> memref<f32, "global.B_reg">, index, index, index, index, index
            %B_a = memref.extract_aligned_pointer_as_index %B_1 : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.B_reg"> -> index
            %B_m = arith.muli %B_o, %c4 : index
            %B_d = arith.addi %B_a, %B_m : index
            %B_i = arith.index_cast %B_d : index to i64
            %B_p = llvm.inttoptr %B_i {tir.access = "r"} : i64 to !llvm.ptr
            %B_k = arith.index_cast %B_s#0 : index to i32
            %r = func.call @tmm16(%C_p, %A_p, %B_p, %A_k, %B_k, %C_k) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32) -> i32
          } {tir.block = "matmul_o_update", tir.id = 30 : i64, tir.iters = ["S", "S", "R"], tir.names = ["vi_o", "vj_o", "vk_o"],
             tir.min = affine_map<() -> (0, 0, 0)>, tir.extent = affine_map<() -> (64, 64, 64)>, tir.syms = []}
        } {tir.loop = "k_0", tir.id = 40 : i64}
        affine.for %ax0 = 0 to 16 {
          affine.for %ax1 = 0 to 16 {
            affine.parallel (%v0, %v1) = (%i_0 * 16 + %ax0, %j_0 * 16 + %ax1) to (%i_0 * 16 + %ax0 + 1, %j_0 * 16 + %ax1 + 1) {
              %x = affine.load %C_acc[%v0, %v1] : memref<1024x1024xf32, "global.accumulator">
              affine.store %x, %C[%v0, %v1] : memref<1024x1024xf32>
            } {tir.block = "C_global.accumulator", tir.id = 52 : i64, tir.iters = ["S", "S"], tir.names = ["v0", "v1"],
               tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (1024, 1024)>, tir.syms = []}
          } {tir.loop = "ax1", tir.id = 51 : i64}
        } {tir.loop = "ax0", tir.id = 50 : i64}
      } {tir.loop = "j_0", tir.id = 61 : i64}
    } {tir.loop = "i_0", tir.id = 60 : i64}
    return
  }
}
