
%struct.moment = type { i64, i64 }
%struct.anon = type { i64, i64, i64 }
%struct.param = type { i64, i64 }

; Function Attrs: nounwind
define ptr @tir_vectorcall(ptr noundef readonly captures(none) %0, ptr noundef %1, i64 noundef %2, ptr noundef %3) local_unnamed_addr #0 {
  %5 = alloca %struct.moment, align 8
  %6 = alloca %struct.moment, align 8
  %7 = alloca %struct.moment, align 8
  %8 = alloca %struct.moment, align 8
  %9 = alloca i32, align 4
  %10 = alloca [64 x %struct.anon], align 16
  %11 = alloca [64 x i64], align 16
  %12 = alloca [768 x i64], align 16
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %14 = load ptr, ptr %13, align 8
  %15 = load ptr, ptr %14, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %11) #3
  call void @llvm.lifetime.start.p0(ptr nonnull %12) #3
  %16 = and i64 %2, 9223372036854775807
  %17 = getelementptr inbounds nuw i8, ptr %14, i64 16
  %18 = load i64, ptr %17, align 8
  %19 = icmp ne i64 %16, %18
  %20 = icmp ne ptr %3, null
  %21 = or i1 %20, %19
  br i1 %21, label %353, label %22

22:                                               ; preds = %4
  %23 = getelementptr inbounds nuw i8, ptr %14, i64 48
  %24 = getelementptr inbounds nuw i8, ptr %14, i64 40
  %25 = load i64, ptr %24, align 8
  %26 = icmp sgt i64 %25, 0
  br i1 %26, label %30, label %27

27:                                               ; preds = %22
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %29 = load ptr, ptr %28, align 8
  br label %360

30:                                               ; preds = %22
  %31 = load i64, ptr %23, align 8
  %32 = getelementptr inbounds nuw i8, ptr %14, i64 64
  %33 = getelementptr inbounds nuw i8, ptr %14, i64 56
  %34 = getelementptr inbounds nuw i8, ptr %14, i64 72
  %35 = getelementptr inbounds nuw i8, ptr %14, i64 24
  br label %36

36:                                               ; preds = %30, %343
  %37 = phi i64 [ %31, %30 ], [ %347, %343 ]
  %38 = phi i64 [ 0, %30 ], [ %348, %343 ]
  %39 = load ptr, ptr %32, align 8
  %40 = load i64, ptr %33, align 8
  %41 = mul nsw i64 %40, %37
  %42 = getelementptr inbounds i64, ptr %39, i64 %41
  %43 = load ptr, ptr %14, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #3
  %44 = load i64, ptr %17, align 8
  %45 = icmp sgt i64 %44, 0
  br i1 %45, label %46, label %251

46:                                               ; preds = %36
  %47 = getelementptr inbounds nuw i8, ptr %42, i64 24
  %48 = getelementptr inbounds nuw i8, ptr %43, i64 16
  %49 = getelementptr inbounds nuw i8, ptr %43, i64 96
  %50 = getelementptr inbounds nuw i8, ptr %43, i64 32
  %51 = getelementptr inbounds nuw i8, ptr %43, i64 40
  %52 = getelementptr inbounds nuw i8, ptr %43, i64 8
  %53 = getelementptr inbounds nuw i8, ptr %43, i64 88
  br label %54

54:                                               ; preds = %242, %46
  %55 = phi ptr [ %47, %46 ], [ %245, %242 ]
  %56 = phi ptr [ %12, %46 ], [ %244, %242 ]
  %57 = phi i32 [ 0, %46 ], [ %243, %242 ]
  %58 = phi i64 [ 0, %46 ], [ %246, %242 ]
  %59 = getelementptr inbounds nuw %struct.param, ptr %34, i64 %58
  %60 = load i64, ptr %59, align 8
  %61 = icmp eq i64 %60, 0
  %62 = getelementptr inbounds nuw ptr, ptr %1, i64 %58
  %63 = load ptr, ptr %62, align 8
  br i1 %61, label %122, label %64

64:                                               ; preds = %54
  %65 = getelementptr inbounds nuw i64, ptr %11, i64 %58
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #3
  store i32 0, ptr %9, align 4
  switch i64 %60, label %89 [
    i64 5, label %66
    i64 3, label %70
    i64 4, label %70
  ]

66:                                               ; preds = %64
  %67 = load ptr, ptr %50, align 8
  %68 = icmp eq ptr %63, %67
  %69 = zext i1 %68 to i64
  store i64 %69, ptr %65, align 8
  br i1 %68, label %109, label %111

70:                                               ; preds = %64, %64
  %71 = getelementptr inbounds nuw i8, ptr %63, i64 8
  %72 = load ptr, ptr %71, align 8
  %73 = load ptr, ptr %48, align 8
  %74 = icmp eq ptr %72, %73
  br i1 %74, label %75, label %108

75:                                               ; preds = %70
  %76 = load ptr, ptr %49, align 8
  %77 = call double %76(ptr noundef nonnull %63) #4
  %78 = load i64, ptr %59, align 8
  %79 = icmp eq i64 %78, 3
  %80 = fptrunc double %77 to float
  %81 = bitcast float %80 to i32
  %82 = bitcast double %77 to i64
  %83 = trunc i64 %82 to i32
  %84 = lshr i64 %82, 32
  %85 = trunc nuw i64 %84 to i32
  %86 = select i1 %79, i32 %81, i32 %83
  %87 = select i1 %79, i32 0, i32 %85
  store i32 %86, ptr %65, align 8
  %88 = getelementptr inbounds nuw i8, ptr %65, i64 4
  store i32 %87, ptr %88, align 4
  br label %109

89:                                               ; preds = %64
  %90 = getelementptr inbounds nuw i8, ptr %63, i64 8
  %91 = load ptr, ptr %90, align 8
  %92 = load ptr, ptr %52, align 8
  %93 = icmp eq ptr %91, %92
  br i1 %93, label %94, label %108

94:                                               ; preds = %89
  %95 = load ptr, ptr %53, align 8
  %96 = call i64 %95(ptr noundef nonnull %63, ptr noundef nonnull %9) #4
  store i64 %96, ptr %65, align 8
  %97 = load i32, ptr %9, align 4
  %98 = icmp eq i32 %97, 0
  br i1 %98, label %99, label %108

99:                                               ; preds = %94
  %100 = getelementptr inbounds nuw i8, ptr %59, i64 8
  %101 = load i64, ptr %100, align 8
  %102 = sub nsw i64 64, %101
  %103 = shl i64 %96, %102
  %104 = ashr exact i64 %103, %102
  %105 = icmp eq i64 %96, %104
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #3
  br i1 %105, label %106, label %343

106:                                              ; preds = %99
  %107 = load i64, ptr %59, align 8
  br label %114

108:                                              ; preds = %94, %89, %70
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #3
  br label %343

109:                                              ; preds = %75, %66
  %110 = phi i64 [ %78, %75 ], [ 5, %66 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #3
  br label %114

111:                                              ; preds = %66
  %112 = load ptr, ptr %51, align 8
  %113 = icmp eq ptr %63, %112
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #3
  br i1 %113, label %242, label %343

114:                                              ; preds = %106, %109
  %115 = phi i64 [ %107, %106 ], [ %110, %109 ]
  %116 = icmp eq i64 %115, 1
  br i1 %116, label %117, label %242

117:                                              ; preds = %114
  %118 = load i64, ptr %65, align 8
  %119 = getelementptr inbounds nuw i8, ptr %55, i64 8
  %120 = load i64, ptr %55, align 8
  %121 = icmp eq i64 %118, %120
  br i1 %121, label %242, label %343

122:                                              ; preds = %54
  %123 = getelementptr inbounds nuw i8, ptr %59, i64 8
  %124 = load i64, ptr %123, align 8
  %125 = getelementptr inbounds nuw i8, ptr %55, i64 48
  %126 = getelementptr inbounds i64, ptr %125, i64 %124
  %127 = getelementptr inbounds nuw i8, ptr %63, i64 8
  %128 = load ptr, ptr %127, align 8
  %129 = load ptr, ptr %43, align 8
  %130 = icmp eq ptr %128, %129
  br i1 %130, label %131, label %343

131:                                              ; preds = %122
  %132 = getelementptr inbounds nuw i8, ptr %63, i64 56
  %133 = load i64, ptr %132, align 8
  %134 = load i64, ptr %55, align 8
  %135 = icmp eq i64 %133, %134
  br i1 %135, label %136, label %343

136:                                              ; preds = %131
  %137 = getelementptr inbounds nuw i8, ptr %63, i64 24
  %138 = load i32, ptr %137, align 8
  %139 = sext i32 %138 to i64
  %140 = icmp eq i64 %124, %139
  br i1 %140, label %141, label %343

141:                                              ; preds = %136
  %142 = getelementptr inbounds nuw i8, ptr %63, i64 32
  %143 = getelementptr inbounds nuw i8, ptr %63, i64 40
  %144 = call i64 @llvm.smax.i64(i64 %124, i64 0)
  br label %145

145:                                              ; preds = %156, %141
  %146 = phi i64 [ %152, %156 ], [ 0, %141 ]
  %147 = icmp eq i64 %146, %144
  br i1 %147, label %163, label %148

148:                                              ; preds = %145
  %149 = load ptr, ptr %142, align 8
  %150 = getelementptr inbounds nuw i64, ptr %149, i64 %146
  %151 = load i64, ptr %150, align 8
  %152 = add nuw i64 %146, 1
  %153 = getelementptr inbounds nuw i64, ptr %126, i64 %152
  %154 = load i64, ptr %153, align 8
  %155 = icmp eq i64 %151, %154
  br i1 %155, label %156, label %343

156:                                              ; preds = %148
  %157 = load ptr, ptr %143, align 8
  %158 = getelementptr inbounds nuw i64, ptr %157, i64 %146
  %159 = load i64, ptr %158, align 8
  %160 = getelementptr inbounds nuw i64, ptr %125, i64 %146
  %161 = load i64, ptr %160, align 8
  %162 = icmp eq i64 %159, %161
  br i1 %162, label %145, label %343, !llvm.loop !5

163:                                              ; preds = %145
  %164 = getelementptr inbounds nuw i8, ptr %63, i64 16
  %165 = load i64, ptr %164, align 8
  %166 = getelementptr inbounds nuw i8, ptr %55, i64 8
  %167 = load i64, ptr %166, align 8
  %168 = and i64 %167, %165
  %169 = icmp eq i64 %168, 0
  br i1 %169, label %170, label %343

170:                                              ; preds = %163
  %171 = getelementptr inbounds nuw i8, ptr %55, i64 16
  %172 = load i64, ptr %171, align 8
  %173 = icmp eq i64 %172, 0
  br i1 %173, label %179, label %174

174:                                              ; preds = %170
  %175 = getelementptr inbounds nuw i8, ptr %63, i64 64
  %176 = load i32, ptr %175, align 8
  %177 = and i32 %176, -2147482624
  %178 = icmp eq i32 %177, 1024
  br i1 %178, label %179, label %343

179:                                              ; preds = %174, %170
  %180 = load i64, ptr %35, align 8
  %181 = icmp eq i64 %180, 0
  br i1 %181, label %217, label %182

182:                                              ; preds = %179
  %183 = getelementptr inbounds nuw i8, ptr %55, i64 32
  %184 = load i64, ptr %183, align 8
  %185 = add i64 %184, %165
  %186 = getelementptr inbounds nuw i8, ptr %55, i64 40
  %187 = load i64, ptr %186, align 8
  %188 = add i64 %187, %165
  %189 = icmp sgt i32 %57, 0
  br i1 %189, label %190, label %210

190:                                              ; preds = %182
  %191 = zext nneg i32 %57 to i64
  br label %192

192:                                              ; preds = %207, %190
  %193 = phi i64 [ 0, %190 ], [ %208, %207 ]
  br i1 %173, label %194, label %199

194:                                              ; preds = %192
  %195 = getelementptr inbounds nuw %struct.anon, ptr %10, i64 %193
  %196 = getelementptr inbounds nuw i8, ptr %195, i64 16
  %197 = load i64, ptr %196, align 8
  %198 = icmp eq i64 %197, 0
  br i1 %198, label %207, label %199

199:                                              ; preds = %194, %192
  %200 = getelementptr inbounds nuw %struct.anon, ptr %10, i64 %193
  %201 = getelementptr inbounds nuw i8, ptr %200, i64 8
  %202 = load i64, ptr %201, align 8
  %203 = icmp ugt i64 %202, %185
  br i1 %203, label %204, label %207

204:                                              ; preds = %199
  %205 = load i64, ptr %200, align 8
  %206 = icmp ugt i64 %188, %205
  br i1 %206, label %343, label %207

207:                                              ; preds = %204, %199, %194
  %208 = add nuw nsw i64 %193, 1
  %209 = icmp eq i64 %208, %191
  br i1 %209, label %210, label %192, !llvm.loop !8

210:                                              ; preds = %207, %182
  %211 = sext i32 %57 to i64
  %212 = getelementptr inbounds %struct.anon, ptr %10, i64 %211
  store i64 %185, ptr %212, align 8
  %213 = getelementptr inbounds nuw i8, ptr %212, i64 8
  store i64 %188, ptr %213, align 8
  %214 = load i64, ptr %171, align 8
  %215 = getelementptr inbounds nuw i8, ptr %212, i64 16
  store i64 %214, ptr %215, align 8
  %216 = add nsw i32 %57, 1
  br label %217

217:                                              ; preds = %210, %179
  %218 = phi i32 [ %216, %210 ], [ %57, %179 ]
  %219 = ptrtoint ptr %56 to i64
  %220 = getelementptr inbounds nuw i64, ptr %11, i64 %58
  store i64 %219, ptr %220, align 8
  %221 = getelementptr inbounds nuw i8, ptr %55, i64 24
  %222 = load i64, ptr %221, align 8
  %223 = sub i64 %165, %222
  %224 = getelementptr inbounds nuw i8, ptr %56, i64 8
  store i64 %223, ptr %56, align 8
  %225 = load i64, ptr %221, align 8
  %226 = sub i64 %165, %225
  %227 = getelementptr inbounds nuw i8, ptr %56, i64 16
  store i64 %226, ptr %224, align 8
  %228 = shl nsw i64 %124, 1
  %229 = icmp slt i64 %124, 0
  br i1 %229, label %230, label %234

230:                                              ; preds = %234, %217
  %231 = phi ptr [ %227, %217 ], [ %239, %234 ]
  %232 = getelementptr inbounds i64, ptr %126, i64 %228
  %233 = getelementptr inbounds nuw i8, ptr %232, i64 8
  br label %242

234:                                              ; preds = %217, %234
  %235 = phi i64 [ %240, %234 ], [ 0, %217 ]
  %236 = phi ptr [ %239, %234 ], [ %227, %217 ]
  %237 = getelementptr inbounds nuw i64, ptr %126, i64 %235
  %238 = load i64, ptr %237, align 8
  %239 = getelementptr inbounds nuw i8, ptr %236, i64 8
  store i64 %238, ptr %236, align 8
  %240 = add nuw nsw i64 %235, 1
  %241 = icmp eq i64 %235, %228
  br i1 %241, label %230, label %234, !llvm.loop !9

242:                                              ; preds = %111, %230, %117, %114
  %243 = phi i32 [ %57, %114 ], [ %218, %230 ], [ %57, %117 ], [ %57, %111 ]
  %244 = phi ptr [ %56, %114 ], [ %231, %230 ], [ %56, %117 ], [ %56, %111 ]
  %245 = phi ptr [ %55, %114 ], [ %233, %230 ], [ %119, %117 ], [ %55, %111 ]
  %246 = add nuw nsw i64 %58, 1
  %247 = load i64, ptr %17, align 8
  %248 = icmp slt i64 %246, %247
  br i1 %248, label %54, label %249, !llvm.loop !10

249:                                              ; preds = %242
  %250 = load ptr, ptr %14, align 8
  br label %251

251:                                              ; preds = %36, %249
  %252 = phi ptr [ %250, %249 ], [ %43, %36 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #3
  store i64 %37, ptr %23, align 8
  %253 = load i64, ptr %42, align 8
  %254 = icmp eq i64 %253, 0
  br i1 %254, label %289, label %255

255:                                              ; preds = %251
  %256 = getelementptr inbounds nuw i8, ptr %42, i64 16
  %257 = load i64, ptr %256, align 8
  %258 = add nsw i64 %257, 1
  store i64 %258, ptr %256, align 8
  %259 = and i64 %258, 63
  %260 = icmp eq i64 %259, 0
  br i1 %260, label %264, label %261

261:                                              ; preds = %255
  %262 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %263 = load ptr, ptr %262, align 8
  call void %263(ptr noundef nonnull %11) #4
  br label %334

264:                                              ; preds = %255
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #3
  %265 = getelementptr inbounds nuw i8, ptr %252, i64 120
  %266 = load ptr, ptr %265, align 8
  %267 = getelementptr inbounds nuw i8, ptr %252, i64 128
  %268 = load i64, ptr %267, align 8
  %269 = trunc i64 %268 to i32
  %270 = call i32 %266(i32 noundef %269, ptr noundef nonnull %8) #4
  %271 = load i64, ptr %8, align 8
  %272 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %273 = load i64, ptr %272, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #3
  %274 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %275 = load ptr, ptr %274, align 8
  call void %275(ptr noundef nonnull %11) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #3
  %276 = load ptr, ptr %265, align 8
  %277 = load i64, ptr %267, align 8
  %278 = trunc i64 %277 to i32
  %279 = call i32 %276(i32 noundef %278, ptr noundef nonnull %7) #4
  %280 = load i64, ptr %7, align 8
  %281 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %282 = load i64, ptr %281, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #3
  %283 = sub i64 %280, %271
  %284 = mul i64 %283, 1000000000
  %285 = sub i64 %282, %273
  %286 = add i64 %285, %284
  %287 = icmp sgt i64 %286, 20000
  br i1 %287, label %288, label %334

288:                                              ; preds = %264
  store i64 0, ptr %42, align 8
  br label %334

289:                                              ; preds = %251
  %290 = getelementptr inbounds nuw i8, ptr %14, i64 32
  %291 = load i64, ptr %290, align 8
  %292 = icmp eq i64 %291, 0
  %293 = getelementptr inbounds nuw i8, ptr %42, i64 8
  %294 = load i64, ptr %293, align 8
  %295 = icmp slt i64 %294, 8
  %296 = select i1 %292, i1 %295, i1 false
  %297 = zext i1 %296 to i64
  %298 = add nsw i64 %294, %297
  store i64 %298, ptr %293, align 8
  %299 = getelementptr inbounds nuw i8, ptr %252, i64 72
  %300 = load ptr, ptr %299, align 8
  %301 = call ptr %300() #4
  br i1 %296, label %302, label %328

302:                                              ; preds = %289
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #3
  %303 = getelementptr inbounds nuw i8, ptr %252, i64 120
  %304 = load ptr, ptr %303, align 8
  %305 = getelementptr inbounds nuw i8, ptr %252, i64 128
  %306 = load i64, ptr %305, align 8
  %307 = trunc i64 %306 to i32
  %308 = call i32 %304(i32 noundef %307, ptr noundef nonnull %6) #4
  %309 = load i64, ptr %6, align 8
  %310 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %311 = load i64, ptr %310, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #3
  %312 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %313 = load ptr, ptr %312, align 8
  call void %313(ptr noundef nonnull %11) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #3
  %314 = load ptr, ptr %303, align 8
  %315 = load i64, ptr %305, align 8
  %316 = trunc i64 %315 to i32
  %317 = call i32 %314(i32 noundef %316, ptr noundef nonnull %5) #4
  %318 = load i64, ptr %5, align 8
  %319 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %320 = load i64, ptr %319, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #3
  %321 = sub i64 %318, %309
  %322 = mul i64 %321, 1000000000
  %323 = sub i64 %320, %311
  %324 = add i64 %323, %322
  %325 = icmp slt i64 %324, 20000
  %326 = getelementptr inbounds nuw i8, ptr %252, i64 80
  %327 = load ptr, ptr %326, align 8
  call void %327(ptr noundef %301) #4
  br i1 %325, label %333, label %334

328:                                              ; preds = %289
  %329 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %330 = load ptr, ptr %329, align 8
  call void %330(ptr noundef nonnull %11) #4
  %331 = getelementptr inbounds nuw i8, ptr %252, i64 80
  %332 = load ptr, ptr %331, align 8
  call void %332(ptr noundef %301) #4
  br label %334

333:                                              ; preds = %302
  store i64 1, ptr %42, align 8
  br label %334

334:                                              ; preds = %261, %264, %288, %302, %328, %333
  %335 = getelementptr inbounds nuw i8, ptr %15, i64 48
  %336 = load i64, ptr %335, align 8
  %337 = icmp eq i64 %336, 0
  br i1 %337, label %350, label %338

338:                                              ; preds = %334
  %339 = getelementptr inbounds nuw i8, ptr %15, i64 24
  %340 = load ptr, ptr %339, align 8
  %341 = load i64, ptr %340, align 8
  %342 = add nsw i64 %341, 1
  store i64 %342, ptr %340, align 8
  br label %350

343:                                              ; preds = %99, %111, %117, %163, %174, %122, %136, %131, %148, %156, %204, %108
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #3
  %344 = add nsw i64 %37, 1
  %345 = load i64, ptr %24, align 8
  %346 = icmp slt i64 %344, %345
  %347 = select i1 %346, i64 %344, i64 0
  %348 = add nuw nsw i64 %38, 1
  %349 = icmp slt i64 %348, %345
  br i1 %349, label %36, label %353, !llvm.loop !11

350:                                              ; preds = %338, %334
  %351 = getelementptr inbounds nuw i8, ptr %15, i64 24
  %352 = load ptr, ptr %351, align 8
  br label %375

353:                                              ; preds = %343, %4
  %354 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %355 = load ptr, ptr %354, align 8
  br i1 %20, label %356, label %360

356:                                              ; preds = %353
  %357 = getelementptr inbounds nuw i8, ptr %15, i64 64
  %358 = load ptr, ptr %357, align 8
  %359 = icmp eq ptr %358, null
  br i1 %359, label %360, label %365

360:                                              ; preds = %27, %356, %353
  %361 = phi ptr [ %29, %27 ], [ %355, %356 ], [ %355, %353 ]
  %362 = getelementptr inbounds nuw i8, ptr %15, i64 56
  %363 = load ptr, ptr %362, align 8
  %364 = call ptr %363(ptr noundef %361, ptr noundef %1, i64 noundef %2, ptr noundef %3) #4
  br label %375

365:                                              ; preds = %356
  %366 = getelementptr inbounds nuw ptr, ptr %1, i64 %16
  %367 = call ptr %358(ptr noundef %366, ptr noundef nonnull %3) #4
  %368 = icmp eq ptr %367, null
  br i1 %368, label %375, label %369

369:                                              ; preds = %365
  %370 = getelementptr inbounds nuw i8, ptr %15, i64 56
  %371 = load ptr, ptr %370, align 8
  %372 = call ptr %371(ptr noundef %355, ptr noundef %1, i64 noundef %2, ptr noundef nonnull %367) #4
  %373 = getelementptr inbounds nuw i8, ptr %15, i64 104
  %374 = load ptr, ptr %373, align 8
  call void %374(ptr noundef nonnull %367) #4
  br label %375

375:                                              ; preds = %350, %360, %365, %369
  %376 = phi ptr [ %352, %350 ], [ %364, %360 ], [ %372, %369 ], [ null, %365 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #3
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #3
  ret ptr %376
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: nounwind
define void @tir_dealloc(ptr noundef %0) local_unnamed_addr #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %3 = load ptr, ptr %2, align 8
  %4 = load ptr, ptr %3, align 8
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %6 = load ptr, ptr %5, align 8
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %4, i64 112
  %10 = load ptr, ptr %9, align 8
  tail call void %10(ptr noundef %0) #4
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 104
  %12 = load ptr, ptr %11, align 8
  tail call void %12(ptr noundef %6) #4
  %13 = load ptr, ptr %11, align 8
  tail call void %13(ptr noundef %8) #4
  ret void
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #2

attributes #0 = { nounwind "no-builtins" "no-trapping-math"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { nounwind }
attributes #4 = { nobuiltin nounwind "no-builtins" }

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
