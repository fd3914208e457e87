
%struct.tir_llm_state = type { ptr, i64, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
%struct.tir_layer = type { ptr, ptr, ptr, ptr, i64, ptr }

@blocks = internal unnamed_addr constant [15 x [2 x i16]] [[2 x i16] zeroinitializer, [2 x i16] zeroinitializer, [2 x i16] zeroinitializer, [2 x i16] [i16 32, i16 18], [2 x i16] [i16 32, i16 20], [2 x i16] [i16 32, i16 22], [2 x i16] [i16 32, i16 24], [2 x i16] [i16 32, i16 34], [2 x i16] [i16 32, i16 18], [2 x i16] [i16 256, i16 84], [2 x i16] [i16 256, i16 110], [2 x i16] [i16 256, i16 144], [2 x i16] [i16 256, i16 176], [2 x i16] [i16 256, i16 210], [2 x i16] [i16 256, i16 136]], align 16
@values = internal unnamed_addr constant [16 x i8] c"\81\98\AD\BF\CF\DD\EA\F6\01\0D\19&5EYq", align 16

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define i64 @tir_llm_bytes(ptr noundef %0) local_unnamed_addr #0 {
  %2 = alloca %struct.tir_llm_state, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %2) #7
  %3 = call fastcc i64 @divided(ptr noundef %0, ptr noundef null, ptr noundef nonnull %2) #8
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #7
  ret i64 %3
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define internal fastcc i64 @divided(ptr noundef %0, ptr noundef %1, ptr noundef captures(none) %2) unnamed_addr #0 {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i64, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %7 = load i64, ptr %6, align 8
  %8 = tail call noundef i64 @llvm.smax.i64(i64 %5, i64 %7)
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %10 = load i64, ptr %9, align 8
  %11 = icmp sgt i64 %10, 0
  br i1 %11, label %12, label %19

12:                                               ; preds = %3
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %14 = load ptr, ptr %13, align 8
  br label %163

15:                                               ; preds = %163
  %16 = shl nsw i64 %169, 3
  %17 = add nsw i64 %16, 63
  %18 = sdiv i64 %17, 64
  br label %19

19:                                               ; preds = %15, %3
  %20 = phi i64 [ 0, %3 ], [ %18, %15 ]
  %21 = icmp eq ptr %1, null
  store ptr %0, ptr %2, align 8
  %22 = getelementptr inbounds nuw i8, ptr %2, i64 8
  store i64 0, ptr %22, align 8
  %23 = load i64, ptr %4, align 8
  %24 = shl nsw i64 %23, 3
  %25 = getelementptr inbounds nuw i8, ptr %1, i64 128
  %26 = select i1 %21, ptr null, ptr %25
  %27 = add nsw i64 %24, 63
  %28 = sdiv i64 %27, 64
  %29 = shl nsw i64 %28, 6
  %30 = getelementptr inbounds nuw i8, ptr %2, i64 16
  store ptr %26, ptr %30, align 8
  %31 = shl nsw i64 %8, 3
  %32 = getelementptr i8, ptr %1, i64 %29
  %33 = getelementptr i8, ptr %32, i64 128
  %34 = select i1 %21, ptr null, ptr %33
  %35 = add nsw i64 %31, 63
  %36 = sdiv i64 %35, 64
  %37 = add nsw i64 %28, %36
  %38 = shl i64 %37, 6
  %39 = getelementptr inbounds nuw i8, ptr %2, i64 24
  store ptr %34, ptr %39, align 8
  %40 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %41 = load i64, ptr %40, align 8
  %42 = shl i64 %8, 2
  %43 = mul i64 %42, %41
  %44 = getelementptr i8, ptr %1, i64 %38
  %45 = getelementptr i8, ptr %44, i64 128
  %46 = select i1 %21, ptr null, ptr %45
  %47 = add nsw i64 %43, 63
  %48 = sdiv i64 %47, 64
  %49 = add nsw i64 %48, %37
  %50 = shl i64 %49, 6
  %51 = getelementptr inbounds nuw i8, ptr %2, i64 40
  store ptr %46, ptr %51, align 8
  %52 = load i64, ptr %40, align 8
  %53 = mul i64 %42, %52
  %54 = getelementptr i8, ptr %1, i64 %50
  %55 = getelementptr i8, ptr %54, i64 128
  %56 = select i1 %21, ptr null, ptr %55
  %57 = add nsw i64 %53, 63
  %58 = sdiv i64 %57, 64
  %59 = add nsw i64 %58, %49
  %60 = shl i64 %59, 6
  %61 = getelementptr inbounds nuw i8, ptr %2, i64 48
  store ptr %56, ptr %61, align 8
  %62 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %63 = load i64, ptr %62, align 8
  %64 = mul i64 %42, %63
  %65 = getelementptr i8, ptr %1, i64 %60
  %66 = getelementptr i8, ptr %65, i64 128
  %67 = select i1 %21, ptr null, ptr %66
  %68 = add nsw i64 %64, 63
  %69 = sdiv i64 %68, 64
  %70 = add nsw i64 %69, %59
  %71 = shl i64 %70, 6
  %72 = getelementptr inbounds nuw i8, ptr %2, i64 56
  store ptr %67, ptr %72, align 8
  %73 = load i64, ptr %62, align 8
  %74 = mul i64 %42, %73
  %75 = getelementptr i8, ptr %1, i64 %71
  %76 = getelementptr i8, ptr %75, i64 128
  %77 = select i1 %21, ptr null, ptr %76
  %78 = add nsw i64 %74, 63
  %79 = sdiv i64 %78, 64
  %80 = add nsw i64 %79, %70
  %81 = shl i64 %80, 6
  %82 = getelementptr inbounds nuw i8, ptr %2, i64 64
  store ptr %77, ptr %82, align 8
  %83 = load i64, ptr %4, align 8
  %84 = load i64, ptr %40, align 8
  %85 = shl i64 %83, 2
  %86 = mul i64 %85, %84
  %87 = getelementptr i8, ptr %1, i64 %81
  %88 = getelementptr i8, ptr %87, i64 128
  %89 = select i1 %21, ptr null, ptr %88
  %90 = add nsw i64 %86, 63
  %91 = sdiv i64 %90, 64
  %92 = add nsw i64 %91, %80
  %93 = shl i64 %92, 6
  %94 = getelementptr inbounds nuw i8, ptr %2, i64 72
  store ptr %89, ptr %94, align 8
  %95 = load i64, ptr %4, align 8
  %96 = load i64, ptr %0, align 8
  %97 = shl i64 %95, 2
  %98 = mul i64 %97, %96
  %99 = getelementptr i8, ptr %1, i64 %93
  %100 = getelementptr i8, ptr %99, i64 128
  %101 = select i1 %21, ptr null, ptr %100
  %102 = add nsw i64 %98, 63
  %103 = sdiv i64 %102, 64
  %104 = add nsw i64 %103, %92
  %105 = shl i64 %104, 6
  %106 = getelementptr inbounds nuw i8, ptr %2, i64 80
  store ptr %101, ptr %106, align 8
  %107 = load i64, ptr %4, align 8
  %108 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %109 = load i64, ptr %108, align 8
  %110 = shl i64 %107, 2
  %111 = mul i64 %110, %109
  %112 = getelementptr i8, ptr %1, i64 %105
  %113 = getelementptr i8, ptr %112, i64 128
  %114 = select i1 %21, ptr null, ptr %113
  %115 = add nsw i64 %111, 63
  %116 = sdiv i64 %115, 64
  %117 = add nsw i64 %116, %104
  %118 = shl i64 %117, 6
  %119 = getelementptr inbounds nuw i8, ptr %2, i64 88
  store ptr %114, ptr %119, align 8
  %120 = load i64, ptr %0, align 8
  %121 = shl nsw i64 %120, 3
  %122 = getelementptr i8, ptr %1, i64 %118
  %123 = getelementptr i8, ptr %122, i64 128
  %124 = select i1 %21, ptr null, ptr %123
  %125 = add nsw i64 %121, 63
  %126 = sdiv i64 %125, 64
  %127 = add nsw i64 %126, %117
  %128 = shl i64 %127, 6
  %129 = getelementptr inbounds nuw i8, ptr %2, i64 32
  store ptr %124, ptr %129, align 8
  %130 = load i64, ptr %0, align 8
  %131 = shl nsw i64 %130, 3
  %132 = getelementptr i8, ptr %1, i64 %128
  %133 = getelementptr i8, ptr %132, i64 128
  %134 = select i1 %21, ptr null, ptr %133
  %135 = add nsw i64 %131, 63
  %136 = sdiv i64 %135, 64
  %137 = add nsw i64 %136, %127
  %138 = shl i64 %137, 6
  %139 = getelementptr inbounds nuw i8, ptr %2, i64 96
  store ptr %134, ptr %139, align 8
  %140 = getelementptr i8, ptr %1, i64 %138
  %141 = getelementptr i8, ptr %140, i64 128
  %142 = select i1 %21, ptr null, ptr %141
  %143 = add nsw i64 %137, %20
  %144 = shl i64 %143, 6
  %145 = getelementptr inbounds nuw i8, ptr %2, i64 112
  store ptr %142, ptr %145, align 8
  %146 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %147 = load i64, ptr %146, align 8
  %148 = getelementptr i8, ptr %1, i64 %144
  %149 = getelementptr i8, ptr %148, i64 128
  %150 = select i1 %21, ptr null, ptr %149
  %151 = add nsw i64 %147, 63
  %152 = sdiv i64 %151, 64
  %153 = add nsw i64 %143, %152
  %154 = shl i64 %153, 6
  %155 = add i64 %154, 128
  %156 = getelementptr inbounds nuw i8, ptr %2, i64 104
  store ptr %150, ptr %156, align 8
  %157 = load i64, ptr %9, align 8
  %158 = icmp sgt i64 %157, 0
  br i1 %158, label %159, label %183

159:                                              ; preds = %19
  %160 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %161 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %162 = load ptr, ptr %160, align 8
  br label %172

163:                                              ; preds = %12, %163
  %164 = phi i64 [ 0, %12 ], [ %169, %163 ]
  %165 = phi i64 [ 0, %12 ], [ %170, %163 ]
  %166 = getelementptr inbounds nuw %struct.tir_layer, ptr %14, i64 %165
  %167 = getelementptr inbounds nuw i8, ptr %166, i64 32
  %168 = load i64, ptr %167, align 8
  %169 = add nsw i64 %168, %164
  %170 = add nuw nsw i64 %165, 1
  %171 = icmp eq i64 %170, %10
  br i1 %171, label %15, label %163, !llvm.loop !5

172:                                              ; preds = %159, %187
  %173 = phi i64 [ %157, %159 ], [ %188, %187 ]
  %174 = phi ptr [ %162, %159 ], [ %189, %187 ]
  %175 = phi ptr [ %162, %159 ], [ %190, %187 ]
  %176 = phi i64 [ 0, %159 ], [ %192, %187 ]
  %177 = phi i64 [ 0, %159 ], [ %193, %187 ]
  %178 = phi i64 [ %155, %159 ], [ %191, %187 ]
  %179 = getelementptr inbounds nuw %struct.tir_layer, ptr %175, i64 %177
  %180 = getelementptr inbounds nuw i8, ptr %179, i64 32
  %181 = load i64, ptr %180, align 8
  %182 = icmp sgt i64 %181, 0
  br i1 %182, label %195, label %187

183:                                              ; preds = %187, %19
  %184 = phi i64 [ %155, %19 ], [ %191, %187 ]
  ret i64 %184

185:                                              ; preds = %229
  %186 = load i64, ptr %9, align 8
  br label %187

187:                                              ; preds = %185, %172
  %188 = phi i64 [ %173, %172 ], [ %186, %185 ]
  %189 = phi ptr [ %174, %172 ], [ %230, %185 ]
  %190 = phi ptr [ %175, %172 ], [ %230, %185 ]
  %191 = phi i64 [ %178, %172 ], [ %222, %185 ]
  %192 = phi i64 [ %176, %172 ], [ %231, %185 ]
  %193 = add nuw nsw i64 %177, 1
  %194 = icmp slt i64 %193, %188
  br i1 %194, label %172, label %183, !llvm.loop !8

195:                                              ; preds = %172, %229
  %196 = phi ptr [ %230, %229 ], [ %174, %172 ]
  %197 = phi ptr [ %230, %229 ], [ %175, %172 ]
  %198 = phi i64 [ %231, %229 ], [ %176, %172 ]
  %199 = phi i64 [ %232, %229 ], [ 0, %172 ]
  %200 = phi i64 [ %222, %229 ], [ %178, %172 ]
  %201 = getelementptr inbounds nuw %struct.tir_layer, ptr %197, i64 %177
  %202 = getelementptr inbounds nuw i8, ptr %201, i64 40
  %203 = load ptr, ptr %202, align 8
  %204 = shl nsw i64 %199, 4
  %205 = getelementptr inbounds nuw i8, ptr %203, i64 %204
  %206 = load i64, ptr %4, align 8
  %207 = load i64, ptr %205, align 8
  %208 = getelementptr inbounds nuw i8, ptr %205, i64 8
  %209 = load i64, ptr %208, align 8
  %210 = load i64, ptr %161, align 8
  %211 = load i64, ptr %6, align 8
  %212 = add i64 %210, 127
  %213 = add i64 %212, %211
  %214 = sdiv i64 %213, 128
  %215 = shl i64 %206, 7
  %216 = mul i64 %215, %207
  %217 = mul i64 %216, %209
  %218 = mul i64 %217, %214
  %219 = or disjoint i64 %218, 63
  %220 = sdiv i64 %219, 64
  %221 = shl nsw i64 %220, 6
  %222 = add nsw i64 %221, %200
  br i1 %21, label %229, label %223

223:                                              ; preds = %195
  %224 = getelementptr inbounds i8, ptr %1, i64 %200
  %225 = load ptr, ptr %145, align 8
  %226 = add nsw i64 %198, 1
  %227 = getelementptr inbounds ptr, ptr %225, i64 %198
  store ptr %224, ptr %227, align 8
  %228 = load ptr, ptr %160, align 8
  br label %229

229:                                              ; preds = %223, %195
  %230 = phi ptr [ %228, %223 ], [ %196, %195 ]
  %231 = phi i64 [ %226, %223 ], [ %198, %195 ]
  %232 = add nuw nsw i64 %199, 1
  %233 = getelementptr inbounds nuw %struct.tir_layer, ptr %230, i64 %177
  %234 = getelementptr inbounds nuw i8, ptr %233, i64 32
  %235 = load i64, ptr %234, align 8
  %236 = icmp slt i64 %232, %235
  br i1 %236, label %195, label %185, !llvm.loop !9
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: nounwind
define void @tir_llm_reset(ptr noundef captures(none) initializes((8, 16)) %0) local_unnamed_addr #2 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  store i64 0, ptr %2, align 8
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %4 = load ptr, ptr %3, align 8
  %5 = load ptr, ptr %0, align 8
  %6 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %7 = load i64, ptr %6, align 8
  %8 = shl nsw i64 %7, 3
  %9 = tail call ptr @memset(ptr noundef %4, i32 noundef 0, i64 noundef %8) #9
  ret void
}

declare ptr @memset(ptr noundef, i32 noundef, i64 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define noundef ptr @tir_llm_start(ptr noundef %0, ptr noundef returned %1) local_unnamed_addr #2 {
  %3 = tail call fastcc i64 @divided(ptr noundef %0, ptr noundef %1, ptr noundef %1) #8
  %4 = getelementptr inbounds nuw i8, ptr %1, i64 72
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %7 = load i64, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %9 = load i64, ptr %8, align 8
  %10 = shl i64 %7, 2
  %11 = mul i64 %10, %9
  %12 = tail call ptr @memset(ptr noundef %5, i32 noundef 0, i64 noundef %11) #9
  %13 = getelementptr inbounds nuw i8, ptr %1, i64 8
  store i64 0, ptr %13, align 8
  %14 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %15 = load ptr, ptr %14, align 8
  %16 = load ptr, ptr %1, align 8
  %17 = getelementptr inbounds nuw i8, ptr %16, i64 24
  %18 = load i64, ptr %17, align 8
  %19 = shl nsw i64 %18, 3
  %20 = tail call ptr @memset(ptr noundef %15, i32 noundef 0, i64 noundef %19) #9
  ret ptr %1
}

; Function Attrs: nounwind
define void @tir_llm_row(i64 noundef %0, ptr noundef %1, i64 noundef %2, ptr noundef %3) local_unnamed_addr #2 {
  %5 = alloca i16, align 2
  %6 = alloca i16, align 2
  %7 = alloca i32, align 4
  %8 = alloca i16, align 2
  %9 = alloca i16, align 2
  %10 = alloca i16, align 2
  %11 = alloca i16, align 2
  %12 = alloca i16, align 2
  %13 = alloca i16, align 2
  %14 = alloca i16, align 2
  %15 = alloca i16, align 2
  %16 = alloca i16, align 2
  %17 = icmp slt i64 %0, 3
  %18 = icmp sgt i64 %2, 0
  %19 = and i1 %17, %18
  br i1 %19, label %39, label %20

20:                                               ; preds = %82, %4
  %21 = icmp slt i64 %2, 1
  %22 = or i1 %21, %17
  br i1 %22, label %636, label %23

23:                                               ; preds = %20
  %24 = add nsw i64 %0, -11
  %25 = icmp ult i64 %24, 2
  %26 = icmp eq i64 %0, 14
  %27 = icmp samesign ugt i64 %0, 8
  %28 = add nsw i64 %0, -5
  %29 = icmp ult i64 %28, 2
  %30 = and i64 %0, 13
  %31 = icmp eq i64 %30, 4
  %32 = select i1 %29, i32 -16, i32 -8
  %33 = select i1 %31, i64 4, i64 2
  %34 = select i1 %31, i32 0, i32 %32
  %35 = icmp eq i64 %0, 12
  %36 = select i1 %35, i64 48, i64 16
  %37 = getelementptr inbounds nuw [2 x i16], ptr @blocks, i64 %0
  %38 = getelementptr inbounds nuw i8, ptr %37, i64 2
  br label %85

39:                                               ; preds = %4, %82
  %40 = phi i64 [ %83, %82 ], [ 0, %4 ]
  call void @llvm.lifetime.start.p0(ptr nonnull %16) #7
  switch i64 %0, label %82 [
    i64 0, label %41
    i64 1, label %46
    i64 2, label %74
  ]

41:                                               ; preds = %39
  %42 = getelementptr inbounds nuw float, ptr %3, i64 %40
  %43 = shl nsw i64 %40, 2
  %44 = getelementptr inbounds nuw i8, ptr %1, i64 %43
  %45 = call ptr @memcpy(ptr noundef %42, ptr noundef %44, i64 noundef 4) #9
  br label %82

46:                                               ; preds = %39
  %47 = shl nuw nsw i64 %40, 1
  %48 = getelementptr inbounds nuw i8, ptr %1, i64 %47
  call void @llvm.lifetime.start.p0(ptr nonnull %15) #7
  %49 = call ptr @memcpy(ptr noundef nonnull %15, ptr noundef %48, i64 noundef 2) #9
  %50 = load i16, ptr %15, align 2
  %51 = sext i16 %50 to i32
  %52 = and i32 %51, -2147483648
  %53 = and i16 %50, 32767
  %54 = zext nneg i16 %53 to i32
  %55 = icmp samesign ugt i16 %53, 31743
  br i1 %55, label %56, label %60

56:                                               ; preds = %46
  %57 = shl nuw nsw i32 %54, 13
  %58 = or disjoint i32 %57, %52
  %59 = or i32 %58, 2139095040
  br label %71

60:                                               ; preds = %46
  %61 = icmp samesign ugt i16 %53, 1023
  br i1 %61, label %62, label %66

62:                                               ; preds = %60
  %63 = shl nuw nsw i32 %54, 13
  %64 = add nuw nsw i32 %63, 939524096
  %65 = or disjoint i32 %64, %52
  br label %71

66:                                               ; preds = %60
  %67 = uitofp nneg i16 %53 to float
  %68 = fmul float %67, 0x3E70000000000000
  %69 = bitcast float %68 to i32
  %70 = or disjoint i32 %52, %69
  br label %71

71:                                               ; preds = %56, %62, %66
  %72 = phi i32 [ %59, %56 ], [ %65, %62 ], [ %70, %66 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %15) #7
  %73 = getelementptr inbounds nuw float, ptr %3, i64 %40
  store i32 %72, ptr %73, align 4
  br label %82

74:                                               ; preds = %39
  %75 = shl nuw nsw i64 %40, 1
  %76 = getelementptr inbounds nuw i8, ptr %1, i64 %75
  %77 = call ptr @memcpy(ptr noundef nonnull %16, ptr noundef %76, i64 noundef 2) #9
  %78 = load i16, ptr %16, align 2
  %79 = zext i16 %78 to i32
  %80 = shl nuw i32 %79, 16
  %81 = getelementptr inbounds nuw float, ptr %3, i64 %40
  store i32 %80, ptr %81, align 4
  br label %82

82:                                               ; preds = %71, %41, %39, %74
  call void @llvm.lifetime.end.p0(ptr nonnull %16) #7
  %83 = add nuw nsw i64 %40, 1
  %84 = icmp slt i64 %83, %2
  br i1 %84, label %39, label %20, !llvm.loop !10

85:                                               ; preds = %23, %628
  %86 = phi i64 [ 0, %23 ], [ %631, %628 ]
  %87 = phi ptr [ %1, %23 ], [ %634, %628 ]
  %88 = getelementptr inbounds nuw float, ptr %3, i64 %86
  br i1 %25, label %89, label %209

89:                                               ; preds = %85
  call void @llvm.lifetime.start.p0(ptr nonnull %14) #7
  %90 = call ptr @memcpy(ptr noundef nonnull %14, ptr noundef %87, i64 noundef 2) #9
  %91 = load i16, ptr %14, align 2
  %92 = sext i16 %91 to i32
  %93 = and i32 %92, -2147483648
  %94 = and i16 %91, 32767
  %95 = zext nneg i16 %94 to i32
  %96 = icmp samesign ugt i16 %94, 31743
  br i1 %96, label %97, label %101

97:                                               ; preds = %89
  %98 = shl nuw nsw i32 %95, 13
  %99 = or disjoint i32 %98, %93
  %100 = or i32 %99, 2139095040
  br label %112

101:                                              ; preds = %89
  %102 = icmp samesign ugt i16 %94, 1023
  br i1 %102, label %103, label %107

103:                                              ; preds = %101
  %104 = shl nuw nsw i32 %95, 13
  %105 = add nuw nsw i32 %104, 939524096
  %106 = or disjoint i32 %105, %93
  br label %112

107:                                              ; preds = %101
  %108 = uitofp nneg i16 %94 to float
  %109 = fmul float %108, 0x3E70000000000000
  %110 = bitcast float %109 to i32
  %111 = or disjoint i32 %93, %110
  br label %112

112:                                              ; preds = %107, %103, %97
  %113 = phi i32 [ %100, %97 ], [ %106, %103 ], [ %111, %107 ]
  %114 = bitcast i32 %113 to float
  call void @llvm.lifetime.end.p0(ptr nonnull %14) #7
  %115 = getelementptr inbounds nuw i8, ptr %87, i64 2
  call void @llvm.lifetime.start.p0(ptr nonnull %13) #7
  %116 = call ptr @memcpy(ptr noundef nonnull %13, ptr noundef nonnull %115, i64 noundef 2) #9
  %117 = load i16, ptr %13, align 2
  %118 = sext i16 %117 to i32
  %119 = and i32 %118, -2147483648
  %120 = and i16 %117, 32767
  %121 = zext nneg i16 %120 to i32
  %122 = icmp samesign ugt i16 %120, 31743
  br i1 %122, label %123, label %127

123:                                              ; preds = %112
  %124 = shl nuw nsw i32 %121, 13
  %125 = or disjoint i32 %124, %119
  %126 = or i32 %125, 2139095040
  br label %138

127:                                              ; preds = %112
  %128 = icmp samesign ugt i16 %120, 1023
  br i1 %128, label %129, label %133

129:                                              ; preds = %127
  %130 = shl nuw nsw i32 %121, 13
  %131 = add nuw nsw i32 %130, 939524096
  %132 = or disjoint i32 %131, %119
  br label %138

133:                                              ; preds = %127
  %134 = uitofp nneg i16 %120 to float
  %135 = fmul float %134, 0x3E70000000000000
  %136 = bitcast float %135 to i32
  %137 = or disjoint i32 %119, %136
  br label %138

138:                                              ; preds = %133, %129, %123
  %139 = phi i32 [ %126, %123 ], [ %132, %129 ], [ %137, %133 ]
  %140 = bitcast i32 %139 to float
  call void @llvm.lifetime.end.p0(ptr nonnull %13) #7
  %141 = getelementptr inbounds nuw i8, ptr %87, i64 4
  %142 = getelementptr inbounds nuw i8, ptr %87, i64 16
  %143 = getelementptr inbounds nuw i8, ptr %87, i64 %36
  br label %144

144:                                              ; preds = %183, %138
  %145 = phi i64 [ 0, %138 ], [ %184, %183 ]
  %146 = shl nuw nsw i64 %145, 4
  %147 = and i64 %146, 96
  %148 = getelementptr inbounds nuw i8, ptr %143, i64 %147
  %149 = icmp samesign ult i64 %145, 4
  %150 = getelementptr inbounds nuw i8, ptr %141, i64 %145
  br i1 %149, label %151, label %157

151:                                              ; preds = %144
  %152 = load i8, ptr %150, align 1
  %153 = and i8 %152, 63
  %154 = getelementptr inbounds nuw i8, ptr %150, i64 4
  %155 = load i8, ptr %154, align 1
  %156 = and i8 %155, 63
  br label %171

157:                                              ; preds = %144
  %158 = getelementptr inbounds nuw i8, ptr %150, i64 4
  %159 = load i8, ptr %158, align 1
  %160 = and i8 %159, 15
  %161 = getelementptr i8, ptr %87, i64 %145
  %162 = load i8, ptr %161, align 1
  %163 = lshr i8 %162, 2
  %164 = and i8 %163, 48
  %165 = or disjoint i8 %164, %160
  %166 = lshr i8 %159, 4
  %167 = load i8, ptr %150, align 1
  %168 = lshr i8 %167, 2
  %169 = and i8 %168, 48
  %170 = or disjoint i8 %169, %166
  br label %171

171:                                              ; preds = %157, %151
  %172 = phi i8 [ %153, %151 ], [ %165, %157 ]
  %173 = phi i8 [ %156, %151 ], [ %170, %157 ]
  %174 = uitofp nneg i8 %172 to float
  %175 = fmul float %114, %174
  %176 = uitofp nneg i8 %173 to float
  %177 = fmul float %140, %176
  %178 = trunc nuw nsw i64 %145 to i32
  %179 = shl nuw nsw i32 %178, 2
  %180 = and i32 %179, 4
  %181 = shl nuw nsw i64 %145, 7
  %182 = getelementptr inbounds nuw i8, ptr %88, i64 %181
  br label %186

183:                                              ; preds = %201
  %184 = add nuw nsw i64 %145, 1
  %185 = icmp eq i64 %184, 8
  br i1 %185, label %628, label %144, !llvm.loop !11

186:                                              ; preds = %201, %171
  %187 = phi i64 [ 0, %171 ], [ %207, %201 ]
  %188 = getelementptr inbounds nuw i8, ptr %148, i64 %187
  %189 = load i8, ptr %188, align 1
  %190 = zext i8 %189 to i32
  %191 = lshr i32 %190, %180
  %192 = and i32 %191, 15
  br i1 %35, label %193, label %201

193:                                              ; preds = %186
  %194 = getelementptr inbounds nuw i8, ptr %142, i64 %187
  %195 = load i8, ptr %194, align 1
  %196 = zext i8 %195 to i32
  %197 = lshr i32 %196, %178
  %198 = shl nuw nsw i32 %197, 4
  %199 = and i32 %198, 16
  %200 = or disjoint i32 %199, %192
  br label %201

201:                                              ; preds = %193, %186
  %202 = phi i32 [ %200, %193 ], [ %192, %186 ]
  %203 = uitofp nneg i32 %202 to float
  %204 = fmul float %175, %203
  %205 = fsub float %204, %177
  %206 = getelementptr inbounds nuw float, ptr %182, i64 %187
  store float %205, ptr %206, align 4
  %207 = add nuw nsw i64 %187, 1
  %208 = icmp eq i64 %207, 32
  br i1 %208, label %183, label %186, !llvm.loop !12

209:                                              ; preds = %85
  br i1 %26, label %210, label %288

210:                                              ; preds = %209, %266
  %211 = phi i64 [ %267, %266 ], [ 0, %209 ]
  %212 = lshr i64 %211, 1
  %213 = getelementptr inbounds nuw i8, ptr %87, i64 %212
  %214 = getelementptr inbounds nuw i8, ptr %213, i64 4
  %215 = load i8, ptr %214, align 1
  %216 = zext i8 %215 to i32
  %217 = trunc nuw nsw i64 %211 to i32
  %218 = shl nuw nsw i32 %217, 2
  %219 = and i32 %218, 4
  %220 = lshr i32 %216, %219
  %221 = and i32 %220, 15
  %222 = lshr i64 %211, 2
  %223 = getelementptr inbounds nuw i8, ptr %87, i64 %222
  %224 = getelementptr inbounds nuw i8, ptr %223, i64 2
  %225 = load i8, ptr %224, align 1
  %226 = zext i8 %225 to i32
  %227 = shl nuw nsw i32 %217, 1
  %228 = and i32 %227, 6
  %229 = lshr i32 %226, %228
  %230 = shl nuw nsw i32 %229, 4
  %231 = and i32 %230, 48
  %232 = or disjoint i32 %221, -32
  %233 = add nsw i32 %232, %231
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #7
  %234 = call ptr @memcpy(ptr noundef nonnull %12, ptr noundef %87, i64 noundef 2) #9
  %235 = load i16, ptr %12, align 2
  %236 = sext i16 %235 to i32
  %237 = and i32 %236, -2147483648
  %238 = and i16 %235, 32767
  %239 = zext nneg i16 %238 to i32
  %240 = icmp samesign ugt i16 %238, 31743
  br i1 %240, label %241, label %245

241:                                              ; preds = %210
  %242 = shl nuw nsw i32 %239, 13
  %243 = or disjoint i32 %242, %237
  %244 = or i32 %243, 2139095040
  br label %256

245:                                              ; preds = %210
  %246 = icmp samesign ugt i16 %238, 1023
  br i1 %246, label %247, label %251

247:                                              ; preds = %245
  %248 = shl nuw nsw i32 %239, 13
  %249 = add nuw nsw i32 %248, 939524096
  %250 = or disjoint i32 %249, %237
  br label %256

251:                                              ; preds = %245
  %252 = uitofp nneg i16 %238 to float
  %253 = fmul float %252, 0x3E70000000000000
  %254 = bitcast float %253 to i32
  %255 = or disjoint i32 %237, %254
  br label %256

256:                                              ; preds = %251, %247, %241
  %257 = phi i32 [ %244, %241 ], [ %250, %247 ], [ %255, %251 ]
  %258 = bitcast i32 %257 to float
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #7
  %259 = sitofp i32 %233 to float
  %260 = fmul float %259, %258
  %261 = shl nuw nsw i64 %211, 4
  %262 = getelementptr inbounds nuw i8, ptr %87, i64 %261
  %263 = getelementptr inbounds nuw i8, ptr %262, i64 8
  %264 = shl nuw nsw i64 %211, 7
  %265 = getelementptr inbounds nuw i8, ptr %88, i64 %264
  br label %269

266:                                              ; preds = %269
  %267 = add nuw nsw i64 %211, 1
  %268 = icmp eq i64 %267, 8
  br i1 %268, label %628, label %210, !llvm.loop !13

269:                                              ; preds = %269, %256
  %270 = phi i64 [ 0, %256 ], [ %286, %269 ]
  %271 = and i64 %270, 15
  %272 = getelementptr inbounds nuw i8, ptr %263, i64 %271
  %273 = load i8, ptr %272, align 1
  %274 = zext i8 %273 to i32
  %275 = trunc nuw nsw i64 %270 to i32
  %276 = lshr i32 %275, 2
  %277 = and i32 %276, 4
  %278 = lshr i32 %274, %277
  %279 = and i32 %278, 15
  %280 = zext nneg i32 %279 to i64
  %281 = getelementptr inbounds nuw i8, ptr @values, i64 %280
  %282 = load i8, ptr %281, align 1
  %283 = sitofp i8 %282 to float
  %284 = fmul float %260, %283
  %285 = getelementptr inbounds nuw float, ptr %265, i64 %270
  store float %284, ptr %285, align 4
  %286 = add nuw nsw i64 %270, 1
  %287 = icmp eq i64 %286, 32
  br i1 %287, label %266, label %269, !llvm.loop !14

288:                                              ; preds = %209
  br i1 %27, label %289, label %527

289:                                              ; preds = %288
  %290 = getelementptr inbounds nuw i8, ptr %87, i64 96
  %291 = getelementptr inbounds nuw i8, ptr %87, i64 32
  %292 = getelementptr inbounds nuw i8, ptr %87, i64 108
  %293 = getelementptr inbounds nuw i8, ptr %87, i64 80
  %294 = getelementptr inbounds nuw i8, ptr %87, i64 82
  %295 = getelementptr inbounds nuw i8, ptr %87, i64 16
  %296 = getelementptr inbounds nuw i8, ptr %87, i64 128
  %297 = getelementptr inbounds nuw i8, ptr %87, i64 208
  br label %298

298:                                              ; preds = %522, %289
  %299 = phi i64 [ 0, %289 ], [ %525, %522 ]
  %300 = lshr i64 %299, 4
  switch i64 %0, label %459 [
    i64 9, label %301
    i64 10, label %379
  ]

301:                                              ; preds = %298
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #7
  %302 = call ptr @memcpy(ptr noundef nonnull %11, ptr noundef nonnull %293, i64 noundef 2) #9
  %303 = load i16, ptr %11, align 2
  %304 = sext i16 %303 to i32
  %305 = and i32 %304, -2147483648
  %306 = and i16 %303, 32767
  %307 = zext nneg i16 %306 to i32
  %308 = icmp samesign ugt i16 %306, 31743
  br i1 %308, label %309, label %313

309:                                              ; preds = %301
  %310 = shl nuw nsw i32 %307, 13
  %311 = or disjoint i32 %310, %305
  %312 = or i32 %311, 2139095040
  br label %324

313:                                              ; preds = %301
  %314 = icmp samesign ugt i16 %306, 1023
  br i1 %314, label %315, label %319

315:                                              ; preds = %313
  %316 = shl nuw nsw i32 %307, 13
  %317 = add nuw nsw i32 %316, 939524096
  %318 = or disjoint i32 %317, %305
  br label %324

319:                                              ; preds = %313
  %320 = uitofp nneg i16 %306 to float
  %321 = fmul float %320, 0x3E70000000000000
  %322 = bitcast float %321 to i32
  %323 = or disjoint i32 %305, %322
  br label %324

324:                                              ; preds = %319, %315, %309
  %325 = phi i32 [ %312, %309 ], [ %318, %315 ], [ %323, %319 ]
  %326 = bitcast i32 %325 to float
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #7
  %327 = getelementptr inbounds nuw i8, ptr %87, i64 %300
  %328 = load i8, ptr %327, align 1
  %329 = and i8 %328, 15
  %330 = uitofp nneg i8 %329 to float
  %331 = fmul float %326, %330
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #7
  %332 = call ptr @memcpy(ptr noundef nonnull %10, ptr noundef nonnull %294, i64 noundef 2) #9
  %333 = load i16, ptr %10, align 2
  %334 = sext i16 %333 to i32
  %335 = and i32 %334, -2147483648
  %336 = and i16 %333, 32767
  %337 = zext nneg i16 %336 to i32
  %338 = icmp samesign ugt i16 %336, 31743
  br i1 %338, label %339, label %343

339:                                              ; preds = %324
  %340 = shl nuw nsw i32 %337, 13
  %341 = or disjoint i32 %340, %335
  %342 = or i32 %341, 2139095040
  br label %354

343:                                              ; preds = %324
  %344 = icmp samesign ugt i16 %336, 1023
  br i1 %344, label %345, label %349

345:                                              ; preds = %343
  %346 = shl nuw nsw i32 %337, 13
  %347 = add nuw nsw i32 %346, 939524096
  %348 = or disjoint i32 %347, %335
  br label %354

349:                                              ; preds = %343
  %350 = uitofp nneg i16 %336 to float
  %351 = fmul float %350, 0x3E70000000000000
  %352 = bitcast float %351 to i32
  %353 = or disjoint i32 %335, %352
  br label %354

354:                                              ; preds = %349, %345, %339
  %355 = phi i32 [ %342, %339 ], [ %348, %345 ], [ %353, %349 ]
  %356 = bitcast i32 %355 to float
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #7
  %357 = load i8, ptr %327, align 1
  %358 = lshr i8 %357, 4
  %359 = uitofp nneg i8 %358 to float
  %360 = fmul float %356, %359
  %361 = lshr i64 %299, 2
  %362 = and i64 %361, 32
  %363 = and i64 %299, 31
  %364 = getelementptr i8, ptr %295, i64 %362
  %365 = getelementptr i8, ptr %364, i64 %363
  %366 = load i8, ptr %365, align 1
  %367 = zext i8 %366 to i32
  %368 = and i64 %299, 128
  %369 = add nuw nsw i64 %368, %299
  %370 = trunc i64 %369 to i8
  %371 = sdiv i8 %370, 32
  %372 = sext i8 %371 to i32
  %373 = shl nsw i32 %372, 1
  %374 = lshr i32 %367, %373
  %375 = and i32 %374, 3
  %376 = uitofp nneg i32 %375 to float
  %377 = fmul float %331, %376
  %378 = fsub float %377, %360
  br label %522

379:                                              ; preds = %298
  %380 = icmp samesign ult i64 %299, 128
  %381 = getelementptr i8, ptr %290, i64 %300
  br i1 %380, label %382, label %385

382:                                              ; preds = %379
  %383 = load i8, ptr %381, align 1
  %384 = and i8 %383, 15
  br label %389

385:                                              ; preds = %379
  %386 = getelementptr i8, ptr %381, i64 -8
  %387 = load i8, ptr %386, align 1
  %388 = lshr i8 %387, 4
  br label %389

389:                                              ; preds = %385, %382
  %390 = phi i8 [ %384, %382 ], [ %388, %385 ]
  %391 = and i64 %300, 3
  %392 = getelementptr inbounds nuw i8, ptr %290, i64 %391
  %393 = getelementptr inbounds nuw i8, ptr %392, i64 8
  %394 = load i8, ptr %393, align 1
  %395 = zext i8 %394 to i32
  %396 = trunc nuw nsw i64 %299 to i32
  %397 = lshr i32 %396, 5
  %398 = and i32 %397, 6
  %399 = lshr i32 %395, %398
  %400 = shl nuw nsw i32 %399, 4
  %401 = and i32 %400, 48
  %402 = or disjoint i8 %390, -32
  %403 = sext i8 %402 to i32
  %404 = add nsw i32 %401, %403
  %405 = lshr i64 %299, 2
  %406 = and i64 %405, 32
  %407 = and i64 %299, 31
  %408 = getelementptr i8, ptr %291, i64 %406
  %409 = getelementptr i8, ptr %408, i64 %407
  %410 = load i8, ptr %409, align 1
  %411 = zext i8 %410 to i32
  %412 = and i64 %299, 128
  %413 = add nuw nsw i64 %412, %299
  %414 = trunc i64 %413 to i8
  %415 = sdiv i8 %414, 32
  %416 = sext i8 %415 to i32
  %417 = shl nsw i32 %416, 1
  %418 = lshr i32 %411, %417
  %419 = and i32 %418, 3
  %420 = getelementptr inbounds nuw i8, ptr %87, i64 %407
  %421 = load i8, ptr %420, align 1
  %422 = zext i8 %421 to i32
  %423 = lshr i64 %299, 5
  %424 = trunc nuw nsw i64 %423 to i32
  %425 = shl nuw nsw i32 1, %424
  %426 = and i32 %425, %422
  %427 = icmp eq i32 %426, 0
  %428 = select i1 %427, i32 -4, i32 0
  %429 = or disjoint i32 %428, %419
  %430 = sitofp i32 %429 to float
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #7
  %431 = call ptr @memcpy(ptr noundef nonnull %9, ptr noundef nonnull %292, i64 noundef 2) #9
  %432 = load i16, ptr %9, align 2
  %433 = sext i16 %432 to i32
  %434 = and i32 %433, -2147483648
  %435 = and i16 %432, 32767
  %436 = zext nneg i16 %435 to i32
  %437 = icmp samesign ugt i16 %435, 31743
  br i1 %437, label %438, label %442

438:                                              ; preds = %389
  %439 = shl nuw nsw i32 %436, 13
  %440 = or disjoint i32 %439, %434
  %441 = or i32 %440, 2139095040
  br label %453

442:                                              ; preds = %389
  %443 = icmp samesign ugt i16 %435, 1023
  br i1 %443, label %444, label %448

444:                                              ; preds = %442
  %445 = shl nuw nsw i32 %436, 13
  %446 = add nuw nsw i32 %445, 939524096
  %447 = or disjoint i32 %446, %434
  br label %453

448:                                              ; preds = %442
  %449 = uitofp nneg i16 %435 to float
  %450 = fmul float %449, 0x3E70000000000000
  %451 = bitcast float %450 to i32
  %452 = or disjoint i32 %434, %451
  br label %453

453:                                              ; preds = %448, %444, %438
  %454 = phi i32 [ %441, %438 ], [ %447, %444 ], [ %452, %448 ]
  %455 = bitcast i32 %454 to float
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #7
  %456 = sitofp i32 %404 to float
  %457 = fmul float %456, %455
  %458 = fmul float %457, %430
  br label %522

459:                                              ; preds = %298
  %460 = lshr i64 %299, 1
  %461 = and i64 %460, 64
  %462 = and i64 %299, 63
  %463 = getelementptr inbounds nuw i8, ptr %87, i64 %461
  %464 = getelementptr inbounds nuw i8, ptr %463, i64 %462
  %465 = load i8, ptr %464, align 1
  %466 = zext i8 %465 to i32
  %467 = trunc nuw nsw i64 %299 to i32
  %468 = lshr i32 %467, 4
  %469 = and i32 %468, 4
  %470 = lshr i32 %466, %469
  %471 = and i32 %470, 15
  %472 = lshr i64 %299, 2
  %473 = and i64 %472, 32
  %474 = and i64 %299, 31
  %475 = getelementptr i8, ptr %296, i64 %473
  %476 = getelementptr i8, ptr %475, i64 %474
  %477 = load i8, ptr %476, align 1
  %478 = zext i8 %477 to i32
  %479 = and i64 %299, 128
  %480 = add nuw nsw i64 %479, %299
  %481 = trunc i64 %480 to i8
  %482 = sdiv i8 %481, 32
  %483 = sext i8 %482 to i32
  %484 = shl nsw i32 %483, 1
  %485 = lshr i32 %478, %484
  %486 = shl nuw nsw i32 %485, 4
  %487 = and i32 %486, 48
  %488 = or disjoint i32 %471, -32
  %489 = add nsw i32 %488, %487
  %490 = sitofp i32 %489 to float
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #7
  %491 = call ptr @memcpy(ptr noundef nonnull %8, ptr noundef nonnull %297, i64 noundef 2) #9
  %492 = load i16, ptr %8, align 2
  %493 = sext i16 %492 to i32
  %494 = and i32 %493, -2147483648
  %495 = and i16 %492, 32767
  %496 = zext nneg i16 %495 to i32
  %497 = icmp samesign ugt i16 %495, 31743
  br i1 %497, label %498, label %502

498:                                              ; preds = %459
  %499 = shl nuw nsw i32 %496, 13
  %500 = or disjoint i32 %499, %494
  %501 = or i32 %500, 2139095040
  br label %513

502:                                              ; preds = %459
  %503 = icmp samesign ugt i16 %495, 1023
  br i1 %503, label %504, label %508

504:                                              ; preds = %502
  %505 = shl nuw nsw i32 %496, 13
  %506 = add nuw nsw i32 %505, 939524096
  %507 = or disjoint i32 %506, %494
  br label %513

508:                                              ; preds = %502
  %509 = uitofp nneg i16 %495 to float
  %510 = fmul float %509, 0x3E70000000000000
  %511 = bitcast float %510 to i32
  %512 = or disjoint i32 %494, %511
  br label %513

513:                                              ; preds = %508, %504, %498
  %514 = phi i32 [ %501, %498 ], [ %507, %504 ], [ %512, %508 ]
  %515 = bitcast i32 %514 to float
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #7
  %516 = getelementptr inbounds nuw i8, ptr %87, i64 %300
  %517 = getelementptr inbounds nuw i8, ptr %516, i64 192
  %518 = load i8, ptr %517, align 1
  %519 = sitofp i8 %518 to float
  %520 = fmul float %515, %519
  %521 = fmul float %520, %490
  br label %522

522:                                              ; preds = %513, %453, %354
  %523 = phi float [ %458, %453 ], [ %521, %513 ], [ %378, %354 ]
  %524 = getelementptr inbounds nuw float, ptr %88, i64 %299
  store float %523, ptr %524, align 4
  %525 = add nuw nsw i64 %299, 1
  %526 = icmp eq i64 %525, 256
  br i1 %526, label %628, label %298, !llvm.loop !15

527:                                              ; preds = %288
  %528 = getelementptr inbounds nuw i8, ptr %87, i64 %33
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #7
  %529 = call ptr @memcpy(ptr noundef nonnull %6, ptr noundef %87, i64 noundef 2) #9
  %530 = load i16, ptr %6, align 2
  %531 = sext i16 %530 to i32
  %532 = and i32 %531, -2147483648
  %533 = and i16 %530, 32767
  %534 = zext nneg i16 %533 to i32
  %535 = icmp samesign ugt i16 %533, 31743
  br i1 %535, label %536, label %540

536:                                              ; preds = %527
  %537 = shl nuw nsw i32 %534, 13
  %538 = or disjoint i32 %537, %532
  %539 = or i32 %538, 2139095040
  br label %551

540:                                              ; preds = %527
  %541 = icmp samesign ugt i16 %533, 1023
  br i1 %541, label %542, label %546

542:                                              ; preds = %540
  %543 = shl nuw nsw i32 %534, 13
  %544 = add nuw nsw i32 %543, 939524096
  %545 = or disjoint i32 %544, %532
  br label %551

546:                                              ; preds = %540
  %547 = uitofp nneg i16 %533 to float
  %548 = fmul float %547, 0x3E70000000000000
  %549 = bitcast float %548 to i32
  %550 = or disjoint i32 %532, %549
  br label %551

551:                                              ; preds = %546, %542, %536
  %552 = phi i32 [ %539, %536 ], [ %545, %542 ], [ %550, %546 ]
  %553 = bitcast i32 %552 to float
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #7
  br i1 %31, label %554, label %581

554:                                              ; preds = %551
  %555 = getelementptr inbounds nuw i8, ptr %87, i64 2
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #7
  %556 = call ptr @memcpy(ptr noundef nonnull %5, ptr noundef nonnull %555, i64 noundef 2) #9
  %557 = load i16, ptr %5, align 2
  %558 = sext i16 %557 to i32
  %559 = and i32 %558, -2147483648
  %560 = and i16 %557, 32767
  %561 = zext nneg i16 %560 to i32
  %562 = icmp samesign ugt i16 %560, 31743
  br i1 %562, label %563, label %567

563:                                              ; preds = %554
  %564 = shl nuw nsw i32 %561, 13
  %565 = or disjoint i32 %564, %559
  %566 = or i32 %565, 2139095040
  br label %578

567:                                              ; preds = %554
  %568 = icmp samesign ugt i16 %560, 1023
  br i1 %568, label %569, label %573

569:                                              ; preds = %567
  %570 = shl nuw nsw i32 %561, 13
  %571 = add nuw nsw i32 %570, 939524096
  %572 = or disjoint i32 %571, %559
  br label %578

573:                                              ; preds = %567
  %574 = uitofp nneg i16 %560 to float
  %575 = fmul float %574, 0x3E70000000000000
  %576 = bitcast float %575 to i32
  %577 = or disjoint i32 %559, %576
  br label %578

578:                                              ; preds = %573, %569, %563
  %579 = phi i32 [ %566, %563 ], [ %572, %569 ], [ %577, %573 ]
  %580 = bitcast i32 %579 to float
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #7
  br label %581

581:                                              ; preds = %578, %551
  %582 = phi float [ %580, %578 ], [ 0.000000e+00, %551 ]
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #7
  store i32 0, ptr %7, align 4
  br i1 %29, label %583, label %587

583:                                              ; preds = %581
  %584 = call ptr @memcpy(ptr noundef nonnull %7, ptr noundef nonnull %528, i64 noundef 4) #9
  %585 = getelementptr inbounds nuw i8, ptr %528, i64 4
  %586 = load i32, ptr %7, align 4
  br label %587

587:                                              ; preds = %583, %581
  %588 = phi i32 [ %586, %583 ], [ 0, %581 ]
  %589 = phi ptr [ %585, %583 ], [ %528, %581 ]
  br label %590

590:                                              ; preds = %619, %587
  %591 = phi i64 [ 0, %587 ], [ %625, %619 ]
  %592 = and i64 %591, 15
  %593 = getelementptr inbounds nuw i8, ptr %589, i64 %592
  %594 = load i8, ptr %593, align 1
  %595 = zext i8 %594 to i32
  %596 = trunc nuw nsw i64 %591 to i32
  %597 = lshr i32 %596, 2
  %598 = and i32 %597, 4
  %599 = lshr i32 %595, %598
  %600 = and i32 %599, 15
  %601 = lshr i32 %588, %596
  %602 = shl i32 %601, 4
  %603 = and i32 %602, 16
  %604 = or disjoint i32 %600, %603
  switch i64 %0, label %614 [
    i64 7, label %605
    i64 8, label %609
  ]

605:                                              ; preds = %590
  %606 = getelementptr inbounds nuw i8, ptr %589, i64 %591
  %607 = load i8, ptr %606, align 1
  %608 = sitofp i8 %607 to float
  br label %619

609:                                              ; preds = %590
  %610 = zext nneg i32 %604 to i64
  %611 = getelementptr inbounds nuw i8, ptr @values, i64 %610
  %612 = load i8, ptr %611, align 1
  %613 = sext i8 %612 to i32
  br label %616

614:                                              ; preds = %590
  %615 = add nsw i32 %604, %34
  br label %616

616:                                              ; preds = %614, %609
  %617 = phi i32 [ %613, %609 ], [ %615, %614 ]
  %618 = sitofp i32 %617 to float
  br label %619

619:                                              ; preds = %616, %605
  %620 = phi float [ %608, %605 ], [ %618, %616 ]
  %621 = fmul float %620, %553
  %622 = fadd float %582, %621
  %623 = select i1 %31, float %622, float %621
  %624 = getelementptr inbounds nuw float, ptr %88, i64 %591
  store float %623, ptr %624, align 4
  %625 = add nuw nsw i64 %591, 1
  %626 = icmp eq i64 %625, 32
  br i1 %626, label %627, label %590, !llvm.loop !16

627:                                              ; preds = %619
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #7
  br label %628

628:                                              ; preds = %522, %266, %183, %627
  %629 = load i16, ptr %37, align 4
  %630 = zext i16 %629 to i64
  %631 = add nuw nsw i64 %86, %630
  %632 = load i16, ptr %38, align 2
  %633 = zext i16 %632 to i64
  %634 = getelementptr inbounds nuw i8, ptr %87, i64 %633
  %635 = icmp slt i64 %631, %2
  br i1 %635, label %85, label %636, !llvm.loop !17

636:                                              ; preds = %628, %20
  ret void
}

declare ptr @memcpy(ptr noundef, ptr noundef, i64 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define void @tir_llm_prompt(ptr noundef captures(none) %0, i64 noundef %1, ptr noundef readonly captures(none) %2, i64 noundef %3) local_unnamed_addr #2 {
  %5 = icmp sgt i64 %3, 0
  br i1 %5, label %6, label %19

6:                                                ; preds = %4
  %7 = load ptr, ptr %0, align 8
  %8 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %10 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %12 = getelementptr inbounds nuw i8, ptr %7, i64 32
  %13 = getelementptr inbounds nuw i8, ptr %7, i64 80
  %14 = getelementptr inbounds nuw i8, ptr %7, i64 112
  %15 = getelementptr inbounds nuw i8, ptr %7, i64 88
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %18 = load i64, ptr %8, align 8
  br label %20

19:                                               ; preds = %63, %4
  ret void

20:                                               ; preds = %6, %63
  %21 = phi i64 [ %18, %6 ], [ %78, %63 ]
  %22 = phi i64 [ 0, %6 ], [ %79, %63 ]
  %23 = sub nsw i64 %3, %22
  %24 = tail call i64 @llvm.smin.i64(i64 %23, i64 %21)
  %25 = load ptr, ptr %9, align 8
  %26 = getelementptr inbounds i64, ptr %25, i64 %1
  %27 = load i64, ptr %26, align 8
  %28 = icmp eq i64 %24, 1
  br i1 %28, label %29, label %34

29:                                               ; preds = %20
  %30 = load i64, ptr %10, align 8
  %31 = icmp eq i64 %30, 1
  %32 = zext i1 %31 to i32
  %33 = select i1 %31, i64 1, i64 %21
  br label %34

34:                                               ; preds = %29, %20
  %35 = phi i32 [ %32, %29 ], [ 0, %20 ]
  %36 = phi i64 [ %33, %29 ], [ %21, %20 ]
  %37 = add nsw i64 %36, %27
  tail call fastcc void @reserve(ptr noundef nonnull %0, i64 noundef %37) #8
  %38 = load ptr, ptr %11, align 8
  %39 = load i64, ptr %12, align 8
  %40 = shl i64 %36, 2
  %41 = mul i64 %40, %39
  %42 = tail call ptr @memset(ptr noundef %38, i32 noundef 0, i64 noundef %41) #9
  %43 = icmp sgt i64 %24, 0
  br i1 %43, label %44, label %46

44:                                               ; preds = %34
  %45 = getelementptr i64, ptr %2, i64 %22
  br label %48

46:                                               ; preds = %48, %34
  %47 = icmp sgt i64 %36, 0
  br i1 %47, label %81, label %63

48:                                               ; preds = %44, %48
  %49 = phi i64 [ 0, %44 ], [ %61, %48 ]
  %50 = getelementptr i64, ptr %45, i64 %49
  %51 = load i64, ptr %50, align 8
  %52 = load ptr, ptr %11, align 8
  %53 = load i64, ptr %12, align 8
  %54 = mul nsw i64 %53, %49
  %55 = getelementptr inbounds float, ptr %52, i64 %54
  %56 = load i64, ptr %13, align 8
  %57 = load ptr, ptr %14, align 8
  %58 = load i64, ptr %15, align 8
  %59 = mul nsw i64 %58, %51
  %60 = getelementptr inbounds i8, ptr %57, i64 %59
  tail call void @tir_llm_row(i64 noundef %56, ptr noundef %60, i64 noundef %53, ptr noundef %55) #8
  %61 = add nuw nsw i64 %49, 1
  %62 = icmp eq i64 %61, %24
  br i1 %62, label %46, label %48, !llvm.loop !18

63:                                               ; preds = %81, %46
  tail call fastcc void @through(ptr noundef nonnull %0, i32 noundef %35, i64 noundef %36, i64 noundef %1) #8
  %64 = load ptr, ptr %9, align 8
  %65 = getelementptr inbounds i64, ptr %64, i64 %1
  %66 = load i64, ptr %65, align 8
  %67 = add nsw i64 %66, %24
  store i64 %67, ptr %65, align 8
  %68 = load ptr, ptr %17, align 8
  %69 = load i64, ptr %12, align 8
  %70 = mul nsw i64 %69, %1
  %71 = getelementptr inbounds float, ptr %68, i64 %70
  %72 = load ptr, ptr %11, align 8
  %73 = add nsw i64 %24, -1
  %74 = mul nsw i64 %69, %73
  %75 = getelementptr inbounds float, ptr %72, i64 %74
  %76 = shl nsw i64 %69, 2
  %77 = tail call ptr @memcpy(ptr noundef %71, ptr noundef %75, i64 noundef %76) #9
  %78 = load i64, ptr %8, align 8
  %79 = add nsw i64 %78, %22
  %80 = icmp slt i64 %79, %3
  br i1 %80, label %20, label %19, !llvm.loop !19

81:                                               ; preds = %46, %81
  %82 = phi i64 [ %86, %81 ], [ 0, %46 ]
  %83 = add nsw i64 %82, %27
  %84 = load ptr, ptr %16, align 8
  %85 = getelementptr inbounds nuw i64, ptr %84, i64 %82
  store i64 %83, ptr %85, align 8
  %86 = add nuw nsw i64 %82, 1
  %87 = icmp eq i64 %86, %36
  br i1 %87, label %63, label %81, !llvm.loop !20
}

; Function Attrs: nounwind
define internal fastcc void @reserve(ptr noundef captures(none) %0, i64 noundef %1) unnamed_addr #2 {
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %5 = load i64, ptr %4, align 8
  %6 = add nsw i64 %1, 127
  %7 = sdiv i64 %6, 128
  %8 = shl nsw i64 %7, 7
  %9 = icmp sgt i64 %1, %5
  br i1 %9, label %10, label %86

10:                                               ; preds = %2
  %11 = getelementptr inbounds nuw i8, ptr %3, i64 48
  %12 = load i64, ptr %11, align 8
  %13 = icmp sgt i64 %12, 0
  br i1 %13, label %14, label %30

14:                                               ; preds = %10
  %15 = getelementptr inbounds nuw i8, ptr %3, i64 96
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %17 = getelementptr inbounds nuw i8, ptr %3, i64 24
  %18 = sub nsw i64 %8, %5
  %19 = load ptr, ptr %15, align 8
  br label %20

20:                                               ; preds = %14, %33
  %21 = phi i64 [ %12, %14 ], [ %34, %33 ]
  %22 = phi ptr [ %19, %14 ], [ %35, %33 ]
  %23 = phi ptr [ %19, %14 ], [ %36, %33 ]
  %24 = phi i64 [ 0, %14 ], [ %37, %33 ]
  %25 = phi i64 [ 0, %14 ], [ %38, %33 ]
  %26 = getelementptr inbounds nuw %struct.tir_layer, ptr %23, i64 %25
  %27 = getelementptr inbounds nuw i8, ptr %26, i64 32
  %28 = load i64, ptr %27, align 8
  %29 = icmp sgt i64 %28, 0
  br i1 %29, label %40, label %33

30:                                               ; preds = %33, %10
  store i64 %8, ptr %4, align 8
  br label %86

31:                                               ; preds = %65
  %32 = load i64, ptr %11, align 8
  br label %33

33:                                               ; preds = %31, %20
  %34 = phi i64 [ %21, %20 ], [ %32, %31 ]
  %35 = phi ptr [ %22, %20 ], [ %66, %31 ]
  %36 = phi ptr [ %23, %20 ], [ %66, %31 ]
  %37 = phi i64 [ %24, %20 ], [ %53, %31 ]
  %38 = add nuw nsw i64 %25, 1
  %39 = icmp slt i64 %38, %34
  br i1 %39, label %20, label %30, !llvm.loop !21

40:                                               ; preds = %20, %65
  %41 = phi ptr [ %66, %65 ], [ %22, %20 ]
  %42 = phi ptr [ %66, %65 ], [ %23, %20 ]
  %43 = phi i64 [ %53, %65 ], [ %24, %20 ]
  %44 = phi i64 [ %67, %65 ], [ 0, %20 ]
  %45 = getelementptr inbounds nuw %struct.tir_layer, ptr %42, i64 %25
  %46 = getelementptr inbounds nuw i8, ptr %45, i64 40
  %47 = load ptr, ptr %46, align 8
  %48 = shl nsw i64 %44, 4
  %49 = getelementptr inbounds nuw i8, ptr %47, i64 %48
  %50 = getelementptr inbounds nuw i8, ptr %49, i64 8
  %51 = load i64, ptr %50, align 8
  %52 = load ptr, ptr %16, align 8
  %53 = add nsw i64 %43, 1
  %54 = getelementptr inbounds ptr, ptr %52, i64 %43
  %55 = load ptr, ptr %54, align 8
  %56 = load i64, ptr %17, align 8
  %57 = load i64, ptr %49, align 8
  %58 = mul nsw i64 %57, %56
  %59 = icmp sgt i64 %58, 0
  br i1 %59, label %60, label %65

60:                                               ; preds = %40
  %61 = mul i64 %51, %5
  %62 = mul nsw i64 %51, %18
  br label %72

63:                                               ; preds = %72
  %64 = load ptr, ptr %15, align 8
  br label %65

65:                                               ; preds = %63, %40
  %66 = phi ptr [ %64, %63 ], [ %41, %40 ]
  %67 = add nuw nsw i64 %44, 1
  %68 = getelementptr inbounds nuw %struct.tir_layer, ptr %66, i64 %25
  %69 = getelementptr inbounds nuw i8, ptr %68, i64 32
  %70 = load i64, ptr %69, align 8
  %71 = icmp slt i64 %67, %70
  br i1 %71, label %40, label %31, !llvm.loop !22

72:                                               ; preds = %60, %72
  %73 = phi i64 [ %58, %60 ], [ %74, %72 ]
  %74 = add nsw i64 %73, -1
  %75 = mul nsw i64 %74, %8
  %76 = mul nsw i64 %75, %51
  %77 = getelementptr inbounds i8, ptr %55, i64 %76
  %78 = mul i64 %61, %74
  %79 = getelementptr inbounds i8, ptr %55, i64 %78
  %80 = tail call ptr @memmove(ptr noundef %77, ptr noundef %79, i64 noundef %61) #9
  %81 = add nsw i64 %75, %5
  %82 = mul nsw i64 %81, %51
  %83 = getelementptr inbounds i8, ptr %55, i64 %82
  %84 = tail call ptr @memset(ptr noundef %83, i32 noundef 0, i64 noundef %62) #9
  %85 = icmp samesign ugt i64 %73, 1
  br i1 %85, label %72, label %63, !llvm.loop !23

86:                                               ; preds = %2, %30
  ret void
}

; Function Attrs: nounwind
define internal fastcc void @through(ptr noundef captures(none) %0, i32 noundef range(i32 0, 2) %1, i64 noundef %2, i64 noundef %3) unnamed_addr #2 {
  %5 = alloca [24 x [19 x i64]], align 16
  %6 = alloca [24 x ptr], align 16
  %7 = alloca [24 x ptr], align 16
  %8 = load ptr, ptr %0, align 8
  %9 = icmp sgt i64 %2, 0
  br i1 %9, label %10, label %17

10:                                               ; preds = %4
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %12 = getelementptr inbounds nuw i8, ptr %8, i64 40
  %13 = getelementptr inbounds nuw i8, ptr %8, i64 120
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %16 = getelementptr inbounds nuw i8, ptr %8, i64 128
  br label %44

17:                                               ; preds = %44, %4
  %18 = getelementptr inbounds nuw i8, ptr %8, i64 48
  %19 = load i64, ptr %18, align 8
  %20 = icmp sgt i64 %19, 0
  br i1 %20, label %21, label %72

21:                                               ; preds = %17
  %22 = getelementptr inbounds nuw i8, ptr %8, i64 96
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %24 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %26 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %28 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %30 = getelementptr inbounds nuw i8, ptr %7, i64 32
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %32 = icmp eq i32 %1, 0
  %33 = select i1 %32, i64 24, i64 16
  %34 = getelementptr inbounds nuw i8, ptr %7, i64 40
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %36 = getelementptr inbounds nuw i8, ptr %7, i64 48
  %37 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %38 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %39 = select i1 %32, i64 8, i64 0
  %40 = getelementptr inbounds nuw i8, ptr %8, i64 72
  %41 = load ptr, ptr %23, align 8
  %42 = load ptr, ptr %31, align 8
  %43 = getelementptr inbounds nuw i8, ptr %7, i64 48
  br label %73

44:                                               ; preds = %10, %44
  %45 = phi i64 [ 0, %10 ], [ %70, %44 ]
  %46 = load ptr, ptr %11, align 8
  %47 = load i64, ptr %12, align 8
  %48 = mul nsw i64 %47, %45
  %49 = getelementptr inbounds float, ptr %46, i64 %48
  %50 = load ptr, ptr %13, align 8
  %51 = load ptr, ptr %14, align 8
  %52 = getelementptr inbounds nuw i64, ptr %51, i64 %45
  %53 = load i64, ptr %52, align 8
  %54 = mul nsw i64 %53, %47
  %55 = getelementptr inbounds float, ptr %50, i64 %54
  %56 = shl nsw i64 %47, 2
  %57 = tail call ptr @memcpy(ptr noundef %49, ptr noundef %55, i64 noundef %56) #9
  %58 = load ptr, ptr %15, align 8
  %59 = load i64, ptr %12, align 8
  %60 = mul nsw i64 %59, %45
  %61 = getelementptr inbounds float, ptr %58, i64 %60
  %62 = load ptr, ptr %16, align 8
  %63 = load ptr, ptr %14, align 8
  %64 = getelementptr inbounds nuw i64, ptr %63, i64 %45
  %65 = load i64, ptr %64, align 8
  %66 = mul nsw i64 %65, %59
  %67 = getelementptr inbounds float, ptr %62, i64 %66
  %68 = shl nsw i64 %59, 2
  %69 = tail call ptr @memcpy(ptr noundef %61, ptr noundef %67, i64 noundef %68) #9
  %70 = add nuw nsw i64 %45, 1
  %71 = icmp eq i64 %70, %2
  br i1 %71, label %17, label %44, !llvm.loop !24

72:                                               ; preds = %143, %17
  ret void

73:                                               ; preds = %21, %143
  %74 = phi ptr [ %42, %21 ], [ %146, %143 ]
  %75 = phi ptr [ %41, %21 ], [ %145, %143 ]
  %76 = phi i64 [ 0, %21 ], [ %95, %143 ]
  %77 = phi i64 [ 0, %21 ], [ %147, %143 ]
  %78 = load ptr, ptr %22, align 8
  %79 = getelementptr inbounds nuw %struct.tir_layer, ptr %78, i64 %77
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #7
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(144) %43, i8 0, i64 144, i1 false)
  store ptr %75, ptr %7, align 16
  %80 = load ptr, ptr %25, align 8
  store ptr %80, ptr %24, align 8
  %81 = load ptr, ptr %27, align 8
  store ptr %81, ptr %26, align 16
  %82 = load ptr, ptr %29, align 8
  store ptr %82, ptr %28, align 8
  store ptr %74, ptr %30, align 16
  %83 = getelementptr inbounds nuw i8, ptr %79, i64 %33
  %84 = load ptr, ptr %83, align 8
  store ptr %84, ptr %34, align 8
  %85 = load ptr, ptr %35, align 8
  store ptr %85, ptr %36, align 16
  %86 = getelementptr inbounds nuw i8, ptr %79, i64 32
  %87 = load i64, ptr %86, align 8
  %88 = icmp sgt i64 %87, 0
  %89 = load i64, ptr %38, align 8
  br i1 %88, label %90, label %94

90:                                               ; preds = %73
  %91 = getelementptr inbounds nuw i8, ptr %79, i64 40
  %92 = load ptr, ptr %91, align 8
  %93 = load ptr, ptr %37, align 8
  br label %150

94:                                               ; preds = %150, %73
  %95 = phi i64 [ %76, %73 ], [ %155, %150 ]
  %96 = getelementptr inbounds nuw i8, ptr %79, i64 %39
  %97 = load ptr, ptr %96, align 8
  %98 = load i64, ptr %40, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #7
  %99 = getelementptr inbounds nuw i8, ptr %97, i64 8
  %100 = load i64, ptr %99, align 8
  %101 = icmp sgt i64 %100, 0
  br i1 %101, label %102, label %143

102:                                              ; preds = %94
  %103 = getelementptr inbounds nuw i8, ptr %97, i64 16
  %104 = load ptr, ptr %103, align 8
  br label %105

105:                                              ; preds = %121, %102
  %106 = phi ptr [ %124, %121 ], [ %104, %102 ]
  %107 = phi i64 [ %125, %121 ], [ 0, %102 ]
  %108 = getelementptr inbounds nuw i8, ptr %106, i64 8
  %109 = load i64, ptr %108, align 8
  %110 = getelementptr inbounds nuw [19 x i64], ptr %5, i64 %107
  %111 = load i64, ptr %106, align 8
  %112 = getelementptr inbounds ptr, ptr %7, i64 %111
  %113 = load ptr, ptr %112, align 8
  %114 = ptrtoint ptr %113 to i64
  %115 = getelementptr inbounds nuw i8, ptr %110, i64 8
  store i64 %114, ptr %115, align 8
  store i64 %114, ptr %110, align 8
  %116 = getelementptr inbounds nuw i8, ptr %110, i64 16
  store i64 0, ptr %116, align 8
  %117 = icmp sgt i64 %109, 0
  br i1 %117, label %118, label %121

118:                                              ; preds = %105
  %119 = getelementptr i64, ptr %110, i64 %109
  %120 = getelementptr i8, ptr %119, i64 24
  br label %127

121:                                              ; preds = %136, %105
  %122 = getelementptr inbounds nuw ptr, ptr %6, i64 %107
  store ptr %110, ptr %122, align 8
  %123 = getelementptr i64, ptr %106, i64 %109
  %124 = getelementptr i8, ptr %123, i64 16
  %125 = add nuw nsw i64 %107, 1
  %126 = icmp eq i64 %125, %100
  br i1 %126, label %143, label %105, !llvm.loop !25

127:                                              ; preds = %136, %118
  %128 = phi i64 [ %109, %118 ], [ %130, %136 ]
  %129 = phi i64 [ 1, %118 ], [ %141, %136 ]
  %130 = add nsw i64 %128, -1
  %131 = getelementptr inbounds nuw i64, ptr %106, i64 %128
  %132 = getelementptr inbounds nuw i8, ptr %131, i64 8
  %133 = load i64, ptr %132, align 8
  switch i64 %133, label %135 [
    i64 -1, label %136
    i64 -2, label %134
  ]

134:                                              ; preds = %127
  br label %136

135:                                              ; preds = %127
  br label %136

136:                                              ; preds = %135, %134, %127
  %137 = phi i64 [ %133, %135 ], [ %98, %134 ], [ %89, %127 ]
  %138 = getelementptr inbounds nuw i64, ptr %110, i64 %128
  %139 = getelementptr inbounds nuw i8, ptr %138, i64 16
  store i64 %137, ptr %139, align 8
  %140 = getelementptr i64, ptr %120, i64 %130
  store i64 %129, ptr %140, align 8
  %141 = mul nsw i64 %137, %129
  %142 = icmp samesign ugt i64 %128, 1
  br i1 %142, label %127, label %121, !llvm.loop !26

143:                                              ; preds = %121, %94
  %144 = load ptr, ptr %97, align 8
  call void %144(ptr noundef nonnull %6) #9
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #7
  %145 = load ptr, ptr %31, align 8
  %146 = load ptr, ptr %23, align 8
  store ptr %146, ptr %31, align 8
  store ptr %145, ptr %23, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #7
  %147 = add nuw nsw i64 %77, 1
  %148 = load i64, ptr %18, align 8
  %149 = icmp slt i64 %147, %148
  br i1 %149, label %73, label %72, !llvm.loop !27

150:                                              ; preds = %90, %150
  %151 = phi i64 [ %76, %90 ], [ %155, %150 ]
  %152 = phi i64 [ 0, %90 ], [ %167, %150 ]
  %153 = shl nsw i64 %152, 4
  %154 = getelementptr inbounds nuw i8, ptr %92, i64 %153
  %155 = add nsw i64 %151, 1
  %156 = getelementptr inbounds ptr, ptr %93, i64 %151
  %157 = load ptr, ptr %156, align 8
  %158 = load i64, ptr %154, align 8
  %159 = mul nsw i64 %158, %3
  %160 = getelementptr inbounds nuw i8, ptr %154, i64 8
  %161 = load i64, ptr %160, align 8
  %162 = mul nsw i64 %159, %161
  %163 = mul nsw i64 %162, %89
  %164 = getelementptr inbounds i8, ptr %157, i64 %163
  %165 = getelementptr inbounds nuw ptr, ptr %7, i64 %152
  %166 = getelementptr inbounds nuw i8, ptr %165, i64 56
  store ptr %164, ptr %166, align 8
  %167 = add nuw nsw i64 %152, 1
  %168 = icmp eq i64 %167, %87
  br i1 %168, label %94, label %150, !llvm.loop !28
}

; Function Attrs: nounwind
define void @tir_llm_step(ptr noundef captures(none) %0, ptr noundef readonly captures(none) %1) local_unnamed_addr #2 {
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 24
  %5 = load i64, ptr %4, align 8
  %6 = icmp sgt i64 %5, 0
  br i1 %6, label %7, label %15

7:                                                ; preds = %2
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %11 = getelementptr inbounds nuw i8, ptr %3, i64 80
  %12 = getelementptr inbounds nuw i8, ptr %3, i64 112
  %13 = getelementptr inbounds nuw i8, ptr %3, i64 88
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 24
  br label %22

15:                                               ; preds = %22, %2
  %16 = phi i64 [ 0, %2 ], [ %29, %22 ]
  tail call fastcc void @reserve(ptr noundef nonnull %0, i64 noundef %16) #8
  %17 = load i64, ptr %4, align 8
  tail call fastcc void @through(ptr noundef nonnull %0, i32 noundef 1, i64 noundef %17, i64 noundef 0) #8
  %18 = load i64, ptr %4, align 8
  %19 = icmp sgt i64 %18, 0
  br i1 %19, label %20, label %49

20:                                               ; preds = %15
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 16
  br label %60

22:                                               ; preds = %7, %22
  %23 = phi i64 [ 0, %7 ], [ %46, %22 ]
  %24 = phi i64 [ 0, %7 ], [ %29, %22 ]
  %25 = load ptr, ptr %8, align 8
  %26 = getelementptr inbounds nuw i64, ptr %25, i64 %23
  %27 = load i64, ptr %26, align 8
  %28 = add nsw i64 %27, 1
  %29 = tail call noundef i64 @llvm.smax.i64(i64 %24, i64 %28)
  %30 = getelementptr inbounds nuw i64, ptr %1, i64 %23
  %31 = load i64, ptr %30, align 8
  %32 = load ptr, ptr %9, align 8
  %33 = load i64, ptr %10, align 8
  %34 = mul nsw i64 %33, %23
  %35 = getelementptr inbounds float, ptr %32, i64 %34
  %36 = load i64, ptr %11, align 8
  %37 = load ptr, ptr %12, align 8
  %38 = load i64, ptr %13, align 8
  %39 = mul nsw i64 %38, %31
  %40 = getelementptr inbounds i8, ptr %37, i64 %39
  tail call void @tir_llm_row(i64 noundef %36, ptr noundef %40, i64 noundef %33, ptr noundef %35) #8
  %41 = load ptr, ptr %8, align 8
  %42 = getelementptr inbounds nuw i64, ptr %41, i64 %23
  %43 = load i64, ptr %42, align 8
  %44 = load ptr, ptr %14, align 8
  %45 = getelementptr inbounds nuw i64, ptr %44, i64 %23
  store i64 %43, ptr %45, align 8
  %46 = add nuw nsw i64 %23, 1
  %47 = load i64, ptr %4, align 8
  %48 = icmp slt i64 %46, %47
  br i1 %48, label %22, label %15, !llvm.loop !29

49:                                               ; preds = %60, %15
  %50 = phi i64 [ %18, %15 ], [ %67, %60 ]
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %54 = load ptr, ptr %53, align 8
  %55 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %56 = load i64, ptr %55, align 8
  %57 = shl i64 %50, 2
  %58 = mul i64 %57, %56
  %59 = tail call ptr @memcpy(ptr noundef %52, ptr noundef %54, i64 noundef %58) #9
  ret void

60:                                               ; preds = %20, %60
  %61 = phi i64 [ 0, %20 ], [ %66, %60 ]
  %62 = load ptr, ptr %21, align 8
  %63 = getelementptr inbounds nuw i64, ptr %62, i64 %61
  %64 = load i64, ptr %63, align 8
  %65 = add nsw i64 %64, 1
  store i64 %65, ptr %63, align 8
  %66 = add nuw nsw i64 %61, 1
  %67 = load i64, ptr %4, align 8
  %68 = icmp slt i64 %66, %67
  br i1 %68, label %60, label %49, !llvm.loop !30
}

; Function Attrs: nounwind
define ptr @tir_llm_scores(ptr noundef readonly captures(none) %0) local_unnamed_addr #2 {
  %2 = alloca [24 x [19 x i64]], align 16
  %3 = alloca [24 x ptr], align 16
  %4 = alloca [24 x ptr], align 16
  %5 = load ptr, ptr %0, align 8
  %6 = getelementptr inbounds nuw i8, ptr %5, i64 56
  %7 = load i64, ptr %6, align 8
  %8 = icmp sgt i64 %7, 0
  br i1 %8, label %9, label %29

9:                                                ; preds = %1
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %13 = getelementptr inbounds nuw i8, ptr %4, i64 16
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %15 = getelementptr inbounds nuw i8, ptr %4, i64 24
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %17 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %19 = getelementptr inbounds nuw i8, ptr %5, i64 104
  %20 = getelementptr inbounds nuw i8, ptr %4, i64 40
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %22 = getelementptr inbounds nuw i8, ptr %4, i64 48
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %24 = getelementptr inbounds nuw i8, ptr %5, i64 72
  %25 = getelementptr inbounds nuw i8, ptr %5, i64 64
  %26 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %28 = getelementptr inbounds nuw i8, ptr %4, i64 48
  br label %32

29:                                               ; preds = %102, %1
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %31 = load ptr, ptr %30, align 8
  ret ptr %31

32:                                               ; preds = %9, %102
  %33 = phi i64 [ 0, %9 ], [ %103, %102 ]
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #7
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(144) %28, i8 0, i64 144, i1 false)
  %34 = load ptr, ptr %10, align 8
  store ptr %34, ptr %4, align 16
  %35 = load ptr, ptr %12, align 8
  store ptr %35, ptr %11, align 8
  %36 = load ptr, ptr %14, align 8
  store ptr %36, ptr %13, align 16
  %37 = load ptr, ptr %16, align 8
  store ptr %37, ptr %15, align 8
  %38 = load ptr, ptr %18, align 8
  store ptr %38, ptr %17, align 16
  %39 = load ptr, ptr %19, align 8
  %40 = getelementptr inbounds nuw %struct.tir_layer, ptr %39, i64 %33
  %41 = getelementptr inbounds nuw i8, ptr %40, i64 16
  %42 = load ptr, ptr %41, align 8
  store ptr %42, ptr %20, align 8
  %43 = load ptr, ptr %21, align 8
  store ptr %43, ptr %22, align 16
  %44 = load ptr, ptr %40, align 8
  %45 = load i64, ptr %23, align 8
  %46 = load i64, ptr %24, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %2) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #7
  %47 = getelementptr inbounds nuw i8, ptr %44, i64 8
  %48 = load i64, ptr %47, align 8
  %49 = icmp sgt i64 %48, 0
  br i1 %49, label %50, label %91

50:                                               ; preds = %32
  %51 = getelementptr inbounds nuw i8, ptr %44, i64 16
  %52 = load ptr, ptr %51, align 8
  br label %53

53:                                               ; preds = %69, %50
  %54 = phi ptr [ %72, %69 ], [ %52, %50 ]
  %55 = phi i64 [ %73, %69 ], [ 0, %50 ]
  %56 = getelementptr inbounds nuw i8, ptr %54, i64 8
  %57 = load i64, ptr %56, align 8
  %58 = getelementptr inbounds nuw [19 x i64], ptr %2, i64 %55
  %59 = load i64, ptr %54, align 8
  %60 = getelementptr inbounds ptr, ptr %4, i64 %59
  %61 = load ptr, ptr %60, align 8
  %62 = ptrtoint ptr %61 to i64
  %63 = getelementptr inbounds nuw i8, ptr %58, i64 8
  store i64 %62, ptr %63, align 8
  store i64 %62, ptr %58, align 8
  %64 = getelementptr inbounds nuw i8, ptr %58, i64 16
  store i64 0, ptr %64, align 8
  %65 = icmp sgt i64 %57, 0
  br i1 %65, label %66, label %69

66:                                               ; preds = %53
  %67 = getelementptr i64, ptr %58, i64 %57
  %68 = getelementptr i8, ptr %67, i64 24
  br label %75

69:                                               ; preds = %84, %53
  %70 = getelementptr inbounds nuw ptr, ptr %3, i64 %55
  store ptr %58, ptr %70, align 8
  %71 = getelementptr i64, ptr %54, i64 %57
  %72 = getelementptr i8, ptr %71, i64 16
  %73 = add nuw nsw i64 %55, 1
  %74 = icmp eq i64 %73, %48
  br i1 %74, label %91, label %53, !llvm.loop !25

75:                                               ; preds = %84, %66
  %76 = phi i64 [ %57, %66 ], [ %78, %84 ]
  %77 = phi i64 [ 1, %66 ], [ %89, %84 ]
  %78 = add nsw i64 %76, -1
  %79 = getelementptr inbounds nuw i64, ptr %54, i64 %76
  %80 = getelementptr inbounds nuw i8, ptr %79, i64 8
  %81 = load i64, ptr %80, align 8
  switch i64 %81, label %83 [
    i64 -1, label %84
    i64 -2, label %82
  ]

82:                                               ; preds = %75
  br label %84

83:                                               ; preds = %75
  br label %84

84:                                               ; preds = %83, %82, %75
  %85 = phi i64 [ %81, %83 ], [ %46, %82 ], [ %45, %75 ]
  %86 = getelementptr inbounds nuw i64, ptr %58, i64 %76
  %87 = getelementptr inbounds nuw i8, ptr %86, i64 16
  store i64 %85, ptr %87, align 8
  %88 = getelementptr i64, ptr %68, i64 %78
  store i64 %77, ptr %88, align 8
  %89 = mul nsw i64 %85, %77
  %90 = icmp samesign ugt i64 %76, 1
  br i1 %90, label %75, label %69, !llvm.loop !26

91:                                               ; preds = %69, %32
  %92 = load ptr, ptr %44, align 8
  call void %92(ptr noundef nonnull %3) #9
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %2) #7
  %93 = load i64, ptr %25, align 8
  %94 = mul nsw i64 %93, %33
  %95 = load i64, ptr %26, align 8
  %96 = icmp sgt i64 %95, 0
  br i1 %96, label %97, label %102

97:                                               ; preds = %91
  %98 = load i64, ptr %5, align 8
  %99 = sub nsw i64 %98, %94
  %100 = call i64 @llvm.smin.i64(i64 %99, i64 %93)
  %101 = shl nsw i64 %100, 2
  br label %106

102:                                              ; preds = %106, %91
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #7
  %103 = add nuw nsw i64 %33, 1
  %104 = load i64, ptr %6, align 8
  %105 = icmp slt i64 %103, %104
  br i1 %105, label %32, label %29, !llvm.loop !31

106:                                              ; preds = %97, %106
  %107 = phi i64 [ 0, %97 ], [ %118, %106 ]
  %108 = load ptr, ptr %27, align 8
  %109 = load i64, ptr %5, align 8
  %110 = mul nsw i64 %109, %107
  %111 = getelementptr inbounds float, ptr %108, i64 %110
  %112 = getelementptr inbounds float, ptr %111, i64 %94
  %113 = load ptr, ptr %18, align 8
  %114 = load i64, ptr %25, align 8
  %115 = mul nsw i64 %114, %107
  %116 = getelementptr inbounds float, ptr %113, i64 %115
  %117 = call ptr @memcpy(ptr noundef %112, ptr noundef %116, i64 noundef %101) #9
  %118 = add nuw nsw i64 %107, 1
  %119 = load i64, ptr %26, align 8
  %120 = icmp slt i64 %118, %119
  br i1 %120, label %106, label %102, !llvm.loop !32
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #4

; Function Attrs: nofree norecurse nosync nounwind memory(none)
define double @tir_llm_drawn(i64 noundef %0, i64 noundef %1, i64 noundef %2) local_unnamed_addr #5 {
  %4 = trunc i64 %1 to i32
  %5 = lshr i64 %1, 32
  %6 = trunc i64 %2 to i32
  %7 = lshr i64 %2, 32
  %8 = trunc i64 %0 to i32
  %9 = lshr i64 %0, 32
  %10 = trunc nuw i64 %9 to i32
  br label %19

11:                                               ; preds = %19
  %12 = zext i32 %34 to i64
  %13 = shl nuw i64 %12, 32
  %14 = and i64 %30, 4294965248
  %15 = or disjoint i64 %13, %14
  %16 = lshr exact i64 %15, 11
  %17 = uitofp nneg i64 %16 to double
  %18 = fmul double %17, 0x3CA0000000000000
  ret double %18

19:                                               ; preds = %3, %19
  %20 = phi i64 [ %7, %3 ], [ %28, %19 ]
  %21 = phi i32 [ %6, %3 ], [ %38, %19 ]
  %22 = phi i64 [ %5, %3 ], [ %30, %19 ]
  %23 = phi i32 [ %4, %3 ], [ %34, %19 ]
  %24 = phi i32 [ 0, %3 ], [ %41, %19 ]
  %25 = phi i32 [ %8, %3 ], [ %39, %19 ]
  %26 = phi i32 [ %10, %3 ], [ %40, %19 ]
  %27 = zext i32 %23 to i64
  %28 = mul nuw i64 %27, 3528531795
  %29 = zext i32 %21 to i64
  %30 = mul nuw i64 %29, 3449720151
  %31 = lshr i64 %30, 32
  %32 = xor i64 %31, %22
  %33 = trunc i64 %32 to i32
  %34 = xor i32 %25, %33
  %35 = lshr i64 %28, 32
  %36 = xor i64 %35, %20
  %37 = trunc i64 %36 to i32
  %38 = xor i32 %26, %37
  %39 = add i32 %25, -1640531527
  %40 = add i32 %26, -1150833019
  %41 = add nuw nsw i32 %24, 1
  %42 = icmp eq i32 %41, 10
  br i1 %42, label %11, label %19, !llvm.loop !33
}

; Function Attrs: nounwind
define i64 @tir_llm_token(ptr noundef readonly captures(none) %0, i64 noundef %1, ptr noundef readonly captures(none) %2, i64 noundef %3, i64 noundef %4, ptr noundef captures(none) %5, ptr noundef captures(none) %6) local_unnamed_addr #2 {
  %8 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %9 = load i64, ptr %8, align 8
  %10 = trunc i64 %3 to i32
  %11 = lshr i64 %3, 32
  %12 = trunc i64 %4 to i32
  %13 = lshr i64 %4, 32
  %14 = trunc i64 %9 to i32
  %15 = lshr i64 %9, 32
  %16 = trunc nuw i64 %15 to i32
  br label %17

17:                                               ; preds = %17, %7
  %18 = phi i64 [ %13, %7 ], [ %26, %17 ]
  %19 = phi i32 [ %12, %7 ], [ %36, %17 ]
  %20 = phi i64 [ %11, %7 ], [ %28, %17 ]
  %21 = phi i32 [ %10, %7 ], [ %32, %17 ]
  %22 = phi i32 [ 0, %7 ], [ %39, %17 ]
  %23 = phi i32 [ %14, %7 ], [ %37, %17 ]
  %24 = phi i32 [ %16, %7 ], [ %38, %17 ]
  %25 = zext i32 %21 to i64
  %26 = mul nuw i64 %25, 3528531795
  %27 = zext i32 %19 to i64
  %28 = mul nuw i64 %27, 3449720151
  %29 = lshr i64 %28, 32
  %30 = xor i64 %29, %20
  %31 = trunc i64 %30 to i32
  %32 = xor i32 %23, %31
  %33 = lshr i64 %26, 32
  %34 = xor i64 %33, %18
  %35 = trunc i64 %34 to i32
  %36 = xor i32 %24, %35
  %37 = add i32 %23, -1640531527
  %38 = add i32 %24, -1150833019
  %39 = add nuw nsw i32 %22, 1
  %40 = icmp eq i32 %39, 10
  br i1 %40, label %41, label %17, !llvm.loop !33

41:                                               ; preds = %17
  %42 = zext i32 %32 to i64
  %43 = shl nuw i64 %42, 32
  %44 = and i64 %28, 4294965248
  %45 = or disjoint i64 %43, %44
  %46 = lshr exact i64 %45, 11
  %47 = uitofp nneg i64 %46 to double
  %48 = fmul double %47, 0x3CA0000000000000
  %49 = icmp sgt i64 %1, 1
  br i1 %49, label %58, label %50

50:                                               ; preds = %58, %41
  %51 = phi i64 [ 0, %41 ], [ %66, %58 ]
  %52 = load double, ptr %2, align 8
  %53 = fcmp oeq double %52, 0.000000e+00
  br i1 %53, label %283, label %54

54:                                               ; preds = %50
  %55 = icmp sgt i64 %1, 0
  br i1 %55, label %56, label %69

56:                                               ; preds = %54
  %57 = getelementptr inbounds nuw float, ptr %0, i64 %51
  br label %80

58:                                               ; preds = %41, %58
  %59 = phi i64 [ %66, %58 ], [ 0, %41 ]
  %60 = phi i64 [ %67, %58 ], [ 1, %41 ]
  %61 = getelementptr inbounds nuw float, ptr %0, i64 %60
  %62 = load float, ptr %61, align 4
  %63 = getelementptr inbounds nuw float, ptr %0, i64 %59
  %64 = load float, ptr %63, align 4
  %65 = fcmp ogt float %62, %64
  %66 = select i1 %65, i64 %60, i64 %59
  %67 = add nuw nsw i64 %60, 1
  %68 = icmp eq i64 %67, %1
  br i1 %68, label %50, label %58, !llvm.loop !34

69:                                               ; preds = %80, %54
  %70 = phi double [ 0.000000e+00, %54 ], [ %93, %80 ]
  %71 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %72 = load i64, ptr %71, align 8
  %73 = icmp sgt i64 %72, 0
  %74 = icmp slt i64 %72, %1
  %75 = and i1 %73, %74
  %76 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %77 = load double, ptr %76, align 8
  %78 = fcmp olt double %77, 1.000000e+00
  %79 = select i1 %75, i1 true, i1 %78
  br i1 %79, label %96, label %260

80:                                               ; preds = %56, %80
  %81 = phi double [ 0.000000e+00, %56 ], [ %93, %80 ]
  %82 = phi i64 [ 0, %56 ], [ %94, %80 ]
  %83 = getelementptr inbounds nuw float, ptr %0, i64 %82
  %84 = load float, ptr %83, align 4
  %85 = fpext float %84 to double
  %86 = load float, ptr %57, align 4
  %87 = fpext float %86 to double
  %88 = fsub double %85, %87
  %89 = load double, ptr %2, align 8
  %90 = fdiv double %88, %89
  %91 = tail call double @exp(double noundef %90) #9
  %92 = getelementptr inbounds nuw double, ptr %6, i64 %82
  store double %91, ptr %92, align 8
  %93 = fadd double %81, %91
  %94 = add nuw nsw i64 %82, 1
  %95 = icmp eq i64 %94, %1
  br i1 %95, label %69, label %80, !llvm.loop !35

96:                                               ; preds = %69
  %97 = xor i1 %78, true
  %98 = select i1 %75, i1 true, i1 %97
  %99 = select i1 %75, i64 %72, i64 %1
  %100 = select i1 %98, double 2.000000e+00, double %77
  %101 = fmul double %70, %100
  br i1 %55, label %106, label %283

102:                                              ; preds = %106
  %103 = icmp eq i64 %1, 1
  br i1 %103, label %111, label %104

104:                                              ; preds = %102
  %105 = lshr i64 %1, 1
  br label %115

106:                                              ; preds = %96, %106
  %107 = phi i64 [ %109, %106 ], [ 0, %96 ]
  %108 = getelementptr inbounds nuw i64, ptr %5, i64 %107
  store i64 %107, ptr %108, align 8
  %109 = add nuw nsw i64 %107, 1
  %110 = icmp eq i64 %109, %1
  br i1 %110, label %102, label %106, !llvm.loop !36

111:                                              ; preds = %163, %102
  %112 = icmp sgt i64 %99, 0
  %113 = fcmp ogt double %101, 0.000000e+00
  %114 = and i1 %112, %113
  br i1 %114, label %165, label %283

115:                                              ; preds = %163, %104
  %116 = phi i64 [ %117, %163 ], [ %105, %104 ]
  %117 = add nsw i64 %116, -1
  %118 = shl nuw nsw i64 %117, 1
  %119 = or disjoint i64 %118, 1
  %120 = icmp slt i64 %119, %1
  br i1 %120, label %121, label %163

121:                                              ; preds = %115
  %122 = getelementptr inbounds nuw i64, ptr %5, i64 %117
  %123 = load i64, ptr %122, align 8
  %124 = getelementptr inbounds float, ptr %0, i64 %123
  br label %125

125:                                              ; preds = %159, %121
  %126 = phi i64 [ %148, %159 ], [ %117, %121 ]
  %127 = phi i64 [ %161, %159 ], [ %119, %121 ]
  %128 = phi i64 [ %160, %159 ], [ %118, %121 ]
  %129 = getelementptr inbounds nuw i64, ptr %5, i64 %126
  %130 = add nuw nsw i64 %128, 2
  %131 = icmp slt i64 %130, %1
  br i1 %131, label %132, label %147

132:                                              ; preds = %125
  %133 = getelementptr inbounds nuw i64, ptr %5, i64 %130
  %134 = load i64, ptr %133, align 8
  %135 = getelementptr inbounds nuw i64, ptr %5, i64 %127
  %136 = load i64, ptr %135, align 8
  %137 = getelementptr inbounds float, ptr %0, i64 %134
  %138 = load float, ptr %137, align 4
  %139 = getelementptr inbounds float, ptr %0, i64 %136
  %140 = load float, ptr %139, align 4
  %141 = fcmp ule float %138, %140
  %142 = fcmp une float %138, %140
  %143 = icmp sge i64 %134, %136
  %144 = or i1 %143, %142
  %145 = and i1 %141, %144
  %146 = select i1 %145, i64 %127, i64 %130
  br label %147

147:                                              ; preds = %132, %125
  %148 = phi i64 [ %127, %125 ], [ %146, %132 ]
  %149 = getelementptr inbounds nuw i64, ptr %5, i64 %148
  %150 = load i64, ptr %149, align 8
  %151 = getelementptr inbounds float, ptr %0, i64 %150
  %152 = load float, ptr %151, align 4
  %153 = load float, ptr %124, align 4
  %154 = fcmp ule float %152, %153
  %155 = fcmp une float %152, %153
  %156 = icmp sge i64 %150, %123
  %157 = or i1 %156, %155
  %158 = and i1 %154, %157
  br i1 %158, label %163, label %159

159:                                              ; preds = %147
  store i64 %150, ptr %129, align 8
  store i64 %123, ptr %149, align 8
  %160 = shl nuw nsw i64 %148, 1
  %161 = or disjoint i64 %160, 1
  %162 = icmp slt i64 %161, %1
  br i1 %162, label %125, label %163

163:                                              ; preds = %159, %147, %115
  %164 = icmp sgt i64 %116, 1
  br i1 %164, label %115, label %111, !llvm.loop !37

165:                                              ; preds = %111, %214
  %166 = phi i64 [ %169, %214 ], [ %1, %111 ]
  %167 = phi double [ %217, %214 ], [ 0.000000e+00, %111 ]
  %168 = load i64, ptr %5, align 8
  %169 = add nsw i64 %166, -1
  %170 = getelementptr inbounds nuw i64, ptr %5, i64 %169
  %171 = load i64, ptr %170, align 8
  store i64 %171, ptr %5, align 8
  store i64 %168, ptr %170, align 8
  %172 = icmp samesign ugt i64 %166, 2
  br i1 %172, label %173, label %214

173:                                              ; preds = %165
  %174 = load i64, ptr %5, align 8
  %175 = getelementptr inbounds float, ptr %0, i64 %174
  br label %176

176:                                              ; preds = %210, %173
  %177 = phi i64 [ %199, %210 ], [ 0, %173 ]
  %178 = phi i64 [ %212, %210 ], [ 1, %173 ]
  %179 = phi i64 [ %211, %210 ], [ 0, %173 ]
  %180 = getelementptr inbounds nuw i64, ptr %5, i64 %177
  %181 = add nuw nsw i64 %179, 2
  %182 = icmp slt i64 %181, %169
  br i1 %182, label %183, label %198

183:                                              ; preds = %176
  %184 = getelementptr inbounds nuw i64, ptr %5, i64 %181
  %185 = load i64, ptr %184, align 8
  %186 = getelementptr inbounds nuw i64, ptr %5, i64 %178
  %187 = load i64, ptr %186, align 8
  %188 = getelementptr inbounds float, ptr %0, i64 %185
  %189 = load float, ptr %188, align 4
  %190 = getelementptr inbounds float, ptr %0, i64 %187
  %191 = load float, ptr %190, align 4
  %192 = fcmp ule float %189, %191
  %193 = fcmp une float %189, %191
  %194 = icmp sge i64 %185, %187
  %195 = or i1 %194, %193
  %196 = and i1 %192, %195
  %197 = select i1 %196, i64 %178, i64 %181
  br label %198

198:                                              ; preds = %183, %176
  %199 = phi i64 [ %178, %176 ], [ %197, %183 ]
  %200 = getelementptr inbounds nuw i64, ptr %5, i64 %199
  %201 = load i64, ptr %200, align 8
  %202 = getelementptr inbounds float, ptr %0, i64 %201
  %203 = load float, ptr %202, align 4
  %204 = load float, ptr %175, align 4
  %205 = fcmp ule float %203, %204
  %206 = fcmp une float %203, %204
  %207 = icmp sge i64 %201, %174
  %208 = or i1 %207, %206
  %209 = and i1 %205, %208
  br i1 %209, label %214, label %210

210:                                              ; preds = %198
  store i64 %201, ptr %180, align 8
  store i64 %174, ptr %200, align 8
  %211 = shl nuw nsw i64 %199, 1
  %212 = or disjoint i64 %211, 1
  %213 = icmp slt i64 %212, %169
  br i1 %213, label %176, label %214

214:                                              ; preds = %210, %198, %165
  %215 = getelementptr inbounds double, ptr %6, i64 %168
  %216 = load double, ptr %215, align 8
  %217 = fadd double %167, %216
  %218 = icmp sgt i64 %166, 1
  %219 = sub nsw i64 %1, %169
  %220 = icmp slt i64 %219, %99
  %221 = select i1 %218, i1 %220, i1 false
  %222 = fcmp olt double %217, %101
  %223 = select i1 %221, i1 %222, i1 false
  br i1 %223, label %165, label %224, !llvm.loop !38

224:                                              ; preds = %214
  %225 = icmp sgt i64 %219, 0
  br i1 %225, label %226, label %228

226:                                              ; preds = %224
  %227 = getelementptr i64, ptr %5, i64 %1
  br label %236

228:                                              ; preds = %236, %224
  %229 = phi double [ 0.000000e+00, %224 ], [ %244, %236 ]
  %230 = select i1 %75, i1 %78, i1 false
  br i1 %230, label %231, label %260

231:                                              ; preds = %228
  br i1 %225, label %232, label %283

232:                                              ; preds = %231
  %233 = load double, ptr %76, align 8
  %234 = fmul double %229, %233
  %235 = getelementptr i64, ptr %5, i64 %1
  br label %247

236:                                              ; preds = %226, %236
  %237 = phi i64 [ 0, %226 ], [ %245, %236 ]
  %238 = phi double [ 0.000000e+00, %226 ], [ %244, %236 ]
  %239 = xor i64 %237, -1
  %240 = getelementptr i64, ptr %227, i64 %239
  %241 = load i64, ptr %240, align 8
  %242 = getelementptr inbounds double, ptr %6, i64 %241
  %243 = load double, ptr %242, align 8
  %244 = fadd double %238, %243
  %245 = add nuw nsw i64 %237, 1
  %246 = icmp eq i64 %245, %219
  br i1 %246, label %228, label %236, !llvm.loop !39

247:                                              ; preds = %232, %251
  %248 = phi i64 [ 0, %232 ], [ %252, %251 ]
  %249 = phi double [ 0.000000e+00, %232 ], [ %258, %251 ]
  %250 = fcmp olt double %249, %234
  br i1 %250, label %251, label %260

251:                                              ; preds = %247
  %252 = add nuw nsw i64 %248, 1
  %253 = xor i64 %248, -1
  %254 = getelementptr i64, ptr %235, i64 %253
  %255 = load i64, ptr %254, align 8
  %256 = getelementptr inbounds double, ptr %6, i64 %255
  %257 = load double, ptr %256, align 8
  %258 = fadd double %249, %257
  %259 = icmp eq i64 %252, %219
  br i1 %259, label %260, label %247, !llvm.loop !40

260:                                              ; preds = %251, %247, %228, %69
  %261 = phi double [ %70, %69 ], [ %229, %228 ], [ %249, %247 ], [ %258, %251 ]
  %262 = phi i64 [ %1, %69 ], [ %219, %228 ], [ %248, %247 ], [ %219, %251 ]
  %263 = icmp sgt i64 %262, 0
  br i1 %263, label %264, label %283

264:                                              ; preds = %260
  %265 = getelementptr i64, ptr %5, i64 %1
  %266 = fmul double %48, %261
  br label %267

267:                                              ; preds = %274, %264
  %268 = phi i64 [ 0, %264 ], [ %280, %274 ]
  %269 = phi double [ 0.000000e+00, %264 ], [ %278, %274 ]
  br i1 %79, label %270, label %274

270:                                              ; preds = %267
  %271 = xor i64 %268, -1
  %272 = getelementptr i64, ptr %265, i64 %271
  %273 = load i64, ptr %272, align 8
  br label %274

274:                                              ; preds = %267, %270
  %275 = phi i64 [ %273, %270 ], [ %268, %267 ]
  %276 = getelementptr inbounds double, ptr %6, i64 %275
  %277 = load double, ptr %276, align 8
  %278 = fadd double %269, %277
  %279 = fcmp ogt double %278, %266
  %280 = add nuw nsw i64 %268, 1
  %281 = icmp eq i64 %280, %262
  %282 = select i1 %279, i1 true, i1 %281
  br i1 %282, label %283, label %267, !llvm.loop !41

283:                                              ; preds = %274, %111, %96, %231, %260, %50
  %284 = phi i64 [ %51, %50 ], [ %51, %260 ], [ %51, %231 ], [ %51, %111 ], [ %51, %96 ], [ %275, %274 ]
  ret i64 %284
}

declare double @exp(double noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define void @tir_llm_next(ptr noundef captures(none) %0, ptr noundef readonly captures(none) %1, i64 noundef %2, ptr noundef captures(none) %3) local_unnamed_addr #2 {
  %5 = load ptr, ptr %0, align 8
  %6 = icmp eq i64 %2, 0
  br i1 %6, label %8, label %7

7:                                                ; preds = %4
  tail call void @tir_llm_step(ptr noundef nonnull %0, ptr noundef %3) #8
  br label %8

8:                                                ; preds = %7, %4
  %9 = tail call ptr @tir_llm_scores(ptr noundef nonnull %0) #8
  %10 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %11 = load i64, ptr %10, align 8
  %12 = icmp sgt i64 %11, 0
  br i1 %12, label %13, label %16

13:                                               ; preds = %8
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 96
  br label %17

16:                                               ; preds = %17, %8
  ret void

17:                                               ; preds = %13, %17
  %18 = phi i64 [ 0, %13 ], [ %26, %17 ]
  %19 = load i64, ptr %5, align 8
  %20 = mul nsw i64 %19, %18
  %21 = getelementptr inbounds float, ptr %9, i64 %20
  %22 = load ptr, ptr %14, align 8
  %23 = load ptr, ptr %15, align 8
  %24 = tail call i64 @tir_llm_token(ptr noundef %21, i64 noundef %19, ptr noundef %1, i64 noundef %2, i64 noundef %18, ptr noundef %22, ptr noundef %23) #8
  %25 = getelementptr inbounds nuw i64, ptr %3, i64 %18
  store i64 %24, ptr %25, align 8
  %26 = add nuw nsw i64 %18, 1
  %27 = load i64, ptr %10, align 8
  %28 = icmp slt i64 %26, %27
  br i1 %28, label %17, label %16, !llvm.loop !42
}

declare ptr @memmove(ptr noundef, ptr noundef, i64 noundef) local_unnamed_addr #3

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #6

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smin.i64(i64, i64) #6

attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nounwind "no-builtins" "no-trapping-math"="true" }
attributes #3 = { "no-builtins" "no-trapping-math"="true" }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #5 = { nofree norecurse nosync nounwind memory(none) "no-builtins" "no-trapping-math"="true" }
attributes #6 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #7 = { nounwind }
attributes #8 = { nobuiltin "no-builtins" }
attributes #9 = { nobuiltin nounwind "no-builtins" }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 7, !"Dwarf Version", i32 4}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 8, !"PIC Level", i32 2}
!3 = !{i32 7, !"frame-pointer", i32 2}
!4 = !{!"clang version 22.1.8"}
!5 = distinct !{!5, !6, !7}
!6 = !{!"llvm.loop.mustprogress"}
!7 = !{!"llvm.loop.unroll.disable"}
!8 = distinct !{!8, !6, !7}
!9 = distinct !{!9, !6, !7}
!10 = distinct !{!10, !6, !7}
!11 = distinct !{!11, !6, !7}
!12 = distinct !{!12, !6, !7}
!13 = distinct !{!13, !6, !7}
!14 = distinct !{!14, !6, !7}
!15 = distinct !{!15, !6, !7}
!16 = distinct !{!16, !6, !7}
!17 = distinct !{!17, !6, !7}
!18 = distinct !{!18, !6, !7}
!19 = distinct !{!19, !6, !7}
!20 = distinct !{!20, !6, !7}
!21 = distinct !{!21, !6, !7}
!22 = distinct !{!22, !6, !7}
!23 = distinct !{!23, !6, !7}
!24 = distinct !{!24, !6, !7}
!25 = distinct !{!25, !6, !7}
!26 = distinct !{!26, !6, !7}
!27 = distinct !{!27, !6, !7}
!28 = distinct !{!28, !6, !7}
!29 = distinct !{!29, !6, !7}
!30 = distinct !{!30, !6, !7}
!31 = distinct !{!31, !6, !7}
!32 = distinct !{!32, !6, !7}
!33 = distinct !{!33, !6, !7}
!34 = distinct !{!34, !6, !7}
!35 = distinct !{!35, !6, !7}
!36 = distinct !{!36, !6, !7}
!37 = distinct !{!37, !6, !7}
!38 = distinct !{!38, !6, !7}
!39 = distinct !{!39, !6, !7}
!40 = distinct !{!40, !6, !7}
!41 = distinct !{!41, !6, !7}
!42 = distinct !{!42, !6, !7}
