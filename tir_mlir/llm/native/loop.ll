
%struct.tir_llm_state = type { ptr, i64, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
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
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %14 = load ptr, ptr %13, align 8
  br label %185

15:                                               ; preds = %185
  %16 = shl nsw i64 %191, 3
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
  %25 = getelementptr inbounds nuw i8, ptr %1, i64 192
  %26 = select i1 %21, ptr null, ptr %25
  %27 = add nsw i64 %24, 63
  %28 = sdiv i64 %27, 64
  %29 = shl nsw i64 %28, 6
  %30 = getelementptr inbounds nuw i8, ptr %2, i64 16
  store ptr %26, ptr %30, align 8
  %31 = load i64, ptr %4, align 8
  %32 = shl nsw i64 %31, 3
  %33 = getelementptr i8, ptr %1, i64 %29
  %34 = getelementptr i8, ptr %33, i64 192
  %35 = select i1 %21, ptr null, ptr %34
  %36 = add nsw i64 %32, 63
  %37 = sdiv i64 %36, 64
  %38 = add nsw i64 %37, %28
  %39 = shl i64 %38, 6
  %40 = getelementptr inbounds nuw i8, ptr %2, i64 24
  store ptr %35, ptr %40, align 8
  %41 = load i64, ptr %4, align 8
  %42 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %43 = load i64, ptr %42, align 8
  %44 = shl i64 %41, 3
  %45 = mul i64 %44, %43
  %46 = getelementptr i8, ptr %1, i64 %39
  %47 = getelementptr i8, ptr %46, i64 192
  %48 = select i1 %21, ptr null, ptr %47
  %49 = add nsw i64 %45, 63
  %50 = sdiv i64 %49, 64
  %51 = add nsw i64 %50, %38
  %52 = shl i64 %51, 6
  %53 = getelementptr inbounds nuw i8, ptr %2, i64 32
  store ptr %48, ptr %53, align 8
  %54 = shl nsw i64 %8, 3
  %55 = getelementptr i8, ptr %1, i64 %52
  %56 = getelementptr i8, ptr %55, i64 192
  %57 = select i1 %21, ptr null, ptr %56
  %58 = add nsw i64 %54, 63
  %59 = sdiv i64 %58, 64
  %60 = add nsw i64 %51, %59
  %61 = shl i64 %60, 6
  %62 = getelementptr inbounds nuw i8, ptr %2, i64 40
  store ptr %57, ptr %62, align 8
  %63 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %64 = load i64, ptr %63, align 8
  %65 = shl i64 %8, 2
  %66 = mul i64 %65, %64
  %67 = getelementptr i8, ptr %1, i64 %61
  %68 = getelementptr i8, ptr %67, i64 192
  %69 = select i1 %21, ptr null, ptr %68
  %70 = add nsw i64 %66, 63
  %71 = sdiv i64 %70, 64
  %72 = add nsw i64 %71, %60
  %73 = shl i64 %72, 6
  %74 = getelementptr inbounds nuw i8, ptr %2, i64 56
  store ptr %69, ptr %74, align 8
  %75 = load i64, ptr %63, align 8
  %76 = mul i64 %65, %75
  %77 = getelementptr i8, ptr %1, i64 %73
  %78 = getelementptr i8, ptr %77, i64 192
  %79 = select i1 %21, ptr null, ptr %78
  %80 = add nsw i64 %76, 63
  %81 = sdiv i64 %80, 64
  %82 = add nsw i64 %81, %72
  %83 = shl i64 %82, 6
  %84 = getelementptr inbounds nuw i8, ptr %2, i64 64
  store ptr %79, ptr %84, align 8
  %85 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %86 = load i64, ptr %85, align 8
  %87 = mul i64 %65, %86
  %88 = getelementptr i8, ptr %1, i64 %83
  %89 = getelementptr i8, ptr %88, i64 192
  %90 = select i1 %21, ptr null, ptr %89
  %91 = add nsw i64 %87, 63
  %92 = sdiv i64 %91, 64
  %93 = add nsw i64 %92, %82
  %94 = shl i64 %93, 6
  %95 = getelementptr inbounds nuw i8, ptr %2, i64 72
  store ptr %90, ptr %95, align 8
  %96 = load i64, ptr %85, align 8
  %97 = mul i64 %65, %96
  %98 = getelementptr i8, ptr %1, i64 %94
  %99 = getelementptr i8, ptr %98, i64 192
  %100 = select i1 %21, ptr null, ptr %99
  %101 = add nsw i64 %97, 63
  %102 = sdiv i64 %101, 64
  %103 = add nsw i64 %102, %93
  %104 = shl i64 %103, 6
  %105 = getelementptr inbounds nuw i8, ptr %2, i64 80
  store ptr %100, ptr %105, align 8
  %106 = load i64, ptr %4, align 8
  %107 = load i64, ptr %63, align 8
  %108 = shl i64 %106, 2
  %109 = mul i64 %108, %107
  %110 = getelementptr i8, ptr %1, i64 %104
  %111 = getelementptr i8, ptr %110, i64 192
  %112 = select i1 %21, ptr null, ptr %111
  %113 = add nsw i64 %109, 63
  %114 = sdiv i64 %113, 64
  %115 = add nsw i64 %114, %103
  %116 = shl i64 %115, 6
  %117 = getelementptr inbounds nuw i8, ptr %2, i64 88
  store ptr %112, ptr %117, align 8
  %118 = load i64, ptr %4, align 8
  %119 = load i64, ptr %0, align 8
  %120 = shl i64 %118, 2
  %121 = mul i64 %120, %119
  %122 = getelementptr i8, ptr %1, i64 %116
  %123 = getelementptr i8, ptr %122, i64 192
  %124 = select i1 %21, ptr null, ptr %123
  %125 = add nsw i64 %121, 63
  %126 = sdiv i64 %125, 64
  %127 = add nsw i64 %126, %115
  %128 = shl i64 %127, 6
  %129 = getelementptr inbounds nuw i8, ptr %2, i64 96
  store ptr %124, ptr %129, align 8
  %130 = load i64, ptr %4, align 8
  %131 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %132 = load i64, ptr %131, align 8
  %133 = shl i64 %130, 2
  %134 = mul i64 %133, %132
  %135 = getelementptr i8, ptr %1, i64 %128
  %136 = getelementptr i8, ptr %135, i64 192
  %137 = select i1 %21, ptr null, ptr %136
  %138 = add nsw i64 %134, 63
  %139 = sdiv i64 %138, 64
  %140 = add nsw i64 %139, %127
  %141 = shl i64 %140, 6
  %142 = getelementptr inbounds nuw i8, ptr %2, i64 104
  store ptr %137, ptr %142, align 8
  %143 = load i64, ptr %0, align 8
  %144 = shl nsw i64 %143, 3
  %145 = getelementptr i8, ptr %1, i64 %141
  %146 = getelementptr i8, ptr %145, i64 192
  %147 = select i1 %21, ptr null, ptr %146
  %148 = add nsw i64 %144, 63
  %149 = sdiv i64 %148, 64
  %150 = add nsw i64 %149, %140
  %151 = shl i64 %150, 6
  %152 = getelementptr inbounds nuw i8, ptr %2, i64 48
  store ptr %147, ptr %152, align 8
  %153 = load i64, ptr %0, align 8
  %154 = shl nsw i64 %153, 3
  %155 = getelementptr i8, ptr %1, i64 %151
  %156 = getelementptr i8, ptr %155, i64 192
  %157 = select i1 %21, ptr null, ptr %156
  %158 = add nsw i64 %154, 63
  %159 = sdiv i64 %158, 64
  %160 = add nsw i64 %159, %150
  %161 = shl i64 %160, 6
  %162 = getelementptr inbounds nuw i8, ptr %2, i64 112
  store ptr %157, ptr %162, align 8
  %163 = getelementptr i8, ptr %1, i64 %161
  %164 = getelementptr i8, ptr %163, i64 192
  %165 = select i1 %21, ptr null, ptr %164
  %166 = add nsw i64 %160, %20
  %167 = shl i64 %166, 6
  %168 = getelementptr inbounds nuw i8, ptr %2, i64 128
  store ptr %165, ptr %168, align 8
  %169 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %170 = load i64, ptr %169, align 8
  %171 = getelementptr i8, ptr %1, i64 %167
  %172 = getelementptr i8, ptr %171, i64 192
  %173 = select i1 %21, ptr null, ptr %172
  %174 = add nsw i64 %170, 63
  %175 = sdiv i64 %174, 64
  %176 = add nsw i64 %166, %175
  %177 = shl i64 %176, 6
  %178 = add i64 %177, 192
  %179 = getelementptr inbounds nuw i8, ptr %2, i64 120
  store ptr %173, ptr %179, align 8
  %180 = load i64, ptr %9, align 8
  %181 = icmp sgt i64 %180, 0
  br i1 %181, label %182, label %205

182:                                              ; preds = %19
  %183 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %184 = load ptr, ptr %183, align 8
  br label %194

185:                                              ; preds = %12, %185
  %186 = phi i64 [ 0, %12 ], [ %191, %185 ]
  %187 = phi i64 [ 0, %12 ], [ %192, %185 ]
  %188 = getelementptr inbounds nuw %struct.tir_layer, ptr %14, i64 %187
  %189 = getelementptr inbounds nuw i8, ptr %188, i64 32
  %190 = load i64, ptr %189, align 8
  %191 = add nsw i64 %190, %186
  %192 = add nuw nsw i64 %187, 1
  %193 = icmp eq i64 %192, %10
  br i1 %193, label %15, label %185, !llvm.loop !5

194:                                              ; preds = %182, %209
  %195 = phi i64 [ %180, %182 ], [ %210, %209 ]
  %196 = phi ptr [ %184, %182 ], [ %211, %209 ]
  %197 = phi ptr [ %184, %182 ], [ %212, %209 ]
  %198 = phi i64 [ 0, %182 ], [ %214, %209 ]
  %199 = phi i64 [ 0, %182 ], [ %215, %209 ]
  %200 = phi i64 [ %178, %182 ], [ %213, %209 ]
  %201 = getelementptr inbounds nuw %struct.tir_layer, ptr %197, i64 %199
  %202 = getelementptr inbounds nuw i8, ptr %201, i64 32
  %203 = load i64, ptr %202, align 8
  %204 = icmp sgt i64 %203, 0
  br i1 %204, label %217, label %209

205:                                              ; preds = %209, %19
  %206 = phi i64 [ %178, %19 ], [ %213, %209 ]
  ret i64 %206

207:                                              ; preds = %251
  %208 = load i64, ptr %9, align 8
  br label %209

209:                                              ; preds = %207, %194
  %210 = phi i64 [ %195, %194 ], [ %208, %207 ]
  %211 = phi ptr [ %196, %194 ], [ %252, %207 ]
  %212 = phi ptr [ %197, %194 ], [ %252, %207 ]
  %213 = phi i64 [ %200, %194 ], [ %244, %207 ]
  %214 = phi i64 [ %198, %194 ], [ %253, %207 ]
  %215 = add nuw nsw i64 %199, 1
  %216 = icmp slt i64 %215, %210
  br i1 %216, label %194, label %205, !llvm.loop !8

217:                                              ; preds = %194, %251
  %218 = phi ptr [ %252, %251 ], [ %196, %194 ]
  %219 = phi ptr [ %252, %251 ], [ %197, %194 ]
  %220 = phi i64 [ %253, %251 ], [ %198, %194 ]
  %221 = phi i64 [ %254, %251 ], [ 0, %194 ]
  %222 = phi i64 [ %244, %251 ], [ %200, %194 ]
  %223 = getelementptr inbounds nuw %struct.tir_layer, ptr %219, i64 %199
  %224 = getelementptr inbounds nuw i8, ptr %223, i64 40
  %225 = load ptr, ptr %224, align 8
  %226 = shl nsw i64 %221, 4
  %227 = getelementptr inbounds nuw i8, ptr %225, i64 %226
  %228 = load i64, ptr %4, align 8
  %229 = load i64, ptr %227, align 8
  %230 = getelementptr inbounds nuw i8, ptr %227, i64 8
  %231 = load i64, ptr %230, align 8
  %232 = load i64, ptr %42, align 8
  %233 = load i64, ptr %6, align 8
  %234 = add i64 %232, 127
  %235 = add i64 %234, %233
  %236 = sdiv i64 %235, 128
  %237 = shl i64 %228, 7
  %238 = mul i64 %237, %229
  %239 = mul i64 %238, %231
  %240 = mul i64 %239, %236
  %241 = or disjoint i64 %240, 63
  %242 = sdiv i64 %241, 64
  %243 = shl nsw i64 %242, 6
  %244 = add nsw i64 %243, %222
  br i1 %21, label %251, label %245

245:                                              ; preds = %217
  %246 = getelementptr inbounds i8, ptr %1, i64 %222
  %247 = load ptr, ptr %168, align 8
  %248 = add nsw i64 %220, 1
  %249 = getelementptr inbounds ptr, ptr %247, i64 %220
  store ptr %246, ptr %249, align 8
  %250 = load ptr, ptr %183, align 8
  br label %251

251:                                              ; preds = %245, %217
  %252 = phi ptr [ %250, %245 ], [ %218, %217 ]
  %253 = phi i64 [ %248, %245 ], [ %220, %217 ]
  %254 = add nuw nsw i64 %221, 1
  %255 = getelementptr inbounds nuw %struct.tir_layer, ptr %252, i64 %199
  %256 = getelementptr inbounds nuw i8, ptr %255, i64 32
  %257 = load i64, ptr %256, align 8
  %258 = icmp slt i64 %254, %257
  br i1 %258, label %217, label %207, !llvm.loop !9
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
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %11 = load ptr, ptr %10, align 8
  %12 = load ptr, ptr %0, align 8
  %13 = getelementptr inbounds nuw i8, ptr %12, i64 24
  %14 = load i64, ptr %13, align 8
  %15 = shl nsw i64 %14, 3
  %16 = tail call ptr @memset(ptr noundef %11, i32 noundef 0, i64 noundef %15) #9
  ret void
}

declare ptr @memset(ptr noundef, i32 noundef, i64 noundef) local_unnamed_addr #3

; Function Attrs: nounwind
define noundef ptr @tir_llm_start(ptr noundef %0, ptr noundef returned %1) local_unnamed_addr #2 {
  %3 = tail call fastcc i64 @divided(ptr noundef %0, ptr noundef %1, ptr noundef %1) #8
  %4 = getelementptr inbounds nuw i8, ptr %1, i64 88
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
  %21 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %22 = load ptr, ptr %21, align 8
  %23 = load ptr, ptr %1, align 8
  %24 = getelementptr inbounds nuw i8, ptr %23, i64 24
  %25 = load i64, ptr %24, align 8
  %26 = shl nsw i64 %25, 3
  %27 = tail call ptr @memset(ptr noundef %22, i32 noundef 0, i64 noundef %26) #9
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
define void @tir_llm_prompt(ptr noundef captures(none) %0, i64 noundef %1, ptr noundef readonly captures(none) %2, i64 noundef %3, i64 noundef %4) local_unnamed_addr #2 {
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds i64, ptr %7, i64 %1
  %9 = load i64, ptr %8, align 8
  %10 = load ptr, ptr %0, align 8
  %11 = getelementptr inbounds nuw i8, ptr %10, i64 96
  %12 = load i64, ptr %11, align 8
  %13 = icmp sgt i64 %12, -1
  %14 = icmp sgt i64 %4, %12
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %16 = load ptr, ptr %15, align 8
  %17 = getelementptr inbounds i64, ptr %16, i64 %1
  %18 = load i64, ptr %17, align 8
  %19 = icmp sgt i64 %18, %12
  %20 = xor i1 %14, %19
  %21 = and i1 %13, %20
  store i64 %4, ptr %17, align 8
  %22 = icmp ne i64 %9, 0
  %23 = select i1 %22, i1 %21, i1 false
  br i1 %23, label %24, label %39

24:                                               ; preds = %5
  %25 = load ptr, ptr %0, align 8
  %26 = getelementptr inbounds nuw i8, ptr %25, i64 160
  %27 = load ptr, ptr %26, align 8
  %28 = icmp eq ptr %27, null
  br i1 %28, label %29, label %39

29:                                               ; preds = %24
  %30 = load ptr, ptr %6, align 8
  %31 = getelementptr inbounds i64, ptr %30, i64 %1
  store i64 0, ptr %31, align 8
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %33 = load ptr, ptr %32, align 8
  %34 = load ptr, ptr %0, align 8
  %35 = getelementptr inbounds nuw i8, ptr %34, i64 8
  %36 = load i64, ptr %35, align 8
  %37 = mul nsw i64 %36, %1
  %38 = getelementptr inbounds i64, ptr %33, i64 %37
  tail call fastcc void @take(ptr noundef nonnull %0, i64 noundef %1, ptr noundef %38, i64 noundef %9) #8
  br label %39

39:                                               ; preds = %5, %24, %29
  tail call fastcc void @take(ptr noundef nonnull %0, i64 noundef %1, ptr noundef %2, i64 noundef %3) #8
  ret void
}

; Function Attrs: nounwind
define internal fastcc void @take(ptr noundef captures(none) %0, i64 noundef %1, ptr noundef readonly captures(none) %2, i64 noundef %3) unnamed_addr #2 {
  %5 = icmp sgt i64 %3, 0
  br i1 %5, label %6, label %22

6:                                                ; preds = %4
  %7 = load ptr, ptr %0, align 8
  %8 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %10 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %12 = getelementptr inbounds nuw i8, ptr %7, i64 32
  %13 = getelementptr inbounds nuw i8, ptr %7, i64 80
  %14 = getelementptr inbounds nuw i8, ptr %7, i64 120
  %15 = getelementptr inbounds nuw i8, ptr %7, i64 88
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %17 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %21 = load i64, ptr %8, align 8
  br label %23

22:                                               ; preds = %73, %4
  ret void

23:                                               ; preds = %6, %73
  %24 = phi i64 [ %21, %6 ], [ %88, %73 ]
  %25 = phi i64 [ 0, %6 ], [ %89, %73 ]
  %26 = sub nsw i64 %3, %25
  %27 = tail call i64 @llvm.smin.i64(i64 %26, i64 %24)
  %28 = load ptr, ptr %9, align 8
  %29 = getelementptr inbounds i64, ptr %28, i64 %1
  %30 = load i64, ptr %29, align 8
  %31 = icmp eq i64 %27, 1
  br i1 %31, label %32, label %37

32:                                               ; preds = %23
  %33 = load i64, ptr %10, align 8
  %34 = icmp eq i64 %33, 1
  %35 = zext i1 %34 to i32
  %36 = select i1 %34, i64 1, i64 %24
  br label %37

37:                                               ; preds = %32, %23
  %38 = phi i32 [ %35, %32 ], [ 0, %23 ]
  %39 = phi i64 [ %36, %32 ], [ %24, %23 ]
  %40 = add nsw i64 %39, %30
  tail call fastcc void @reserve(ptr noundef nonnull %0, i64 noundef %40) #8
  %41 = load ptr, ptr %11, align 8
  %42 = load i64, ptr %12, align 8
  %43 = shl i64 %39, 2
  %44 = mul i64 %43, %42
  %45 = tail call ptr @memset(ptr noundef %41, i32 noundef 0, i64 noundef %44) #9
  %46 = icmp sgt i64 %27, 0
  br i1 %46, label %47, label %49

47:                                               ; preds = %37
  %48 = getelementptr i64, ptr %2, i64 %25
  br label %51

49:                                               ; preds = %51, %37
  %50 = icmp sgt i64 %39, 0
  br i1 %50, label %91, label %73

51:                                               ; preds = %47, %51
  %52 = phi i64 [ 0, %47 ], [ %71, %51 ]
  %53 = getelementptr i64, ptr %48, i64 %52
  %54 = load i64, ptr %53, align 8
  %55 = load ptr, ptr %11, align 8
  %56 = load i64, ptr %12, align 8
  %57 = mul nsw i64 %56, %52
  %58 = getelementptr inbounds float, ptr %55, i64 %57
  %59 = load i64, ptr %13, align 8
  %60 = load ptr, ptr %14, align 8
  %61 = load i64, ptr %15, align 8
  %62 = mul nsw i64 %61, %54
  %63 = getelementptr inbounds i8, ptr %60, i64 %62
  tail call void @tir_llm_row(i64 noundef %59, ptr noundef %63, i64 noundef %56, ptr noundef %58) #8
  %64 = load i64, ptr %53, align 8
  %65 = load ptr, ptr %16, align 8
  %66 = load i64, ptr %17, align 8
  %67 = mul nsw i64 %66, %1
  %68 = getelementptr i64, ptr %65, i64 %67
  %69 = getelementptr i64, ptr %68, i64 %30
  %70 = getelementptr i64, ptr %69, i64 %52
  store i64 %64, ptr %70, align 8
  %71 = add nuw nsw i64 %52, 1
  %72 = icmp eq i64 %71, %27
  br i1 %72, label %49, label %51, !llvm.loop !18

73:                                               ; preds = %91, %49
  tail call fastcc void @through(ptr noundef nonnull %0, i32 noundef %38, i64 noundef %1) #8
  %74 = load ptr, ptr %9, align 8
  %75 = getelementptr inbounds i64, ptr %74, i64 %1
  %76 = load i64, ptr %75, align 8
  %77 = add nsw i64 %76, %27
  store i64 %77, ptr %75, align 8
  %78 = load ptr, ptr %20, align 8
  %79 = load i64, ptr %12, align 8
  %80 = mul nsw i64 %79, %1
  %81 = getelementptr inbounds float, ptr %78, i64 %80
  %82 = load ptr, ptr %11, align 8
  %83 = add nsw i64 %27, -1
  %84 = mul nsw i64 %79, %83
  %85 = getelementptr inbounds float, ptr %82, i64 %84
  %86 = shl nsw i64 %79, 2
  %87 = tail call ptr @memcpy(ptr noundef %81, ptr noundef %85, i64 noundef %86) #9
  %88 = load i64, ptr %8, align 8
  %89 = add nsw i64 %88, %25
  %90 = icmp slt i64 %89, %3
  br i1 %90, label %23, label %22, !llvm.loop !19

91:                                               ; preds = %49, %91
  %92 = phi i64 [ %99, %91 ], [ 0, %49 ]
  %93 = add nsw i64 %92, %30
  %94 = load ptr, ptr %18, align 8
  %95 = getelementptr inbounds nuw i64, ptr %94, i64 %92
  store i64 %93, ptr %95, align 8
  %96 = load ptr, ptr %19, align 8
  %97 = getelementptr inbounds i64, ptr %96, i64 %1
  %98 = load i64, ptr %97, align 8
  tail call fastcc void @turn(ptr noundef nonnull %0, i64 noundef %92, i64 noundef %98) #8
  %99 = add nuw nsw i64 %92, 1
  %100 = icmp eq i64 %99, %39
  br i1 %100, label %73, label %91, !llvm.loop !20
}

; Function Attrs: nounwind
define void @tir_llm_step(ptr noundef captures(none) %0, ptr noundef readonly captures(none) %1) local_unnamed_addr #2 {
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 24
  %5 = load i64, ptr %4, align 8
  %6 = icmp sgt i64 %5, 0
  br i1 %6, label %7, label %68

7:                                                ; preds = %2
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load ptr, ptr %8, align 8
  br label %25

12:                                               ; preds = %59
  %13 = icmp sgt i64 %66, 0
  br i1 %13, label %14, label %68

14:                                               ; preds = %12
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %16 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %17 = getelementptr inbounds nuw i8, ptr %3, i64 80
  %18 = getelementptr inbounds nuw i8, ptr %3, i64 120
  %19 = getelementptr inbounds nuw i8, ptr %3, i64 88
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %21 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 24
  br label %74

25:                                               ; preds = %7, %59
  %26 = phi ptr [ %11, %7 ], [ %60, %59 ]
  %27 = phi i64 [ 0, %7 ], [ %65, %59 ]
  %28 = phi i64 [ 0, %7 ], [ %64, %59 ]
  %29 = getelementptr inbounds nuw i64, ptr %26, i64 %27
  %30 = load i64, ptr %29, align 8
  %31 = add nsw i64 %30, 1
  %32 = load ptr, ptr %0, align 8
  %33 = getelementptr inbounds nuw i8, ptr %32, i64 96
  %34 = load i64, ptr %33, align 8
  %35 = icmp sgt i64 %34, -1
  %36 = icmp sge i64 %30, %34
  %37 = load ptr, ptr %9, align 8
  %38 = getelementptr inbounds nuw i64, ptr %37, i64 %27
  %39 = load i64, ptr %38, align 8
  %40 = icmp sgt i64 %39, %34
  %41 = xor i1 %36, %40
  %42 = and i1 %35, %41
  store i64 %31, ptr %38, align 8
  %43 = icmp ne i64 %30, 0
  %44 = select i1 %43, i1 %42, i1 false
  br i1 %44, label %45, label %59

45:                                               ; preds = %25
  %46 = load ptr, ptr %0, align 8
  %47 = getelementptr inbounds nuw i8, ptr %46, i64 160
  %48 = load ptr, ptr %47, align 8
  %49 = icmp eq ptr %48, null
  br i1 %49, label %50, label %59

50:                                               ; preds = %45
  %51 = load ptr, ptr %8, align 8
  %52 = getelementptr inbounds nuw i64, ptr %51, i64 %27
  store i64 0, ptr %52, align 8
  %53 = load ptr, ptr %10, align 8
  %54 = load ptr, ptr %0, align 8
  %55 = getelementptr inbounds nuw i8, ptr %54, i64 8
  %56 = load i64, ptr %55, align 8
  %57 = mul nsw i64 %56, %27
  %58 = getelementptr inbounds i64, ptr %53, i64 %57
  tail call fastcc void @take(ptr noundef nonnull %0, i64 noundef %27, ptr noundef %58, i64 noundef %30) #8
  br label %59

59:                                               ; preds = %25, %45, %50
  %60 = load ptr, ptr %8, align 8
  %61 = getelementptr inbounds nuw i64, ptr %60, i64 %27
  %62 = load i64, ptr %61, align 8
  %63 = add nsw i64 %62, 1
  %64 = tail call noundef i64 @llvm.smax.i64(i64 %28, i64 %63)
  %65 = add nuw nsw i64 %27, 1
  %66 = load i64, ptr %4, align 8
  %67 = icmp slt i64 %65, %66
  br i1 %67, label %25, label %12, !llvm.loop !21

68:                                               ; preds = %74, %2, %12
  %69 = phi i64 [ 0, %2 ], [ %64, %12 ], [ %64, %74 ]
  tail call fastcc void @reserve(ptr noundef nonnull %0, i64 noundef %69) #8
  tail call fastcc void @through(ptr noundef nonnull %0, i32 noundef 1, i64 noundef 0) #8
  %70 = load i64, ptr %4, align 8
  %71 = icmp sgt i64 %70, 0
  br i1 %71, label %72, label %107

72:                                               ; preds = %68
  %73 = getelementptr inbounds nuw i8, ptr %0, i64 16
  br label %118

74:                                               ; preds = %14, %74
  %75 = phi i64 [ 0, %14 ], [ %104, %74 ]
  %76 = getelementptr inbounds nuw i64, ptr %1, i64 %75
  %77 = load i64, ptr %76, align 8
  %78 = load ptr, ptr %15, align 8
  %79 = load i64, ptr %16, align 8
  %80 = mul nsw i64 %79, %75
  %81 = getelementptr inbounds float, ptr %78, i64 %80
  %82 = load i64, ptr %17, align 8
  %83 = load ptr, ptr %18, align 8
  %84 = load i64, ptr %19, align 8
  %85 = mul nsw i64 %84, %77
  %86 = getelementptr inbounds i8, ptr %83, i64 %85
  tail call void @tir_llm_row(i64 noundef %82, ptr noundef %86, i64 noundef %79, ptr noundef %81) #8
  %87 = load i64, ptr %76, align 8
  %88 = load ptr, ptr %20, align 8
  %89 = load i64, ptr %21, align 8
  %90 = mul nsw i64 %89, %75
  %91 = load ptr, ptr %22, align 8
  %92 = getelementptr inbounds nuw i64, ptr %91, i64 %75
  %93 = load i64, ptr %92, align 8
  %94 = getelementptr i64, ptr %88, i64 %90
  %95 = getelementptr i64, ptr %94, i64 %93
  store i64 %87, ptr %95, align 8
  %96 = load ptr, ptr %22, align 8
  %97 = getelementptr inbounds nuw i64, ptr %96, i64 %75
  %98 = load i64, ptr %97, align 8
  %99 = load ptr, ptr %23, align 8
  %100 = getelementptr inbounds nuw i64, ptr %99, i64 %75
  store i64 %98, ptr %100, align 8
  %101 = load ptr, ptr %24, align 8
  %102 = getelementptr inbounds nuw i64, ptr %101, i64 %75
  %103 = load i64, ptr %102, align 8
  tail call fastcc void @turn(ptr noundef nonnull %0, i64 noundef %75, i64 noundef %103) #8
  %104 = add nuw nsw i64 %75, 1
  %105 = load i64, ptr %4, align 8
  %106 = icmp slt i64 %104, %105
  br i1 %106, label %74, label %68, !llvm.loop !22

107:                                              ; preds = %118, %68
  %108 = phi i64 [ %70, %68 ], [ %125, %118 ]
  %109 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %110 = load ptr, ptr %109, align 8
  %111 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %112 = load ptr, ptr %111, align 8
  %113 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %114 = load i64, ptr %113, align 8
  %115 = shl i64 %108, 2
  %116 = mul i64 %115, %114
  %117 = tail call ptr @memcpy(ptr noundef %110, ptr noundef %112, i64 noundef %116) #9
  ret void

118:                                              ; preds = %72, %118
  %119 = phi i64 [ 0, %72 ], [ %124, %118 ]
  %120 = load ptr, ptr %73, align 8
  %121 = getelementptr inbounds nuw i64, ptr %120, i64 %119
  %122 = load i64, ptr %121, align 8
  %123 = add nsw i64 %122, 1
  store i64 %123, ptr %121, align 8
  %124 = add nuw nsw i64 %119, 1
  %125 = load i64, ptr %4, align 8
  %126 = icmp slt i64 %124, %125
  br i1 %126, label %118, label %107, !llvm.loop !23
}

; Function Attrs: nounwind
define internal fastcc void @turn(ptr noundef readonly captures(none) %0, i64 noundef %1, i64 noundef %2) unnamed_addr #2 {
  %4 = load ptr, ptr %0, align 8
  %5 = getelementptr inbounds nuw i8, ptr %4, i64 40
  %6 = load i64, ptr %5, align 8
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds i64, ptr %8, i64 %1
  %10 = load i64, ptr %9, align 8
  %11 = mul nsw i64 %10, %6
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %13 = load ptr, ptr %12, align 8
  %14 = mul nsw i64 %6, %1
  %15 = getelementptr inbounds float, ptr %13, i64 %14
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %17 = load ptr, ptr %16, align 8
  %18 = getelementptr inbounds float, ptr %17, i64 %14
  %19 = getelementptr inbounds nuw i8, ptr %4, i64 96
  %20 = load i64, ptr %19, align 8
  %21 = icmp slt i64 %20, 0
  %22 = icmp sle i64 %2, %20
  %23 = or i1 %21, %22
  br i1 %23, label %70, label %24

24:                                               ; preds = %3
  %25 = getelementptr inbounds nuw i8, ptr %4, i64 160
  %26 = load ptr, ptr %25, align 8
  %27 = icmp eq ptr %26, null
  br i1 %27, label %70, label %28

28:                                               ; preds = %24
  %29 = load double, ptr %26, align 8
  %30 = sitofp i64 %2 to double
  %31 = fmul double %29, %30
  %32 = getelementptr inbounds nuw i8, ptr %26, i64 8
  %33 = load double, ptr %32, align 8
  %34 = fdiv double %31, %33
  %35 = fadd double %29, -1.000000e+00
  %36 = fsub double %34, %35
  %37 = icmp sgt i64 %6, 0
  br i1 %37, label %38, label %82

38:                                               ; preds = %28
  %39 = getelementptr double, ptr %26, i64 %6
  %40 = getelementptr i8, ptr %39, i64 24
  %41 = getelementptr inbounds nuw i8, ptr %26, i64 16
  br label %42

42:                                               ; preds = %38, %42
  %43 = phi i64 [ 0, %38 ], [ %68, %42 ]
  %44 = getelementptr inbounds nuw double, ptr %26, i64 %43
  %45 = getelementptr inbounds nuw i8, ptr %44, i64 24
  %46 = load double, ptr %45, align 8
  %47 = getelementptr double, ptr %40, i64 %43
  %48 = load double, ptr %47, align 8
  %49 = tail call double @pow(double noundef %36, double noundef %48) #9
  %50 = fmul double %46, %49
  %51 = fptrunc double %50 to float
  %52 = load ptr, ptr %7, align 8
  %53 = getelementptr inbounds i64, ptr %52, i64 %1
  %54 = load i64, ptr %53, align 8
  %55 = sitofp i64 %54 to float
  %56 = fmul float %51, %55
  %57 = load double, ptr %41, align 8
  %58 = fpext float %56 to double
  %59 = tail call double @cos(double noundef %58) #9
  %60 = fmul double %57, %59
  %61 = fptrunc double %60 to float
  %62 = getelementptr inbounds nuw float, ptr %15, i64 %43
  store float %61, ptr %62, align 4
  %63 = load double, ptr %41, align 8
  %64 = tail call double @sin(double noundef %58) #9
  %65 = fmul double %63, %64
  %66 = fptrunc double %65 to float
  %67 = getelementptr inbounds nuw float, ptr %18, i64 %43
  store float %66, ptr %67, align 4
  %68 = add nuw nsw i64 %43, 1
  %69 = icmp eq i64 %68, %6
  br i1 %69, label %82, label %42, !llvm.loop !24

70:                                               ; preds = %24, %3
  %71 = phi i64 [ 152, %24 ], [ 136, %3 ]
  %72 = phi i64 [ 144, %24 ], [ 128, %3 ]
  %73 = getelementptr inbounds nuw i8, ptr %4, i64 %72
  %74 = load ptr, ptr %73, align 8
  %75 = getelementptr inbounds float, ptr %74, i64 %11
  %76 = shl nsw i64 %6, 2
  %77 = tail call ptr @memcpy(ptr noundef %15, ptr noundef %75, i64 noundef %76) #9
  %78 = getelementptr inbounds nuw i8, ptr %4, i64 %71
  %79 = load ptr, ptr %78, align 8
  %80 = getelementptr inbounds float, ptr %79, i64 %11
  %81 = tail call ptr @memcpy(ptr noundef %18, ptr noundef %80, i64 noundef %76) #9
  br label %82

82:                                               ; preds = %42, %28, %70
  ret void
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
  %15 = getelementptr inbounds nuw i8, ptr %3, i64 104
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 128
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
  br i1 %39, label %20, label %30, !llvm.loop !25

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
  br i1 %71, label %40, label %31, !llvm.loop !26

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
  br i1 %85, label %72, label %63, !llvm.loop !27

86:                                               ; preds = %2, %30
  ret void
}

; Function Attrs: nounwind
define internal fastcc void @through(ptr noundef captures(none) %0, i32 noundef range(i32 0, 2) %1, i64 noundef %2) unnamed_addr #2 {
  %4 = alloca [24 x [19 x i64]], align 16
  %5 = alloca [24 x ptr], align 16
  %6 = alloca [24 x ptr], align 16
  %7 = load ptr, ptr %0, align 8
  %8 = getelementptr inbounds nuw i8, ptr %7, i64 48
  %9 = load i64, ptr %8, align 8
  %10 = icmp sgt i64 %9, 0
  br i1 %10, label %11, label %34

11:                                               ; preds = %3
  %12 = getelementptr inbounds nuw i8, ptr %7, i64 104
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %14 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %16 = getelementptr inbounds nuw i8, ptr %6, i64 16
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %18 = getelementptr inbounds nuw i8, ptr %6, i64 24
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %20 = getelementptr inbounds nuw i8, ptr %6, i64 32
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %22 = icmp eq i32 %1, 0
  %23 = select i1 %22, i64 24, i64 16
  %24 = getelementptr inbounds nuw i8, ptr %6, i64 40
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %26 = getelementptr inbounds nuw i8, ptr %6, i64 48
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %29 = select i1 %22, i64 8, i64 0
  %30 = getelementptr inbounds nuw i8, ptr %7, i64 72
  %31 = load ptr, ptr %13, align 8
  %32 = load ptr, ptr %21, align 8
  %33 = getelementptr inbounds nuw i8, ptr %6, i64 48
  br label %35

34:                                               ; preds = %105, %3
  ret void

35:                                               ; preds = %11, %105
  %36 = phi ptr [ %32, %11 ], [ %108, %105 ]
  %37 = phi ptr [ %31, %11 ], [ %107, %105 ]
  %38 = phi i64 [ 0, %11 ], [ %57, %105 ]
  %39 = phi i64 [ 0, %11 ], [ %109, %105 ]
  %40 = load ptr, ptr %12, align 8
  %41 = getelementptr inbounds nuw %struct.tir_layer, ptr %40, i64 %39
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #7
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(144) %33, i8 0, i64 144, i1 false)
  store ptr %37, ptr %6, align 16
  %42 = load ptr, ptr %15, align 8
  store ptr %42, ptr %14, align 8
  %43 = load ptr, ptr %17, align 8
  store ptr %43, ptr %16, align 16
  %44 = load ptr, ptr %19, align 8
  store ptr %44, ptr %18, align 8
  store ptr %36, ptr %20, align 16
  %45 = getelementptr inbounds nuw i8, ptr %41, i64 %23
  %46 = load ptr, ptr %45, align 8
  store ptr %46, ptr %24, align 8
  %47 = load ptr, ptr %25, align 8
  store ptr %47, ptr %26, align 16
  %48 = getelementptr inbounds nuw i8, ptr %41, i64 32
  %49 = load i64, ptr %48, align 8
  %50 = icmp sgt i64 %49, 0
  %51 = load i64, ptr %28, align 8
  br i1 %50, label %52, label %56

52:                                               ; preds = %35
  %53 = getelementptr inbounds nuw i8, ptr %41, i64 40
  %54 = load ptr, ptr %53, align 8
  %55 = load ptr, ptr %27, align 8
  br label %112

56:                                               ; preds = %112, %35
  %57 = phi i64 [ %38, %35 ], [ %117, %112 ]
  %58 = getelementptr inbounds nuw i8, ptr %41, i64 %29
  %59 = load ptr, ptr %58, align 8
  %60 = load i64, ptr %30, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #7
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #7
  %61 = getelementptr inbounds nuw i8, ptr %59, i64 8
  %62 = load i64, ptr %61, align 8
  %63 = icmp sgt i64 %62, 0
  br i1 %63, label %64, label %105

64:                                               ; preds = %56
  %65 = getelementptr inbounds nuw i8, ptr %59, i64 16
  %66 = load ptr, ptr %65, align 8
  br label %67

67:                                               ; preds = %83, %64
  %68 = phi ptr [ %86, %83 ], [ %66, %64 ]
  %69 = phi i64 [ %87, %83 ], [ 0, %64 ]
  %70 = getelementptr inbounds nuw i8, ptr %68, i64 8
  %71 = load i64, ptr %70, align 8
  %72 = getelementptr inbounds nuw [19 x i64], ptr %4, i64 %69
  %73 = load i64, ptr %68, align 8
  %74 = getelementptr inbounds ptr, ptr %6, i64 %73
  %75 = load ptr, ptr %74, align 8
  %76 = ptrtoint ptr %75 to i64
  %77 = getelementptr inbounds nuw i8, ptr %72, i64 8
  store i64 %76, ptr %77, align 8
  store i64 %76, ptr %72, align 8
  %78 = getelementptr inbounds nuw i8, ptr %72, i64 16
  store i64 0, ptr %78, align 8
  %79 = icmp sgt i64 %71, 0
  br i1 %79, label %80, label %83

80:                                               ; preds = %67
  %81 = getelementptr i64, ptr %72, i64 %71
  %82 = getelementptr i8, ptr %81, i64 24
  br label %89

83:                                               ; preds = %98, %67
  %84 = getelementptr inbounds nuw ptr, ptr %5, i64 %69
  store ptr %72, ptr %84, align 8
  %85 = getelementptr i64, ptr %68, i64 %71
  %86 = getelementptr i8, ptr %85, i64 16
  %87 = add nuw nsw i64 %69, 1
  %88 = icmp eq i64 %87, %62
  br i1 %88, label %105, label %67, !llvm.loop !28

89:                                               ; preds = %98, %80
  %90 = phi i64 [ %71, %80 ], [ %92, %98 ]
  %91 = phi i64 [ 1, %80 ], [ %103, %98 ]
  %92 = add nsw i64 %90, -1
  %93 = getelementptr inbounds nuw i64, ptr %68, i64 %90
  %94 = getelementptr inbounds nuw i8, ptr %93, i64 8
  %95 = load i64, ptr %94, align 8
  switch i64 %95, label %97 [
    i64 -1, label %98
    i64 -2, label %96
  ]

96:                                               ; preds = %89
  br label %98

97:                                               ; preds = %89
  br label %98

98:                                               ; preds = %97, %96, %89
  %99 = phi i64 [ %95, %97 ], [ %60, %96 ], [ %51, %89 ]
  %100 = getelementptr inbounds nuw i64, ptr %72, i64 %90
  %101 = getelementptr inbounds nuw i8, ptr %100, i64 16
  store i64 %99, ptr %101, align 8
  %102 = getelementptr i64, ptr %82, i64 %92
  store i64 %91, ptr %102, align 8
  %103 = mul nsw i64 %99, %91
  %104 = icmp samesign ugt i64 %90, 1
  br i1 %104, label %89, label %83, !llvm.loop !29

105:                                              ; preds = %83, %56
  %106 = load ptr, ptr %59, align 8
  call void %106(ptr noundef nonnull %5) #9
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #7
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #7
  %107 = load ptr, ptr %21, align 8
  %108 = load ptr, ptr %13, align 8
  store ptr %108, ptr %21, align 8
  store ptr %107, ptr %13, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #7
  %109 = add nuw nsw i64 %39, 1
  %110 = load i64, ptr %8, align 8
  %111 = icmp slt i64 %109, %110
  br i1 %111, label %35, label %34, !llvm.loop !30

112:                                              ; preds = %52, %112
  %113 = phi i64 [ %38, %52 ], [ %117, %112 ]
  %114 = phi i64 [ 0, %52 ], [ %129, %112 ]
  %115 = shl nsw i64 %114, 4
  %116 = getelementptr inbounds nuw i8, ptr %54, i64 %115
  %117 = add nsw i64 %113, 1
  %118 = getelementptr inbounds ptr, ptr %55, i64 %113
  %119 = load ptr, ptr %118, align 8
  %120 = load i64, ptr %116, align 8
  %121 = mul nsw i64 %120, %2
  %122 = getelementptr inbounds nuw i8, ptr %116, i64 8
  %123 = load i64, ptr %122, align 8
  %124 = mul nsw i64 %121, %123
  %125 = mul nsw i64 %124, %51
  %126 = getelementptr inbounds i8, ptr %119, i64 %125
  %127 = getelementptr inbounds nuw ptr, ptr %6, i64 %114
  %128 = getelementptr inbounds nuw i8, ptr %127, i64 56
  store ptr %126, ptr %128, align 8
  %129 = add nuw nsw i64 %114, 1
  %130 = icmp eq i64 %129, %49
  br i1 %130, label %56, label %112, !llvm.loop !31
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
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %13 = getelementptr inbounds nuw i8, ptr %4, i64 16
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %15 = getelementptr inbounds nuw i8, ptr %4, i64 24
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %17 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %19 = getelementptr inbounds nuw i8, ptr %5, i64 112
  %20 = getelementptr inbounds nuw i8, ptr %4, i64 40
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %22 = getelementptr inbounds nuw i8, ptr %4, i64 48
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %24 = getelementptr inbounds nuw i8, ptr %5, i64 72
  %25 = getelementptr inbounds nuw i8, ptr %5, i64 64
  %26 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %28 = getelementptr inbounds nuw i8, ptr %4, i64 48
  br label %32

29:                                               ; preds = %102, %1
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 96
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
  br i1 %74, label %91, label %53, !llvm.loop !28

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
  br i1 %90, label %75, label %69, !llvm.loop !29

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
  br i1 %105, label %32, label %29, !llvm.loop !32

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
  br i1 %120, label %106, label %102, !llvm.loop !33
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
  br i1 %42, label %11, label %19, !llvm.loop !34
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
  br i1 %40, label %41, label %17, !llvm.loop !34

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
  br i1 %68, label %50, label %58, !llvm.loop !35

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
  br i1 %95, label %69, label %80, !llvm.loop !36

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
  br i1 %110, label %102, label %106, !llvm.loop !37

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
  br i1 %164, label %115, label %111, !llvm.loop !38

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
  br i1 %223, label %165, label %224, !llvm.loop !39

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
  br i1 %246, label %228, label %236, !llvm.loop !40

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
  br i1 %259, label %260, label %247, !llvm.loop !41

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
  br i1 %282, label %283, label %267, !llvm.loop !42

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
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 112
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
  br i1 %28, label %17, label %16, !llvm.loop !43
}

declare double @pow(double noundef, double noundef) local_unnamed_addr #3

declare double @cos(double noundef) local_unnamed_addr #3

declare double @sin(double noundef) local_unnamed_addr #3

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
!43 = distinct !{!43, !6, !7}
