// The chapter's program after tensorize, at 1024 x 1024 x 1024.
module {
  func.func private @tmm16(!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32) -> i32
  func.func @main(%A: memref<1024x1024xf32> {tir.name = "A"}, %B: memref<1024x1024xf32> {tir.name = "B"},
                  %C: memref<1024x1024xf32> {tir.name = "C"})
      attributes {tir.id = 0 : i64, tir.attrs = {global_symbol = "main", tir.noalias = true}} {
    %A_reg = memref.alloc() {tir.name = "A_global_A_reg"} : memref<1024x1024xf32, "global.A_reg">
    %B_reg = memref.alloc() {tir.name = "B_global_B_reg"} : memref<1024x1024xf32, "global.B_reg">
    %acc = memref.alloc() {tir.name = "C_global_accumulator"} : memref<1024x1024xf32, "global.accumulator">
    affine.for %i_0 = 0 to 64 {
      affine.for %j_0 = 0 to 64 {
        affine.parallel (%vi_o, %vj_o) = (%i_0, %j_0) to (%i_0 + 1, %j_0 + 1) {
          affine.for %i_1 = 0 to 16 {
            affine.for %j_1 = 0 to 16 {
              affine.parallel (%vi, %vj) = (%i_1, %j_1) to (%i_1 + 1, %j_1 + 1) {
                %zero = arith.constant 0.0 : f32
                affine.store %zero, %acc[%vi_o * 16 + %vi, %vj_o * 16 + %vj] : memref<1024x1024xf32, "global.accumulator">
              } {tir.block = "matmul_init", tir.id = 5 : i64, tir.iters = ["S", "S"], tir.names = ["vi_i_init", "vj_i_init"],
                 tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (16, 16)>, tir.syms = []}
            } {tir.loop = "j_1", tir.id = 6 : i64}
          } {tir.loop = "i_1", tir.id = 7 : i64}
        } {tir.block = "matmul_o_init", tir.id = 8 : i64, tir.iters = ["S", "S"], tir.names = ["vi_o", "vj_o"],
           tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (64, 64)>, tir.syms = []}
        affine.for %k_0 = 0 to 64 {
          affine.for %ax0 = 0 to 16 {
            affine.for %ax1 = 0 to 16 {
              affine.parallel (%v0, %v1) = (%i_0 * 16 + %ax0, %k_0 * 16 + %ax1) to (%i_0 * 16 + %ax0 + 1, %k_0 * 16 + %ax1 + 1) {
                %x = affine.load %A[%v0, %v1] : memref<1024x1024xf32>
                affine.store %x, %A_reg[%v0, %v1] : memref<1024x1024xf32, "global.A_reg">
              } {tir.block = "A_global.A_reg", tir.id = 9 : i64, tir.iters = ["S", "S"], tir.names = ["v0", "v1"],
                 tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (1024, 1024)>, tir.syms = []}
            } {tir.loop = "ax1", tir.id = 10 : i64}
          } {tir.loop = "ax0", tir.id = 11 : i64}
          affine.for %ax0 = 0 to 16 {
            affine.for %ax1 = 0 to 16 {
              affine.parallel (%v0, %v1) = (%j_0 * 16 + %ax0, %k_0 * 16 + %ax1) to (%j_0 * 16 + %ax0 + 1, %k_0 * 16 + %ax1 + 1) {
                %x = affine.load %B[%v0, %v1] : memref<1024x1024xf32>
                affine.store %x, %B_reg[%v0, %v1] : memref<1024x1024xf32, "global.B_reg">
              } {tir.block = "B_global.B_reg", tir.id = 12 : i64, tir.iters = ["S", "S"], tir.names = ["v0", "v1"],
                 tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (1024, 1024)>, tir.syms = []}
            } {tir.loop = "ax1", tir.id = 13 : i64}
          } {tir.loop = "ax0", tir.id = 14 : i64}
          affine.parallel (%vi_o, %vj_o, %vk_o) = (%i_0, %j_0, %k_0) to (%i_0 + 1, %j_0 + 1, %k_0 + 1) {
            %i16 = affine.apply affine_map<(d0) -> (d0 * 16)>(%vi_o)
            %j16 = affine.apply affine_map<(d0) -> (d0 * 16)>(%vj_o)
            %k16 = affine.apply affine_map<(d0) -> (d0 * 16)>(%vk_o)
            %c = memref.subview %acc[%i16, %j16] [16, 16] [1, 1] {tir.name = "C", tir.strides = ["sc", ""]}
              : memref<1024x1024xf32, "global.accumulator"> to memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.accumulator">
            %a = memref.subview %A_reg[%i16, %k16] [16, 16] [1, 1] {tir.name = "A", tir.strides = ["sa", ""]}
              : memref<1024x1024xf32, "global.A_reg"> to memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.A_reg">
            %b = memref.subview %B_reg[%j16, %k16] [16, 16] [1, 1] {tir.name = "B", tir.strides = ["sb", ""]}
              : memref<1024x1024xf32, "global.B_reg"> to memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.B_reg">
            %four = arith.constant 4 : index
            %c_base, %c_off, %c_size:2, %c_st:2 = memref.extract_strided_metadata %c
              : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.accumulator">
              -> memref<f32, "global.accumulator">, index, index, index, index, index
            %c_p = memref.extract_aligned_pointer_as_index %c
              : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.accumulator"> -> index
            %c_bytes = arith.muli %c_off, %four : index
            %c_at = arith.addi %c_p, %c_bytes : index
            %c_int = arith.index_cast %c_at : index to i64
            %c_ptr = llvm.inttoptr %c_int {tir.access = "w"} : i64 to !llvm.ptr
            %a_base, %a_off, %a_size:2, %a_st:2 = memref.extract_strided_metadata %a
              : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.A_reg">
              -> memref<f32, "global.A_reg">, index, index, index, index, index
            %a_p = memref.extract_aligned_pointer_as_index %a
              : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.A_reg"> -> index
            %a_bytes = arith.muli %a_off, %four : index
            %a_at = arith.addi %a_p, %a_bytes : index
            %a_int = arith.index_cast %a_at : index to i64
            %a_ptr = llvm.inttoptr %a_int {tir.access = "r"} : i64 to !llvm.ptr
            %b_base, %b_off, %b_size:2, %b_st:2 = memref.extract_strided_metadata %b
              : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.B_reg">
              -> memref<f32, "global.B_reg">, index, index, index, index, index
            %b_p = memref.extract_aligned_pointer_as_index %b
              : memref<16x16xf32, strided<[1024, 1], offset: ?>, "global.B_reg"> -> index
            %b_bytes = arith.muli %b_off, %four : index
            %b_at = arith.addi %b_p, %b_bytes : index
            %b_int = arith.index_cast %b_at : index to i64
            %b_ptr = llvm.inttoptr %b_int {tir.access = "r"} : i64 to !llvm.ptr
            %sa = arith.index_cast %a_st#0 : index to i32
            %sb = arith.index_cast %b_st#0 : index to i32
            %sc = arith.index_cast %c_st#0 : index to i32
            %r = func.call @tmm16(%c_ptr, %a_ptr, %b_ptr, %sa, %sb, %sc) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32) -> i32
          } {tir.block = "matmul_o_update", tir.id = 15 : i64, tir.iters = ["S", "S", "R"], tir.names = ["vi_o", "vj_o", "vk_o"],
             tir.min = affine_map<() -> (0, 0, 0)>, tir.extent = affine_map<() -> (64, 64, 64)>, tir.syms = [],
             tir.reads = [
               {buffer = "C_global_accumulator", min = affine_map<(d0, d1, d2) -> (d0 * 16, d1 * 16)>, extent = affine_map<(d0, d1, d2) -> (16, 16)>},
               {buffer = "A_global_A_reg", min = affine_map<(d0, d1, d2) -> (d0 * 16, d2 * 16)>, extent = affine_map<(d0, d1, d2) -> (16, 16)>},
               {buffer = "B_global_B_reg", min = affine_map<(d0, d1, d2) -> (d1 * 16, d2 * 16)>, extent = affine_map<(d0, d1, d2) -> (16, 16)>}],
             tir.writes = [
               {buffer = "C_global_accumulator", min = affine_map<(d0, d1, d2) -> (d0 * 16, d1 * 16)>, extent = affine_map<(d0, d1, d2) -> (16, 16)>}]}
        } {tir.loop = "k_0", tir.id = 16 : i64}
        affine.for %ax0 = 0 to 16 {
          affine.for %ax1 = 0 to 16 {
            affine.parallel (%v0, %v1) = (%i_0 * 16 + %ax0, %j_0 * 16 + %ax1) to (%i_0 * 16 + %ax0 + 1, %j_0 * 16 + %ax1 + 1) {
              %x = affine.load %acc[%v0, %v1] : memref<1024x1024xf32, "global.accumulator">
              affine.store %x, %C[%v0, %v1] : memref<1024x1024xf32>
            } {tir.block = "C_global.accumulator", tir.id = 17 : i64, tir.iters = ["S", "S"], tir.names = ["v0", "v1"],
               tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (1024, 1024)>, tir.syms = []}
          } {tir.loop = "ax1", tir.id = 18 : i64}
        } {tir.loop = "ax0", tir.id = 19 : i64}
      } {tir.loop = "j_0", tir.id = 20 : i64}
    } {tir.loop = "i_0", tir.id = 21 : i64}
    return
  }
}
