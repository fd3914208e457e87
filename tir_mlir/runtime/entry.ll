
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
  br i1 %21, label %350, label %22

22:                                               ; preds = %4
  %23 = getelementptr inbounds nuw i8, ptr %14, i64 48
  %24 = getelementptr inbounds nuw i8, ptr %14, i64 40
  %25 = load i64, ptr %24, align 8
  %26 = icmp sgt i64 %25, 0
  br i1 %26, label %27, label %350

27:                                               ; preds = %22
  %28 = load i64, ptr %23, align 8
  %29 = getelementptr inbounds nuw i8, ptr %14, i64 64
  %30 = getelementptr inbounds nuw i8, ptr %14, i64 56
  %31 = getelementptr inbounds nuw i8, ptr %14, i64 72
  %32 = getelementptr inbounds nuw i8, ptr %14, i64 24
  br label %33

33:                                               ; preds = %27, %340
  %34 = phi i64 [ 0, %27 ], [ %345, %340 ]
  %35 = phi i64 [ %28, %27 ], [ %344, %340 ]
  %36 = load ptr, ptr %29, align 8
  %37 = load i64, ptr %30, align 8
  %38 = mul nsw i64 %37, %35
  %39 = getelementptr inbounds i64, ptr %36, i64 %38
  %40 = load ptr, ptr %14, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %10) #3
  %41 = load i64, ptr %17, align 8
  %42 = icmp sgt i64 %41, 0
  br i1 %42, label %43, label %248

43:                                               ; preds = %33
  %44 = getelementptr inbounds nuw i8, ptr %39, i64 24
  %45 = getelementptr inbounds nuw i8, ptr %40, i64 16
  %46 = getelementptr inbounds nuw i8, ptr %40, i64 88
  %47 = getelementptr inbounds nuw i8, ptr %40, i64 32
  %48 = getelementptr inbounds nuw i8, ptr %40, i64 40
  %49 = getelementptr inbounds nuw i8, ptr %40, i64 8
  %50 = getelementptr inbounds nuw i8, ptr %40, i64 80
  br label %51

51:                                               ; preds = %239, %43
  %52 = phi ptr [ %44, %43 ], [ %242, %239 ]
  %53 = phi ptr [ %12, %43 ], [ %241, %239 ]
  %54 = phi i32 [ 0, %43 ], [ %240, %239 ]
  %55 = phi i64 [ 0, %43 ], [ %243, %239 ]
  %56 = getelementptr inbounds nuw %struct.param, ptr %31, i64 %55
  %57 = load i64, ptr %56, align 8
  %58 = icmp eq i64 %57, 0
  %59 = getelementptr inbounds nuw ptr, ptr %1, i64 %55
  %60 = load ptr, ptr %59, align 8
  br i1 %58, label %119, label %61

61:                                               ; preds = %51
  %62 = getelementptr inbounds nuw i64, ptr %11, i64 %55
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #3
  store i32 0, ptr %9, align 4
  switch i64 %57, label %86 [
    i64 5, label %63
    i64 3, label %67
    i64 4, label %67
  ]

63:                                               ; preds = %61
  %64 = load ptr, ptr %47, align 8
  %65 = icmp eq ptr %60, %64
  %66 = zext i1 %65 to i64
  store i64 %66, ptr %62, align 8
  br i1 %65, label %106, label %108

67:                                               ; preds = %61, %61
  %68 = getelementptr inbounds nuw i8, ptr %60, i64 8
  %69 = load ptr, ptr %68, align 8
  %70 = load ptr, ptr %45, align 8
  %71 = icmp eq ptr %69, %70
  br i1 %71, label %72, label %105

72:                                               ; preds = %67
  %73 = load ptr, ptr %46, align 8
  %74 = call double %73(ptr noundef nonnull %60) #4
  %75 = load i64, ptr %56, align 8
  %76 = icmp eq i64 %75, 3
  %77 = fptrunc double %74 to float
  %78 = bitcast float %77 to i32
  %79 = bitcast double %74 to i64
  %80 = trunc i64 %79 to i32
  %81 = lshr i64 %79, 32
  %82 = trunc nuw i64 %81 to i32
  %83 = select i1 %76, i32 %78, i32 %80
  %84 = select i1 %76, i32 0, i32 %82
  store i32 %83, ptr %62, align 8
  %85 = getelementptr inbounds nuw i8, ptr %62, i64 4
  store i32 %84, ptr %85, align 4
  br label %106

86:                                               ; preds = %61
  %87 = getelementptr inbounds nuw i8, ptr %60, i64 8
  %88 = load ptr, ptr %87, align 8
  %89 = load ptr, ptr %49, align 8
  %90 = icmp eq ptr %88, %89
  br i1 %90, label %91, label %105

91:                                               ; preds = %86
  %92 = load ptr, ptr %50, align 8
  %93 = call i64 %92(ptr noundef nonnull %60, ptr noundef nonnull %9) #4
  store i64 %93, ptr %62, align 8
  %94 = load i32, ptr %9, align 4
  %95 = icmp eq i32 %94, 0
  br i1 %95, label %96, label %105

96:                                               ; preds = %91
  %97 = getelementptr inbounds nuw i8, ptr %56, i64 8
  %98 = load i64, ptr %97, align 8
  %99 = sub nsw i64 64, %98
  %100 = shl i64 %93, %99
  %101 = ashr exact i64 %100, %99
  %102 = icmp eq i64 %93, %101
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #3
  br i1 %102, label %103, label %340

103:                                              ; preds = %96
  %104 = load i64, ptr %56, align 8
  br label %111

105:                                              ; preds = %91, %86, %67
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #3
  br label %340

106:                                              ; preds = %72, %63
  %107 = phi i64 [ %75, %72 ], [ 5, %63 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #3
  br label %111

108:                                              ; preds = %63
  %109 = load ptr, ptr %48, align 8
  %110 = icmp eq ptr %60, %109
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #3
  br i1 %110, label %239, label %340

111:                                              ; preds = %103, %106
  %112 = phi i64 [ %104, %103 ], [ %107, %106 ]
  %113 = icmp eq i64 %112, 1
  br i1 %113, label %114, label %239

114:                                              ; preds = %111
  %115 = load i64, ptr %62, align 8
  %116 = getelementptr inbounds nuw i8, ptr %52, i64 8
  %117 = load i64, ptr %52, align 8
  %118 = icmp eq i64 %115, %117
  br i1 %118, label %239, label %340

119:                                              ; preds = %51
  %120 = getelementptr inbounds nuw i8, ptr %56, i64 8
  %121 = load i64, ptr %120, align 8
  %122 = getelementptr inbounds nuw i8, ptr %52, i64 48
  %123 = getelementptr inbounds i64, ptr %122, i64 %121
  %124 = getelementptr inbounds nuw i8, ptr %60, i64 8
  %125 = load ptr, ptr %124, align 8
  %126 = load ptr, ptr %40, align 8
  %127 = icmp eq ptr %125, %126
  br i1 %127, label %128, label %340

128:                                              ; preds = %119
  %129 = getelementptr inbounds nuw i8, ptr %60, i64 56
  %130 = load i64, ptr %129, align 8
  %131 = load i64, ptr %52, align 8
  %132 = icmp eq i64 %130, %131
  br i1 %132, label %133, label %340

133:                                              ; preds = %128
  %134 = getelementptr inbounds nuw i8, ptr %60, i64 24
  %135 = load i32, ptr %134, align 8
  %136 = sext i32 %135 to i64
  %137 = icmp eq i64 %121, %136
  br i1 %137, label %138, label %340

138:                                              ; preds = %133
  %139 = getelementptr inbounds nuw i8, ptr %60, i64 32
  %140 = getelementptr inbounds nuw i8, ptr %60, i64 40
  %141 = call i64 @llvm.smax.i64(i64 %121, i64 0)
  br label %142

142:                                              ; preds = %153, %138
  %143 = phi i64 [ %149, %153 ], [ 0, %138 ]
  %144 = icmp eq i64 %143, %141
  br i1 %144, label %160, label %145

145:                                              ; preds = %142
  %146 = load ptr, ptr %139, align 8
  %147 = getelementptr inbounds nuw i64, ptr %146, i64 %143
  %148 = load i64, ptr %147, align 8
  %149 = add nuw i64 %143, 1
  %150 = getelementptr inbounds nuw i64, ptr %123, i64 %149
  %151 = load i64, ptr %150, align 8
  %152 = icmp eq i64 %148, %151
  br i1 %152, label %153, label %340

153:                                              ; preds = %145
  %154 = load ptr, ptr %140, align 8
  %155 = getelementptr inbounds nuw i64, ptr %154, i64 %143
  %156 = load i64, ptr %155, align 8
  %157 = getelementptr inbounds nuw i64, ptr %122, i64 %143
  %158 = load i64, ptr %157, align 8
  %159 = icmp eq i64 %156, %158
  br i1 %159, label %142, label %340, !llvm.loop !5

160:                                              ; preds = %142
  %161 = getelementptr inbounds nuw i8, ptr %60, i64 16
  %162 = load i64, ptr %161, align 8
  %163 = getelementptr inbounds nuw i8, ptr %52, i64 8
  %164 = load i64, ptr %163, align 8
  %165 = and i64 %164, %162
  %166 = icmp eq i64 %165, 0
  br i1 %166, label %167, label %340

167:                                              ; preds = %160
  %168 = getelementptr inbounds nuw i8, ptr %52, i64 16
  %169 = load i64, ptr %168, align 8
  %170 = icmp eq i64 %169, 0
  br i1 %170, label %176, label %171

171:                                              ; preds = %167
  %172 = getelementptr inbounds nuw i8, ptr %60, i64 64
  %173 = load i32, ptr %172, align 8
  %174 = and i32 %173, -2147482624
  %175 = icmp eq i32 %174, 1024
  br i1 %175, label %176, label %340

176:                                              ; preds = %171, %167
  %177 = load i64, ptr %32, align 8
  %178 = icmp eq i64 %177, 0
  br i1 %178, label %214, label %179

179:                                              ; preds = %176
  %180 = getelementptr inbounds nuw i8, ptr %52, i64 32
  %181 = load i64, ptr %180, align 8
  %182 = add i64 %181, %162
  %183 = getelementptr inbounds nuw i8, ptr %52, i64 40
  %184 = load i64, ptr %183, align 8
  %185 = add i64 %184, %162
  %186 = icmp sgt i32 %54, 0
  br i1 %186, label %187, label %207

187:                                              ; preds = %179
  %188 = zext nneg i32 %54 to i64
  br label %189

189:                                              ; preds = %204, %187
  %190 = phi i64 [ 0, %187 ], [ %205, %204 ]
  br i1 %170, label %191, label %196

191:                                              ; preds = %189
  %192 = getelementptr inbounds nuw %struct.anon, ptr %10, i64 %190
  %193 = getelementptr inbounds nuw i8, ptr %192, i64 16
  %194 = load i64, ptr %193, align 8
  %195 = icmp eq i64 %194, 0
  br i1 %195, label %204, label %196

196:                                              ; preds = %191, %189
  %197 = getelementptr inbounds nuw %struct.anon, ptr %10, i64 %190
  %198 = getelementptr inbounds nuw i8, ptr %197, i64 8
  %199 = load i64, ptr %198, align 8
  %200 = icmp ugt i64 %199, %182
  br i1 %200, label %201, label %204

201:                                              ; preds = %196
  %202 = load i64, ptr %197, align 8
  %203 = icmp ugt i64 %185, %202
  br i1 %203, label %340, label %204

204:                                              ; preds = %201, %196, %191
  %205 = add nuw nsw i64 %190, 1
  %206 = icmp eq i64 %205, %188
  br i1 %206, label %207, label %189, !llvm.loop !8

207:                                              ; preds = %204, %179
  %208 = sext i32 %54 to i64
  %209 = getelementptr inbounds %struct.anon, ptr %10, i64 %208
  store i64 %182, ptr %209, align 8
  %210 = getelementptr inbounds nuw i8, ptr %209, i64 8
  store i64 %185, ptr %210, align 8
  %211 = load i64, ptr %168, align 8
  %212 = getelementptr inbounds nuw i8, ptr %209, i64 16
  store i64 %211, ptr %212, align 8
  %213 = add nsw i32 %54, 1
  br label %214

214:                                              ; preds = %207, %176
  %215 = phi i32 [ %213, %207 ], [ %54, %176 ]
  %216 = ptrtoint ptr %53 to i64
  %217 = getelementptr inbounds nuw i64, ptr %11, i64 %55
  store i64 %216, ptr %217, align 8
  %218 = getelementptr inbounds nuw i8, ptr %52, i64 24
  %219 = load i64, ptr %218, align 8
  %220 = sub i64 %162, %219
  %221 = getelementptr inbounds nuw i8, ptr %53, i64 8
  store i64 %220, ptr %53, align 8
  %222 = load i64, ptr %218, align 8
  %223 = sub i64 %162, %222
  %224 = getelementptr inbounds nuw i8, ptr %53, i64 16
  store i64 %223, ptr %221, align 8
  %225 = shl nsw i64 %121, 1
  %226 = icmp slt i64 %121, 0
  br i1 %226, label %227, label %231

227:                                              ; preds = %231, %214
  %228 = phi ptr [ %224, %214 ], [ %236, %231 ]
  %229 = getelementptr inbounds i64, ptr %123, i64 %225
  %230 = getelementptr inbounds nuw i8, ptr %229, i64 8
  br label %239

231:                                              ; preds = %214, %231
  %232 = phi i64 [ %237, %231 ], [ 0, %214 ]
  %233 = phi ptr [ %236, %231 ], [ %224, %214 ]
  %234 = getelementptr inbounds nuw i64, ptr %123, i64 %232
  %235 = load i64, ptr %234, align 8
  %236 = getelementptr inbounds nuw i8, ptr %233, i64 8
  store i64 %235, ptr %233, align 8
  %237 = add nuw nsw i64 %232, 1
  %238 = icmp eq i64 %232, %225
  br i1 %238, label %227, label %231, !llvm.loop !9

239:                                              ; preds = %108, %227, %114, %111
  %240 = phi i32 [ %54, %111 ], [ %215, %227 ], [ %54, %114 ], [ %54, %108 ]
  %241 = phi ptr [ %53, %111 ], [ %228, %227 ], [ %53, %114 ], [ %53, %108 ]
  %242 = phi ptr [ %52, %111 ], [ %230, %227 ], [ %116, %114 ], [ %52, %108 ]
  %243 = add nuw nsw i64 %55, 1
  %244 = load i64, ptr %17, align 8
  %245 = icmp slt i64 %243, %244
  br i1 %245, label %51, label %246, !llvm.loop !10

246:                                              ; preds = %239
  %247 = load ptr, ptr %14, align 8
  br label %248

248:                                              ; preds = %33, %246
  %249 = phi ptr [ %247, %246 ], [ %40, %33 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #3
  store i64 %35, ptr %23, align 8
  %250 = load i64, ptr %39, align 8
  %251 = icmp eq i64 %250, 0
  br i1 %251, label %286, label %252

252:                                              ; preds = %248
  %253 = getelementptr inbounds nuw i8, ptr %39, i64 16
  %254 = load i64, ptr %253, align 8
  %255 = add nsw i64 %254, 1
  store i64 %255, ptr %253, align 8
  %256 = and i64 %255, 63
  %257 = icmp eq i64 %256, 0
  br i1 %257, label %261, label %258

258:                                              ; preds = %252
  %259 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %260 = load ptr, ptr %259, align 8
  call void %260(ptr noundef nonnull %11) #4
  br label %331

261:                                              ; preds = %252
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #3
  %262 = getelementptr inbounds nuw i8, ptr %249, i64 112
  %263 = load ptr, ptr %262, align 8
  %264 = getelementptr inbounds nuw i8, ptr %249, i64 120
  %265 = load i64, ptr %264, align 8
  %266 = trunc i64 %265 to i32
  %267 = call i32 %263(i32 noundef %266, ptr noundef nonnull %8) #4
  %268 = load i64, ptr %8, align 8
  %269 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %270 = load i64, ptr %269, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #3
  %271 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %272 = load ptr, ptr %271, align 8
  call void %272(ptr noundef nonnull %11) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #3
  %273 = load ptr, ptr %262, align 8
  %274 = load i64, ptr %264, align 8
  %275 = trunc i64 %274 to i32
  %276 = call i32 %273(i32 noundef %275, ptr noundef nonnull %7) #4
  %277 = load i64, ptr %7, align 8
  %278 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %279 = load i64, ptr %278, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #3
  %280 = sub i64 %277, %268
  %281 = mul i64 %280, 1000000000
  %282 = sub i64 %279, %270
  %283 = add i64 %282, %281
  %284 = icmp sgt i64 %283, 20000
  br i1 %284, label %285, label %331

285:                                              ; preds = %261
  store i64 0, ptr %39, align 8
  br label %331

286:                                              ; preds = %248
  %287 = getelementptr inbounds nuw i8, ptr %14, i64 32
  %288 = load i64, ptr %287, align 8
  %289 = icmp eq i64 %288, 0
  %290 = getelementptr inbounds nuw i8, ptr %39, i64 8
  %291 = load i64, ptr %290, align 8
  %292 = icmp slt i64 %291, 8
  %293 = select i1 %289, i1 %292, i1 false
  %294 = zext i1 %293 to i64
  %295 = add nsw i64 %291, %294
  store i64 %295, ptr %290, align 8
  %296 = getelementptr inbounds nuw i8, ptr %249, i64 64
  %297 = load ptr, ptr %296, align 8
  %298 = call ptr %297() #4
  br i1 %293, label %299, label %325

299:                                              ; preds = %286
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #3
  %300 = getelementptr inbounds nuw i8, ptr %249, i64 112
  %301 = load ptr, ptr %300, align 8
  %302 = getelementptr inbounds nuw i8, ptr %249, i64 120
  %303 = load i64, ptr %302, align 8
  %304 = trunc i64 %303 to i32
  %305 = call i32 %301(i32 noundef %304, ptr noundef nonnull %6) #4
  %306 = load i64, ptr %6, align 8
  %307 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %308 = load i64, ptr %307, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #3
  %309 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %310 = load ptr, ptr %309, align 8
  call void %310(ptr noundef nonnull %11) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #3
  %311 = load ptr, ptr %300, align 8
  %312 = load i64, ptr %302, align 8
  %313 = trunc i64 %312 to i32
  %314 = call i32 %311(i32 noundef %313, ptr noundef nonnull %5) #4
  %315 = load i64, ptr %5, align 8
  %316 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %317 = load i64, ptr %316, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #3
  %318 = sub i64 %315, %306
  %319 = mul i64 %318, 1000000000
  %320 = sub i64 %317, %308
  %321 = add i64 %320, %319
  %322 = icmp slt i64 %321, 20000
  %323 = getelementptr inbounds nuw i8, ptr %249, i64 72
  %324 = load ptr, ptr %323, align 8
  call void %324(ptr noundef %298) #4
  br i1 %322, label %330, label %331

325:                                              ; preds = %286
  %326 = getelementptr inbounds nuw i8, ptr %14, i64 8
  %327 = load ptr, ptr %326, align 8
  call void %327(ptr noundef nonnull %11) #4
  %328 = getelementptr inbounds nuw i8, ptr %249, i64 72
  %329 = load ptr, ptr %328, align 8
  call void %329(ptr noundef %298) #4
  br label %331

330:                                              ; preds = %299
  store i64 1, ptr %39, align 8
  br label %331

331:                                              ; preds = %258, %261, %285, %299, %325, %330
  %332 = getelementptr inbounds nuw i8, ptr %15, i64 48
  %333 = load i64, ptr %332, align 8
  %334 = icmp eq i64 %333, 0
  br i1 %334, label %347, label %335

335:                                              ; preds = %331
  %336 = getelementptr inbounds nuw i8, ptr %15, i64 24
  %337 = load ptr, ptr %336, align 8
  %338 = load i64, ptr %337, align 8
  %339 = add nsw i64 %338, 1
  store i64 %339, ptr %337, align 8
  br label %347

340:                                              ; preds = %96, %108, %114, %160, %171, %119, %133, %128, %145, %153, %201, %105
  call void @llvm.lifetime.end.p0(ptr nonnull %10) #3
  %341 = add nsw i64 %35, 1
  %342 = load i64, ptr %24, align 8
  %343 = icmp slt i64 %341, %342
  %344 = select i1 %343, i64 %341, i64 0
  %345 = add nuw nsw i64 %34, 1
  %346 = icmp slt i64 %345, %342
  br i1 %346, label %33, label %350, !llvm.loop !11

347:                                              ; preds = %335, %331
  %348 = getelementptr inbounds nuw i8, ptr %15, i64 24
  %349 = load ptr, ptr %348, align 8
  br label %356

350:                                              ; preds = %340, %22, %4
  %351 = getelementptr inbounds nuw i8, ptr %15, i64 56
  %352 = load ptr, ptr %351, align 8
  %353 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %354 = load ptr, ptr %353, align 8
  %355 = call ptr %352(ptr noundef %354, ptr noundef %1, i64 noundef %2, ptr noundef %3) #4
  br label %356

356:                                              ; preds = %347, %350
  %357 = phi ptr [ %355, %350 ], [ %349, %347 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %12) #3
  call void @llvm.lifetime.end.p0(ptr nonnull %11) #3
  ret ptr %357
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
  %9 = getelementptr inbounds nuw i8, ptr %4, i64 104
  %10 = load ptr, ptr %9, align 8
  tail call void %10(ptr noundef %0) #4
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 96
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
