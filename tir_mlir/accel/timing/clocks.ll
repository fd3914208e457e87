
; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define range(i64 0, -9223372036854775808) i64 @tir_accel_clock(ptr noundef %0) local_unnamed_addr #0 {
  %2 = load i64, ptr %0, align 8
  %3 = icmp sgt i64 %2, 0
  br i1 %3, label %4, label %67

4:                                                ; preds = %1
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 272
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 176
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 304
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 312
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 416
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 408
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 192
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 184
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 216
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 344
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %36 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %37 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %38 = getelementptr inbounds nuw i8, ptr %0, i64 248
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 368
  %40 = getelementptr inbounds nuw i8, ptr %0, i64 432
  %41 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %42 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %43 = getelementptr inbounds nuw i8, ptr %0, i64 224
  %44 = getelementptr inbounds nuw i8, ptr %0, i64 352
  %45 = getelementptr inbounds nuw i8, ptr %0, i64 232
  %46 = getelementptr inbounds nuw i8, ptr %0, i64 240
  %47 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %48 = getelementptr inbounds nuw i8, ptr %0, i64 400
  %49 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %50 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %52 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %53 = getelementptr inbounds nuw i8, ptr %0, i64 392
  %54 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %55 = getelementptr inbounds nuw i8, ptr %0, i64 24
  br label %60

56:                                               ; preds = %705
  %57 = add nuw nsw i64 %61, 1
  %58 = load i64, ptr %0, align 8
  %59 = icmp slt i64 %57, %58
  br i1 %59, label %60, label %67, !llvm.loop !5

60:                                               ; preds = %4, %56
  %61 = phi i64 [ 0, %4 ], [ %57, %56 ]
  %62 = load i64, ptr %5, align 8
  %63 = icmp sgt i64 %62, 0
  %64 = load ptr, ptr %6, align 8
  br i1 %63, label %65, label %74

65:                                               ; preds = %60
  %66 = load ptr, ptr %7, align 8
  br label %84

67:                                               ; preds = %56, %1
  %68 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %69 = load i64, ptr %68, align 8
  %70 = icmp sgt i64 %69, 0
  br i1 %70, label %71, label %710

71:                                               ; preds = %67
  %72 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %73 = load ptr, ptr %72, align 8
  br label %722

74:                                               ; preds = %102, %60
  %75 = phi i64 [ -1, %60 ], [ %103, %102 ]
  %76 = getelementptr inbounds i64, ptr %64, i64 %75
  %77 = load i64, ptr %76, align 8
  %78 = add nsw i64 %77, 1
  store i64 %78, ptr %76, align 8
  %79 = load ptr, ptr %9, align 8
  %80 = getelementptr inbounds i64, ptr %79, i64 %77
  %81 = load i64, ptr %80, align 8
  %82 = icmp eq i64 %81, 1
  %83 = load ptr, ptr %8, align 8
  br i1 %82, label %106, label %175

84:                                               ; preds = %65, %102
  %85 = phi i64 [ 0, %65 ], [ %104, %102 ]
  %86 = phi i64 [ -1, %65 ], [ %103, %102 ]
  %87 = getelementptr inbounds nuw i64, ptr %64, i64 %85
  %88 = load i64, ptr %87, align 8
  %89 = getelementptr inbounds nuw i64, ptr %66, i64 %85
  %90 = load i64, ptr %89, align 8
  %91 = icmp slt i64 %88, %90
  br i1 %91, label %92, label %102

92:                                               ; preds = %84
  %93 = icmp slt i64 %86, 0
  br i1 %93, label %101, label %94

94:                                               ; preds = %92
  %95 = load ptr, ptr %8, align 8
  %96 = getelementptr inbounds nuw i64, ptr %95, i64 %85
  %97 = load i64, ptr %96, align 8
  %98 = getelementptr inbounds nuw i64, ptr %95, i64 %86
  %99 = load i64, ptr %98, align 8
  %100 = icmp slt i64 %97, %99
  br i1 %100, label %101, label %102

101:                                              ; preds = %94, %92
  br label %102

102:                                              ; preds = %84, %94, %101
  %103 = phi i64 [ %85, %101 ], [ %86, %94 ], [ %86, %84 ]
  %104 = add nuw nsw i64 %85, 1
  %105 = icmp eq i64 %104, %62
  br i1 %105, label %74, label %84, !llvm.loop !8

106:                                              ; preds = %74
  %107 = load ptr, ptr %11, align 8
  %108 = load ptr, ptr %10, align 8
  %109 = getelementptr inbounds i64, ptr %108, i64 %77
  %110 = load i64, ptr %109, align 8
  %111 = getelementptr inbounds i64, ptr %107, i64 %110
  %112 = load i64, ptr %111, align 8
  %113 = getelementptr inbounds i64, ptr %83, i64 %112
  %114 = load i64, ptr %113, align 8
  %115 = load i64, ptr %13, align 8
  %116 = add nsw i64 %115, %114
  %117 = load i64, ptr %21, align 8
  %118 = icmp sgt i64 %117, 0
  br i1 %118, label %119, label %169

119:                                              ; preds = %106
  %120 = shl nsw i64 %112, 1
  %121 = or disjoint i64 %120, 1
  br label %124

122:                                              ; preds = %164
  %123 = load ptr, ptr %8, align 8
  br label %169

124:                                              ; preds = %164, %119
  %125 = phi i64 [ %117, %119 ], [ %165, %164 ]
  %126 = phi i64 [ %116, %119 ], [ %166, %164 ]
  %127 = phi i64 [ 0, %119 ], [ %167, %164 ]
  %128 = load ptr, ptr %54, align 8
  %129 = getelementptr inbounds i64, ptr %128, i64 %77
  %130 = load i64, ptr %129, align 8
  %131 = shl nuw i64 1, %127
  %132 = and i64 %130, %131
  %133 = icmp eq i64 %132, 0
  br i1 %133, label %164, label %134

134:                                              ; preds = %124
  %135 = load ptr, ptr %55, align 8
  %136 = getelementptr inbounds i64, ptr %135, i64 %77
  %137 = load i64, ptr %136, align 8
  %138 = load ptr, ptr %14, align 8
  %139 = getelementptr inbounds nuw i64, ptr %138, i64 %127
  %140 = load i64, ptr %139, align 8
  %141 = xor i64 %137, -1
  %142 = add i64 %140, %141
  %143 = icmp slt i64 %142, 0
  br i1 %143, label %152, label %144

144:                                              ; preds = %134
  %145 = load ptr, ptr %52, align 8
  %146 = load ptr, ptr %17, align 8
  %147 = getelementptr inbounds nuw i64, ptr %146, i64 %127
  %148 = load i64, ptr %147, align 8
  %149 = getelementptr i64, ptr %145, i64 %148
  %150 = getelementptr i64, ptr %149, i64 %142
  %151 = load i64, ptr %150, align 8
  br label %152

152:                                              ; preds = %144, %134
  %153 = phi i64 [ %151, %144 ], [ 0, %134 ]
  %154 = icmp sgt i64 %153, %126
  br i1 %154, label %155, label %164

155:                                              ; preds = %152
  %156 = sub i64 %153, %126
  %157 = load ptr, ptr %20, align 8
  %158 = mul nsw i64 %125, %121
  %159 = getelementptr i64, ptr %157, i64 %158
  %160 = getelementptr i64, ptr %159, i64 %127
  %161 = load i64, ptr %160, align 8
  %162 = add nsw i64 %156, %161
  store i64 %162, ptr %160, align 8
  %163 = load i64, ptr %21, align 8
  br label %164

164:                                              ; preds = %155, %152, %124
  %165 = phi i64 [ %125, %124 ], [ %163, %155 ], [ %125, %152 ]
  %166 = phi i64 [ %126, %124 ], [ %153, %155 ], [ %126, %152 ]
  %167 = add nuw nsw i64 %127, 1
  %168 = icmp slt i64 %167, %165
  br i1 %168, label %124, label %122, !llvm.loop !9

169:                                              ; preds = %106, %122
  %170 = phi ptr [ %83, %106 ], [ %123, %122 ]
  %171 = phi i64 [ %116, %106 ], [ %166, %122 ]
  %172 = getelementptr inbounds i64, ptr %170, i64 %112
  store i64 %171, ptr %172, align 8
  %173 = load ptr, ptr %53, align 8
  %174 = getelementptr inbounds i64, ptr %173, i64 %77
  store i64 %171, ptr %174, align 8
  br label %705

175:                                              ; preds = %74
  %176 = load ptr, ptr %10, align 8
  %177 = getelementptr inbounds i64, ptr %176, i64 %77
  %178 = load i64, ptr %177, align 8
  %179 = load ptr, ptr %11, align 8
  %180 = getelementptr inbounds i64, ptr %179, i64 %178
  %181 = load i64, ptr %180, align 8
  %182 = getelementptr inbounds i64, ptr %83, i64 %181
  %183 = load i64, ptr %182, align 8
  %184 = load ptr, ptr %12, align 8
  %185 = getelementptr inbounds i64, ptr %184, i64 %178
  %186 = load i64, ptr %185, align 8
  %187 = icmp eq i64 %186, 0
  br i1 %187, label %188, label %234

188:                                              ; preds = %175
  %189 = load i64, ptr %13, align 8
  %190 = add nsw i64 %189, %183
  %191 = load ptr, ptr %14, align 8
  %192 = getelementptr inbounds i64, ptr %191, i64 %178
  %193 = load i64, ptr %192, align 8
  %194 = load ptr, ptr %15, align 8
  %195 = getelementptr inbounds i64, ptr %194, i64 %178
  %196 = load i64, ptr %195, align 8
  %197 = sub nsw i64 %193, %196
  %198 = icmp slt i64 %197, 0
  br i1 %198, label %207, label %199

199:                                              ; preds = %188
  %200 = load ptr, ptr %16, align 8
  %201 = load ptr, ptr %17, align 8
  %202 = getelementptr inbounds i64, ptr %201, i64 %178
  %203 = load i64, ptr %202, align 8
  %204 = getelementptr i64, ptr %200, i64 %203
  %205 = getelementptr i64, ptr %204, i64 %197
  %206 = load i64, ptr %205, align 8
  br label %207

207:                                              ; preds = %199, %188
  %208 = phi i64 [ %206, %199 ], [ 0, %188 ]
  %209 = icmp sgt i64 %208, %190
  br i1 %209, label %210, label %227

210:                                              ; preds = %207
  %211 = load ptr, ptr %18, align 8
  %212 = getelementptr inbounds i64, ptr %211, i64 %178
  %213 = load i64, ptr %212, align 8
  %214 = icmp eq i64 %213, 0
  br i1 %214, label %216, label %215

215:                                              ; preds = %210
  store i64 1, ptr %19, align 8
  br label %216

216:                                              ; preds = %215, %210
  %217 = sub i64 %208, %190
  %218 = load ptr, ptr %20, align 8
  %219 = shl nsw i64 %181, 1
  %220 = load i64, ptr %21, align 8
  %221 = mul nsw i64 %219, %220
  %222 = getelementptr i64, ptr %218, i64 %221
  %223 = getelementptr i64, ptr %222, i64 %178
  %224 = load i64, ptr %223, align 8
  %225 = add nsw i64 %217, %224
  store i64 %225, ptr %223, align 8
  %226 = load ptr, ptr %8, align 8
  br label %227

227:                                              ; preds = %216, %207
  %228 = phi ptr [ %226, %216 ], [ %83, %207 ]
  %229 = phi i64 [ %208, %216 ], [ %190, %207 ]
  %230 = getelementptr inbounds i64, ptr %228, i64 %181
  store i64 %229, ptr %230, align 8
  %231 = load ptr, ptr %10, align 8
  %232 = getelementptr inbounds i64, ptr %231, i64 %77
  %233 = load i64, ptr %232, align 8
  br label %234

234:                                              ; preds = %227, %175
  %235 = phi i64 [ %233, %227 ], [ %178, %175 ]
  %236 = phi i64 [ %229, %227 ], [ %183, %175 ]
  %237 = load ptr, ptr %22, align 8
  %238 = getelementptr inbounds i64, ptr %237, i64 %178
  %239 = load i64, ptr %238, align 8
  %240 = load ptr, ptr %23, align 8
  %241 = getelementptr inbounds i64, ptr %240, i64 %77
  %242 = load i64, ptr %241, align 8
  %243 = getelementptr i8, ptr %241, i64 8
  %244 = load i64, ptr %243, align 8
  %245 = icmp slt i64 %242, %244
  br i1 %245, label %246, label %313

246:                                              ; preds = %234
  %247 = load ptr, ptr %24, align 8
  %248 = load ptr, ptr %25, align 8
  br label %249

249:                                              ; preds = %266, %246
  %250 = phi i64 [ 0, %246 ], [ %268, %266 ]
  %251 = phi i64 [ %242, %246 ], [ %269, %266 ]
  %252 = phi i64 [ 0, %246 ], [ %267, %266 ]
  %253 = getelementptr inbounds i64, ptr %247, i64 %251
  %254 = load i64, ptr %253, align 8
  %255 = getelementptr inbounds i64, ptr %248, i64 %251
  %256 = load i64, ptr %255, align 8
  %257 = icmp slt i64 %254, %256
  br i1 %257, label %258, label %266

258:                                              ; preds = %249
  %259 = load ptr, ptr %26, align 8
  %260 = load ptr, ptr %27, align 8
  %261 = load ptr, ptr %31, align 8
  %262 = getelementptr inbounds i64, ptr %261, i64 %251
  %263 = load i64, ptr %262, align 8
  %264 = and i64 %263, 2
  %265 = icmp eq i64 %264, 0
  br label %271

266:                                              ; preds = %309, %249
  %267 = phi i64 [ %252, %249 ], [ %310, %309 ]
  %268 = phi i64 [ %250, %249 ], [ %303, %309 ]
  %269 = add nsw i64 %251, 1
  %270 = icmp eq i64 %269, %244
  br i1 %270, label %313, label %249, !llvm.loop !10

271:                                              ; preds = %309, %258
  %272 = phi i64 [ %250, %258 ], [ %303, %309 ]
  %273 = phi i64 [ %254, %258 ], [ %311, %309 ]
  %274 = phi i64 [ %252, %258 ], [ %310, %309 ]
  %275 = getelementptr inbounds i64, ptr %259, i64 %273
  %276 = load i64, ptr %275, align 8
  %277 = getelementptr inbounds i64, ptr %260, i64 %273
  %278 = load i64, ptr %277, align 8
  %279 = icmp sgt i64 %278, %272
  br i1 %279, label %280, label %302

280:                                              ; preds = %271
  %281 = icmp eq i64 %276, %235
  br i1 %281, label %301, label %282

282:                                              ; preds = %280
  %283 = load ptr, ptr %12, align 8
  %284 = getelementptr inbounds i64, ptr %283, i64 %235
  %285 = load i64, ptr %284, align 8
  %286 = icmp eq i64 %285, 0
  br i1 %286, label %292, label %287

287:                                              ; preds = %282
  %288 = load ptr, ptr %28, align 8
  %289 = getelementptr inbounds i64, ptr %288, i64 %276
  %290 = load i64, ptr %289, align 8
  %291 = icmp eq i64 %290, 0
  br i1 %291, label %301, label %302

292:                                              ; preds = %282
  %293 = load ptr, ptr %29, align 8
  %294 = getelementptr inbounds i64, ptr %293, i64 %276
  %295 = load i64, ptr %294, align 8
  %296 = load i64, ptr %30, align 8
  %297 = icmp slt i64 %273, %296
  %298 = select i1 %297, i64 1, i64 2
  %299 = and i64 %298, %295
  %300 = icmp eq i64 %299, 0
  br i1 %300, label %302, label %301

301:                                              ; preds = %292, %287, %280
  br label %302

302:                                              ; preds = %301, %292, %287, %271
  %303 = phi i64 [ %278, %301 ], [ %272, %292 ], [ %272, %271 ], [ %272, %287 ]
  br i1 %265, label %309, label %304

304:                                              ; preds = %302
  %305 = load ptr, ptr %32, align 8
  %306 = getelementptr inbounds i64, ptr %305, i64 %273
  %307 = load i64, ptr %306, align 8
  %308 = tail call i64 @llvm.smax.i64(i64 %307, i64 %274)
  br label %309

309:                                              ; preds = %304, %302
  %310 = phi i64 [ %274, %302 ], [ %308, %304 ]
  %311 = add nsw i64 %273, 1
  %312 = icmp eq i64 %311, %256
  br i1 %312, label %266, label %271, !llvm.loop !11

313:                                              ; preds = %266, %234
  %314 = phi i64 [ 0, %234 ], [ %267, %266 ]
  %315 = phi i64 [ 0, %234 ], [ %268, %266 ]
  %316 = icmp slt i64 %315, %314
  %317 = select i1 %316, i64 2, i64 1
  %318 = tail call noundef i64 @llvm.smax.i64(i64 %315, i64 %314)
  %319 = load ptr, ptr %33, align 8
  %320 = getelementptr inbounds i64, ptr %319, i64 %77
  %321 = load i64, ptr %320, align 8
  %322 = getelementptr i8, ptr %320, i64 8
  %323 = load i64, ptr %322, align 8
  %324 = icmp slt i64 %321, %323
  %325 = load i64, ptr %19, align 8
  br i1 %324, label %326, label %334

326:                                              ; preds = %313, %385
  %327 = phi i64 [ %386, %385 ], [ %325, %313 ]
  %328 = phi i64 [ %387, %385 ], [ %323, %313 ]
  %329 = phi i64 [ %388, %385 ], [ %325, %313 ]
  %330 = phi i64 [ %392, %385 ], [ %318, %313 ]
  %331 = phi i64 [ %393, %385 ], [ %321, %313 ]
  %332 = phi i64 [ %391, %385 ], [ %317, %313 ]
  %333 = icmp eq i64 %329, 0
  br i1 %333, label %339, label %334

334:                                              ; preds = %385, %326, %313
  %335 = phi i64 [ %325, %313 ], [ %327, %326 ], [ %386, %385 ]
  %336 = phi i64 [ %317, %313 ], [ %332, %326 ], [ %391, %385 ]
  %337 = phi i64 [ %318, %313 ], [ %330, %326 ], [ %392, %385 ]
  %338 = icmp eq i64 %335, 0
  br i1 %338, label %395, label %705

339:                                              ; preds = %326
  %340 = load ptr, ptr %34, align 8
  %341 = getelementptr inbounds i64, ptr %340, i64 %331
  %342 = load i64, ptr %341, align 8
  %343 = load ptr, ptr %35, align 8
  %344 = getelementptr inbounds i64, ptr %343, i64 %342
  %345 = load i64, ptr %344, align 8
  %346 = load ptr, ptr %36, align 8
  %347 = getelementptr inbounds i64, ptr %346, i64 %331
  %348 = load i64, ptr %347, align 8
  %349 = icmp eq i64 %348, 0
  br i1 %349, label %350, label %358

350:                                              ; preds = %339
  %351 = load ptr, ptr %39, align 8
  %352 = getelementptr inbounds i64, ptr %351, i64 %342
  %353 = load i64, ptr %352, align 8
  %354 = load ptr, ptr %37, align 8
  %355 = getelementptr inbounds i64, ptr %354, i64 %342
  %356 = load i64, ptr %355, align 8
  %357 = icmp slt i64 %353, %356
  br i1 %357, label %372, label %381

358:                                              ; preds = %339
  %359 = load ptr, ptr %37, align 8
  %360 = getelementptr inbounds i64, ptr %359, i64 %342
  %361 = load i64, ptr %360, align 8
  %362 = load ptr, ptr %38, align 8
  %363 = getelementptr inbounds i64, ptr %362, i64 %342
  %364 = load i64, ptr %363, align 8
  %365 = sub nsw i64 %361, %364
  %366 = icmp slt i64 %365, 0
  br i1 %366, label %385, label %367

367:                                              ; preds = %358
  %368 = load ptr, ptr %39, align 8
  %369 = getelementptr inbounds i64, ptr %368, i64 %342
  %370 = load i64, ptr %369, align 8
  %371 = icmp slt i64 %365, %370
  br i1 %371, label %372, label %381

372:                                              ; preds = %367, %350
  %373 = phi i64 [ 376, %350 ], [ 384, %367 ]
  %374 = phi i64 [ %353, %350 ], [ %365, %367 ]
  %375 = getelementptr inbounds nuw i8, ptr %0, i64 %373
  %376 = load ptr, ptr %375, align 8
  %377 = getelementptr i64, ptr %376, i64 %345
  %378 = getelementptr i64, ptr %377, i64 %374
  %379 = load i64, ptr %378, align 8
  %380 = icmp slt i64 %379, 0
  br i1 %380, label %381, label %385

381:                                              ; preds = %372, %367, %350
  %382 = phi i64 [ %379, %372 ], [ -1, %350 ], [ -1, %367 ]
  %383 = select i1 %349, i64 3, i64 2
  store i64 %383, ptr %19, align 8
  store i64 %331, ptr %40, align 8
  %384 = load i64, ptr %322, align 8
  br label %385

385:                                              ; preds = %381, %372, %358
  %386 = phi i64 [ %383, %381 ], [ %327, %372 ], [ %327, %358 ]
  %387 = phi i64 [ %384, %381 ], [ %328, %372 ], [ %328, %358 ]
  %388 = phi i64 [ %383, %381 ], [ 0, %372 ], [ 0, %358 ]
  %389 = phi i64 [ %382, %381 ], [ %379, %372 ], [ 0, %358 ]
  %390 = icmp sgt i64 %389, %330
  %391 = select i1 %390, i64 3, i64 %332
  %392 = tail call i64 @llvm.smax.i64(i64 %389, i64 %330)
  %393 = add nsw i64 %331, 1
  %394 = icmp slt i64 %393, %387
  br i1 %394, label %326, label %334, !llvm.loop !12

395:                                              ; preds = %334
  %396 = tail call noundef i64 @llvm.smax.i64(i64 %236, i64 %239)
  %397 = tail call noundef i64 @llvm.smax.i64(i64 %337, i64 %396)
  %398 = load ptr, ptr %41, align 8
  %399 = getelementptr i64, ptr %398, i64 %77
  %400 = load i64, ptr %399, align 8
  %401 = getelementptr i8, ptr %399, i64 8
  %402 = load i64, ptr %401, align 8
  %403 = icmp slt i64 %400, %402
  br i1 %403, label %404, label %475

404:                                              ; preds = %395, %462
  %405 = phi i64 [ %463, %462 ], [ %336, %395 ]
  %406 = phi ptr [ %464, %462 ], [ %398, %395 ]
  %407 = phi i64 [ %465, %462 ], [ %397, %395 ]
  %408 = phi i64 [ %466, %462 ], [ %400, %395 ]
  %409 = load ptr, ptr %42, align 8
  %410 = getelementptr inbounds i64, ptr %409, i64 %408
  %411 = load i64, ptr %410, align 8
  %412 = load ptr, ptr %43, align 8
  %413 = getelementptr inbounds i64, ptr %412, i64 %411
  %414 = load i64, ptr %413, align 8
  %415 = getelementptr i8, ptr %413, i64 8
  %416 = load i64, ptr %415, align 8
  %417 = icmp slt i64 %414, %416
  br i1 %417, label %418, label %462

418:                                              ; preds = %404
  %419 = load ptr, ptr %44, align 8
  br label %422

420:                                              ; preds = %435
  %421 = icmp slt i64 %436, 0
  br i1 %421, label %462, label %439

422:                                              ; preds = %435, %418
  %423 = phi i64 [ %414, %418 ], [ %437, %435 ]
  %424 = phi i64 [ -1, %418 ], [ %436, %435 ]
  %425 = getelementptr inbounds i64, ptr %419, i64 %423
  %426 = load i64, ptr %425, align 8
  %427 = icmp sgt i64 %426, -1
  br i1 %427, label %428, label %435

428:                                              ; preds = %422
  %429 = icmp slt i64 %424, 0
  br i1 %429, label %434, label %430

430:                                              ; preds = %428
  %431 = getelementptr inbounds nuw i64, ptr %419, i64 %424
  %432 = load i64, ptr %431, align 8
  %433 = icmp slt i64 %426, %432
  br i1 %433, label %434, label %435

434:                                              ; preds = %430, %428
  br label %435

435:                                              ; preds = %434, %430, %422
  %436 = phi i64 [ %423, %434 ], [ %424, %430 ], [ %424, %422 ]
  %437 = add nsw i64 %423, 1
  %438 = icmp eq i64 %437, %416
  br i1 %438, label %420, label %422, !llvm.loop !13

439:                                              ; preds = %420
  %440 = getelementptr inbounds nuw i64, ptr %419, i64 %436
  %441 = load i64, ptr %440, align 8
  %442 = icmp sgt i64 %441, %407
  br i1 %442, label %443, label %456

443:                                              ; preds = %439
  %444 = load ptr, ptr %45, align 8
  %445 = getelementptr inbounds i64, ptr %444, i64 %411
  %446 = load i64, ptr %445, align 8
  %447 = add nsw i64 %446, 4
  %448 = load ptr, ptr %46, align 8
  %449 = getelementptr inbounds i64, ptr %448, i64 %411
  %450 = load i64, ptr %449, align 8
  %451 = icmp ne i64 %450, 0
  %452 = icmp sgt i64 %441, %397
  %453 = and i1 %452, %451
  br i1 %453, label %454, label %456

454:                                              ; preds = %443
  store i64 4, ptr %19, align 8
  %455 = load i64, ptr %440, align 8
  br label %456

456:                                              ; preds = %454, %443, %439
  %457 = phi i64 [ %455, %454 ], [ %441, %443 ], [ %441, %439 ]
  %458 = phi i64 [ %447, %454 ], [ %447, %443 ], [ %405, %439 ]
  %459 = phi i64 [ %441, %454 ], [ %441, %443 ], [ %407, %439 ]
  %460 = xor i64 %457, -1
  store i64 %460, ptr %440, align 8
  %461 = load ptr, ptr %41, align 8
  br label %462

462:                                              ; preds = %456, %420, %404
  %463 = phi i64 [ %405, %420 ], [ %458, %456 ], [ %405, %404 ]
  %464 = phi ptr [ %406, %420 ], [ %461, %456 ], [ %406, %404 ]
  %465 = phi i64 [ %407, %420 ], [ %459, %456 ], [ %407, %404 ]
  %466 = add nsw i64 %408, 1
  %467 = getelementptr i64, ptr %464, i64 %77
  %468 = getelementptr i8, ptr %467, i64 8
  %469 = load i64, ptr %468, align 8
  %470 = icmp slt i64 %466, %469
  br i1 %470, label %404, label %471, !llvm.loop !14

471:                                              ; preds = %462
  %472 = load i64, ptr %19, align 8
  %473 = icmp eq i64 %472, 0
  %474 = tail call i64 @llvm.smax.i64(i64 %396, i64 %465)
  br i1 %473, label %475, label %708

475:                                              ; preds = %471, %395
  %476 = phi i64 [ %474, %471 ], [ %397, %395 ]
  %477 = phi i64 [ %463, %471 ], [ %336, %395 ]
  %478 = phi ptr [ %464, %471 ], [ %398, %395 ]
  %479 = load ptr, ptr %47, align 8
  %480 = getelementptr inbounds i64, ptr %479, i64 %77
  %481 = load i64, ptr %480, align 8
  %482 = add nsw i64 %481, %476
  %483 = icmp sgt i64 %476, %239
  br i1 %483, label %484, label %503

484:                                              ; preds = %475
  %485 = sub nsw i64 %236, %239
  %486 = tail call noundef i64 @llvm.smax.i64(i64 %485, i64 0)
  %487 = load ptr, ptr %48, align 8
  %488 = load i64, ptr %49, align 8
  %489 = mul nsw i64 %488, %178
  %490 = getelementptr inbounds i64, ptr %487, i64 %489
  %491 = load i64, ptr %490, align 8
  %492 = add nsw i64 %491, %486
  store i64 %492, ptr %490, align 8
  %493 = load ptr, ptr %48, align 8
  %494 = load i64, ptr %49, align 8
  %495 = mul nsw i64 %494, %178
  %496 = getelementptr i64, ptr %493, i64 %495
  %497 = getelementptr i64, ptr %496, i64 %477
  %498 = load i64, ptr %497, align 8
  %499 = add i64 %486, %239
  %500 = sub i64 %476, %499
  %501 = add nsw i64 %500, %498
  store i64 %501, ptr %497, align 8
  %502 = load ptr, ptr %41, align 8
  br label %503

503:                                              ; preds = %484, %475
  %504 = phi ptr [ %502, %484 ], [ %478, %475 ]
  %505 = getelementptr i64, ptr %504, i64 %77
  %506 = load i64, ptr %505, align 8
  %507 = getelementptr i8, ptr %505, i64 8
  %508 = load i64, ptr %507, align 8
  %509 = icmp slt i64 %506, %508
  br i1 %509, label %510, label %546

510:                                              ; preds = %503, %539
  %511 = phi ptr [ %540, %539 ], [ %504, %503 ]
  %512 = phi i64 [ %541, %539 ], [ %506, %503 ]
  %513 = load ptr, ptr %42, align 8
  %514 = getelementptr inbounds i64, ptr %513, i64 %512
  %515 = load i64, ptr %514, align 8
  %516 = load ptr, ptr %43, align 8
  %517 = getelementptr inbounds i64, ptr %516, i64 %515
  %518 = load i64, ptr %517, align 8
  %519 = getelementptr i8, ptr %517, i64 8
  %520 = load i64, ptr %519, align 8
  %521 = icmp slt i64 %518, %520
  br i1 %521, label %522, label %539

522:                                              ; preds = %510
  %523 = load ptr, ptr %44, align 8
  br label %524

524:                                              ; preds = %536, %522
  %525 = phi i64 [ %518, %522 ], [ %537, %536 ]
  %526 = getelementptr inbounds i64, ptr %523, i64 %525
  %527 = load i64, ptr %526, align 8
  %528 = icmp slt i64 %527, 0
  br i1 %528, label %529, label %536

529:                                              ; preds = %524
  %530 = getelementptr inbounds i64, ptr %523, i64 %525
  %531 = load ptr, ptr %50, align 8
  %532 = getelementptr inbounds i64, ptr %531, i64 %512
  %533 = load i64, ptr %532, align 8
  %534 = add nsw i64 %533, %476
  store i64 %534, ptr %530, align 8
  %535 = load ptr, ptr %41, align 8
  br label %539

536:                                              ; preds = %524
  %537 = add i64 %525, 1
  %538 = icmp eq i64 %537, %520
  br i1 %538, label %539, label %524, !llvm.loop !15

539:                                              ; preds = %536, %529, %510
  %540 = phi ptr [ %535, %529 ], [ %511, %510 ], [ %511, %536 ]
  %541 = add nsw i64 %512, 1
  %542 = getelementptr i64, ptr %540, i64 %77
  %543 = getelementptr i8, ptr %542, i64 8
  %544 = load i64, ptr %543, align 8
  %545 = icmp slt i64 %541, %544
  br i1 %545, label %510, label %546, !llvm.loop !16

546:                                              ; preds = %539, %503
  %547 = load ptr, ptr %10, align 8
  %548 = getelementptr inbounds i64, ptr %547, i64 %77
  %549 = load i64, ptr %548, align 8
  %550 = load ptr, ptr %23, align 8
  %551 = getelementptr i64, ptr %550, i64 %77
  %552 = load i64, ptr %551, align 8
  %553 = getelementptr i8, ptr %551, i64 8
  %554 = load i64, ptr %553, align 8
  %555 = icmp slt i64 %552, %554
  br i1 %555, label %556, label %622

556:                                              ; preds = %546
  %557 = load ptr, ptr %25, align 8
  br label %558

558:                                              ; preds = %570, %556
  %559 = phi ptr [ %550, %556 ], [ %571, %570 ]
  %560 = phi ptr [ %557, %556 ], [ %572, %570 ]
  %561 = phi i64 [ %552, %556 ], [ %573, %570 ]
  %562 = load ptr, ptr %24, align 8
  %563 = getelementptr inbounds i64, ptr %562, i64 %561
  %564 = load i64, ptr %563, align 8
  %565 = getelementptr inbounds i64, ptr %560, i64 %561
  %566 = load i64, ptr %565, align 8
  %567 = icmp slt i64 %564, %566
  br i1 %567, label %578, label %570

568:                                              ; preds = %616
  %569 = load ptr, ptr %23, align 8
  br label %570

570:                                              ; preds = %568, %558
  %571 = phi ptr [ %569, %568 ], [ %559, %558 ]
  %572 = phi ptr [ %618, %568 ], [ %560, %558 ]
  %573 = add nsw i64 %561, 1
  %574 = getelementptr i64, ptr %571, i64 %77
  %575 = getelementptr i8, ptr %574, i64 8
  %576 = load i64, ptr %575, align 8
  %577 = icmp slt i64 %573, %576
  br i1 %577, label %558, label %622, !llvm.loop !17

578:                                              ; preds = %558, %616
  %579 = phi i64 [ %617, %616 ], [ %564, %558 ]
  %580 = load ptr, ptr %31, align 8
  %581 = getelementptr inbounds i64, ptr %580, i64 %561
  %582 = load i64, ptr %581, align 8
  %583 = and i64 %582, 2
  %584 = icmp eq i64 %583, 0
  br i1 %584, label %597, label %585

585:                                              ; preds = %578
  %586 = load ptr, ptr %51, align 8
  %587 = getelementptr inbounds i64, ptr %586, i64 %77
  %588 = load i64, ptr %587, align 8
  %589 = add nsw i64 %588, %482
  %590 = load ptr, ptr %27, align 8
  %591 = getelementptr inbounds i64, ptr %590, i64 %579
  store i64 %589, ptr %591, align 8
  %592 = load ptr, ptr %26, align 8
  %593 = getelementptr inbounds i64, ptr %592, i64 %579
  store i64 %549, ptr %593, align 8
  %594 = load ptr, ptr %31, align 8
  %595 = getelementptr inbounds i64, ptr %594, i64 %561
  %596 = load i64, ptr %595, align 8
  br label %597

597:                                              ; preds = %585, %578
  %598 = phi i64 [ %596, %585 ], [ %582, %578 ]
  %599 = and i64 %598, 1
  %600 = icmp eq i64 %599, 0
  br i1 %600, label %616, label %601

601:                                              ; preds = %597
  %602 = load ptr, ptr %29, align 8
  %603 = getelementptr inbounds i64, ptr %602, i64 %549
  %604 = load i64, ptr %603, align 8
  %605 = load i64, ptr %30, align 8
  %606 = icmp slt i64 %579, %605
  %607 = select i1 %606, i64 1, i64 2
  %608 = and i64 %607, %604
  %609 = icmp eq i64 %608, 0
  br i1 %609, label %616, label %610

610:                                              ; preds = %601
  %611 = load ptr, ptr %32, align 8
  %612 = getelementptr inbounds i64, ptr %611, i64 %579
  %613 = load i64, ptr %612, align 8
  %614 = icmp slt i64 %613, %482
  br i1 %614, label %615, label %616

615:                                              ; preds = %610
  store i64 %482, ptr %612, align 8
  br label %616

616:                                              ; preds = %615, %610, %601, %597
  %617 = add nsw i64 %579, 1
  %618 = load ptr, ptr %25, align 8
  %619 = getelementptr inbounds i64, ptr %618, i64 %561
  %620 = load i64, ptr %619, align 8
  %621 = icmp slt i64 %617, %620
  br i1 %621, label %578, label %568, !llvm.loop !18

622:                                              ; preds = %570, %546
  %623 = load ptr, ptr %17, align 8
  %624 = getelementptr inbounds i64, ptr %623, i64 %178
  %625 = load i64, ptr %624, align 8
  %626 = load ptr, ptr %14, align 8
  %627 = getelementptr inbounds i64, ptr %626, i64 %178
  %628 = load i64, ptr %627, align 8
  %629 = add nsw i64 %628, 1
  store i64 %629, ptr %627, align 8
  %630 = add nsw i64 %628, %625
  %631 = load ptr, ptr %14, align 8
  %632 = getelementptr inbounds i64, ptr %631, i64 %178
  %633 = load i64, ptr %632, align 8
  %634 = icmp sgt i64 %633, 1
  br i1 %634, label %635, label %640

635:                                              ; preds = %622
  %636 = load ptr, ptr %52, align 8
  %637 = getelementptr i64, ptr %636, i64 %630
  %638 = getelementptr i8, ptr %637, i64 -8
  %639 = load i64, ptr %638, align 8
  br label %640

640:                                              ; preds = %635, %622
  %641 = phi i64 [ %639, %635 ], [ 0, %622 ]
  %642 = load ptr, ptr %16, align 8
  %643 = getelementptr inbounds i64, ptr %642, i64 %630
  store i64 %476, ptr %643, align 8
  %644 = load ptr, ptr %53, align 8
  %645 = getelementptr inbounds i64, ptr %644, i64 %77
  store i64 %476, ptr %645, align 8
  %646 = load ptr, ptr %22, align 8
  %647 = getelementptr inbounds i64, ptr %646, i64 %178
  store i64 %482, ptr %647, align 8
  %648 = load ptr, ptr %51, align 8
  %649 = getelementptr inbounds i64, ptr %648, i64 %77
  %650 = load i64, ptr %649, align 8
  %651 = add nsw i64 %650, %482
  %652 = tail call noundef i64 @llvm.smax.i64(i64 %641, i64 %651)
  %653 = load ptr, ptr %52, align 8
  %654 = getelementptr inbounds i64, ptr %653, i64 %630
  store i64 %652, ptr %654, align 8
  %655 = load ptr, ptr %52, align 8
  %656 = getelementptr inbounds i64, ptr %655, i64 %630
  %657 = load i64, ptr %656, align 8
  %658 = load ptr, ptr %33, align 8
  %659 = getelementptr i64, ptr %658, i64 %77
  %660 = load i64, ptr %659, align 8
  %661 = getelementptr i8, ptr %659, i64 8
  %662 = load i64, ptr %661, align 8
  %663 = icmp slt i64 %660, %662
  br i1 %663, label %664, label %694

664:                                              ; preds = %640, %664
  %665 = phi i64 [ %688, %664 ], [ %660, %640 ]
  %666 = load ptr, ptr %34, align 8
  %667 = getelementptr inbounds i64, ptr %666, i64 %665
  %668 = load i64, ptr %667, align 8
  %669 = load ptr, ptr %35, align 8
  %670 = getelementptr inbounds i64, ptr %669, i64 %668
  %671 = load i64, ptr %670, align 8
  %672 = load ptr, ptr %36, align 8
  %673 = getelementptr inbounds i64, ptr %672, i64 %665
  %674 = load i64, ptr %673, align 8
  %675 = icmp eq i64 %674, 0
  %676 = select i1 %675, i64 368, i64 360
  %677 = getelementptr inbounds nuw i8, ptr %0, i64 %676
  %678 = select i1 %675, i64 384, i64 376
  %679 = getelementptr inbounds nuw i8, ptr %0, i64 %678
  %680 = select i1 %675, i64 %476, i64 %657
  %681 = load ptr, ptr %679, align 8
  %682 = load ptr, ptr %677, align 8
  %683 = getelementptr inbounds i64, ptr %682, i64 %668
  %684 = load i64, ptr %683, align 8
  %685 = add nsw i64 %684, 1
  store i64 %685, ptr %683, align 8
  %686 = getelementptr i64, ptr %681, i64 %671
  %687 = getelementptr i64, ptr %686, i64 %684
  store i64 %680, ptr %687, align 8
  %688 = add nsw i64 %665, 1
  %689 = load ptr, ptr %33, align 8
  %690 = getelementptr i64, ptr %689, i64 %77
  %691 = getelementptr i8, ptr %690, i64 8
  %692 = load i64, ptr %691, align 8
  %693 = icmp slt i64 %688, %692
  br i1 %693, label %664, label %694, !llvm.loop !19

694:                                              ; preds = %664, %640
  %695 = load ptr, ptr %12, align 8
  %696 = getelementptr inbounds i64, ptr %695, i64 %178
  %697 = load i64, ptr %696, align 8
  %698 = icmp eq i64 %697, 0
  br i1 %698, label %705, label %699

699:                                              ; preds = %694
  %700 = load ptr, ptr %8, align 8
  %701 = load ptr, ptr %11, align 8
  %702 = getelementptr inbounds i64, ptr %701, i64 %178
  %703 = load i64, ptr %702, align 8
  %704 = getelementptr inbounds i64, ptr %700, i64 %703
  store i64 %482, ptr %704, align 8
  br label %705

705:                                              ; preds = %699, %694, %334, %169
  %706 = load i64, ptr %19, align 8
  %707 = icmp eq i64 %706, 0
  br i1 %707, label %56, label %708

708:                                              ; preds = %471, %705
  %709 = getelementptr inbounds nuw i8, ptr %0, i64 424
  store i64 %77, ptr %709, align 8
  br label %753

710:                                              ; preds = %722, %67
  %711 = phi i64 [ 0, %67 ], [ %727, %722 ]
  %712 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %713 = load i64, ptr %712, align 8
  %714 = icmp sgt i64 %713, 0
  br i1 %714, label %715, label %753

715:                                              ; preds = %710
  %716 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %717 = load ptr, ptr %716, align 8
  %718 = getelementptr inbounds nuw i8, ptr %0, i64 304
  %719 = load ptr, ptr %718, align 8
  %720 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %721 = getelementptr inbounds nuw i8, ptr %0, i64 256
  br label %730

722:                                              ; preds = %71, %722
  %723 = phi i64 [ 0, %71 ], [ %728, %722 ]
  %724 = phi i64 [ 0, %71 ], [ %727, %722 ]
  %725 = getelementptr inbounds nuw i64, ptr %73, i64 %723
  %726 = load i64, ptr %725, align 8
  %727 = tail call noundef i64 @llvm.smax.i64(i64 %724, i64 %726)
  %728 = add nuw nsw i64 %723, 1
  %729 = icmp eq i64 %728, %69
  br i1 %729, label %710, label %722, !llvm.loop !20

730:                                              ; preds = %715, %747
  %731 = phi i64 [ 0, %715 ], [ %751, %747 ]
  %732 = phi i64 [ %711, %715 ], [ %750, %747 ]
  %733 = getelementptr inbounds nuw i64, ptr %717, i64 %731
  %734 = load i64, ptr %733, align 8
  %735 = getelementptr inbounds nuw i64, ptr %719, i64 %731
  %736 = load i64, ptr %735, align 8
  %737 = add i64 %736, -1
  %738 = icmp slt i64 %737, 0
  br i1 %738, label %747, label %739

739:                                              ; preds = %730
  %740 = load ptr, ptr %720, align 8
  %741 = load ptr, ptr %721, align 8
  %742 = getelementptr inbounds nuw i64, ptr %741, i64 %731
  %743 = load i64, ptr %742, align 8
  %744 = getelementptr i64, ptr %740, i64 %743
  %745 = getelementptr i64, ptr %744, i64 %737
  %746 = load i64, ptr %745, align 8
  br label %747

747:                                              ; preds = %730, %739
  %748 = phi i64 [ %746, %739 ], [ 0, %730 ]
  %749 = tail call noundef i64 @llvm.smax.i64(i64 %734, i64 %748)
  %750 = tail call noundef i64 @llvm.smax.i64(i64 %732, i64 %749)
  %751 = add nuw nsw i64 %731, 1
  %752 = icmp eq i64 %751, %713
  br i1 %752, label %753, label %730, !llvm.loop !21

753:                                              ; preds = %747, %710, %708
  %754 = phi i64 [ 0, %708 ], [ %711, %710 ], [ %750, %747 ]
  ret i64 %754
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define void @tir_accel_needs(ptr noundef readonly captures(none) %0, ptr noundef captures(none) %1, ptr noundef captures(none) %2) local_unnamed_addr #0 {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %5 = load i64, ptr %4, align 8
  %6 = load i64, ptr %0, align 8
  %7 = icmp sgt i64 %6, 0
  br i1 %7, label %8, label %23

8:                                                ; preds = %3
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 304
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 192
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 184
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 216
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %22 = icmp slt i64 %5, 1
  br label %24

23:                                               ; preds = %205, %3
  ret void

24:                                               ; preds = %8, %205
  %25 = phi i64 [ 0, %8 ], [ %206, %205 ]
  %26 = load ptr, ptr %9, align 8
  %27 = getelementptr inbounds nuw i64, ptr %26, i64 %25
  %28 = load i64, ptr %27, align 8
  %29 = mul nsw i64 %25, %5
  %30 = getelementptr inbounds i64, ptr %2, i64 %29
  %31 = load ptr, ptr %10, align 8
  %32 = getelementptr inbounds nuw i64, ptr %31, i64 %25
  %33 = load i64, ptr %32, align 8
  %34 = icmp eq i64 %33, 1
  br i1 %34, label %35, label %37

35:                                               ; preds = %24
  %36 = add nuw nsw i64 %25, 1
  br label %205

37:                                               ; preds = %24
  %38 = load ptr, ptr %11, align 8
  %39 = getelementptr inbounds i64, ptr %38, i64 %28
  %40 = load i64, ptr %39, align 8
  %41 = add nsw i64 %40, 1
  store i64 %41, ptr %39, align 8
  %42 = load ptr, ptr %12, align 8
  %43 = getelementptr inbounds nuw i64, ptr %42, i64 %25
  %44 = load i64, ptr %43, align 8
  %45 = add nuw nsw i64 %25, 1
  %46 = getelementptr inbounds nuw i64, ptr %42, i64 %45
  %47 = load i64, ptr %46, align 8
  %48 = icmp slt i64 %44, %47
  br i1 %48, label %49, label %205

49:                                               ; preds = %37
  %50 = load ptr, ptr %14, align 8
  br label %58

51:                                               ; preds = %70
  %52 = getelementptr inbounds nuw i64, ptr %71, i64 %25
  %53 = load i64, ptr %52, align 8
  %54 = icmp slt i64 %53, %75
  br i1 %54, label %55, label %205

55:                                               ; preds = %51
  %56 = getelementptr i64, ptr %1, i64 %28
  %57 = load ptr, ptr %14, align 8
  br label %158

58:                                               ; preds = %49, %70
  %59 = phi ptr [ %71, %70 ], [ %42, %49 ]
  %60 = phi ptr [ %72, %70 ], [ %50, %49 ]
  %61 = phi i64 [ %73, %70 ], [ %44, %49 ]
  %62 = load ptr, ptr %13, align 8
  %63 = getelementptr inbounds i64, ptr %62, i64 %61
  %64 = load i64, ptr %63, align 8
  %65 = getelementptr inbounds i64, ptr %60, i64 %61
  %66 = load i64, ptr %65, align 8
  %67 = icmp slt i64 %64, %66
  br i1 %67, label %77, label %70

68:                                               ; preds = %152
  %69 = load ptr, ptr %12, align 8
  br label %70

70:                                               ; preds = %68, %58
  %71 = phi ptr [ %69, %68 ], [ %59, %58 ]
  %72 = phi ptr [ %154, %68 ], [ %60, %58 ]
  %73 = add nsw i64 %61, 1
  %74 = getelementptr inbounds nuw i64, ptr %71, i64 %45
  %75 = load i64, ptr %74, align 8
  %76 = icmp slt i64 %73, %75
  br i1 %76, label %58, label %51, !llvm.loop !22

77:                                               ; preds = %58, %152
  %78 = phi i64 [ %153, %152 ], [ %64, %58 ]
  %79 = load ptr, ptr %15, align 8
  %80 = getelementptr inbounds i64, ptr %79, i64 %78
  %81 = load i64, ptr %80, align 8
  %82 = load ptr, ptr %16, align 8
  %83 = getelementptr inbounds i64, ptr %82, i64 %78
  %84 = load i64, ptr %83, align 8
  %85 = icmp eq i64 %84, 0
  %86 = icmp eq i64 %81, %28
  %87 = select i1 %85, i1 true, i1 %86
  br i1 %87, label %111, label %88

88:                                               ; preds = %77
  %89 = load ptr, ptr %17, align 8
  %90 = getelementptr inbounds i64, ptr %89, i64 %28
  %91 = load i64, ptr %90, align 8
  %92 = icmp eq i64 %91, 0
  br i1 %92, label %98, label %93

93:                                               ; preds = %88
  %94 = load ptr, ptr %18, align 8
  %95 = getelementptr inbounds i64, ptr %94, i64 %81
  %96 = load i64, ptr %95, align 8
  %97 = icmp eq i64 %96, 0
  br i1 %97, label %111, label %107

98:                                               ; preds = %88
  %99 = load ptr, ptr %19, align 8
  %100 = getelementptr inbounds i64, ptr %99, i64 %81
  %101 = load i64, ptr %100, align 8
  %102 = load i64, ptr %20, align 8
  %103 = icmp slt i64 %78, %102
  %104 = select i1 %103, i64 1, i64 2
  %105 = and i64 %104, %101
  %106 = icmp eq i64 %105, 0
  br i1 %106, label %107, label %111

107:                                              ; preds = %93, %98
  %108 = getelementptr inbounds i64, ptr %30, i64 %81
  %109 = load i64, ptr %108, align 8
  %110 = tail call noundef i64 @llvm.smax.i64(i64 %109, i64 %84)
  store i64 %110, ptr %108, align 8
  br label %111

111:                                              ; preds = %93, %107, %98, %77
  %112 = load ptr, ptr %21, align 8
  %113 = getelementptr inbounds i64, ptr %112, i64 %61
  %114 = load i64, ptr %113, align 8
  %115 = and i64 %114, 2
  %116 = icmp eq i64 %115, 0
  %117 = select i1 %116, i1 true, i1 %22
  br i1 %117, label %152, label %118

118:                                              ; preds = %111
  %119 = mul nsw i64 %78, %5
  %120 = getelementptr i64, ptr %1, i64 %119
  br label %121

121:                                              ; preds = %118, %149
  %122 = phi i64 [ 0, %118 ], [ %150, %149 ]
  %123 = icmp eq i64 %122, %28
  br i1 %123, label %149, label %124

124:                                              ; preds = %121
  %125 = load ptr, ptr %17, align 8
  %126 = getelementptr inbounds i64, ptr %125, i64 %28
  %127 = load i64, ptr %126, align 8
  %128 = icmp eq i64 %127, 0
  br i1 %128, label %134, label %129

129:                                              ; preds = %124
  %130 = load ptr, ptr %18, align 8
  %131 = getelementptr inbounds nuw i64, ptr %130, i64 %122
  %132 = load i64, ptr %131, align 8
  %133 = icmp eq i64 %132, 0
  br i1 %133, label %149, label %143

134:                                              ; preds = %124
  %135 = load ptr, ptr %19, align 8
  %136 = getelementptr inbounds nuw i64, ptr %135, i64 %122
  %137 = load i64, ptr %136, align 8
  %138 = load i64, ptr %20, align 8
  %139 = icmp slt i64 %78, %138
  %140 = select i1 %139, i64 1, i64 2
  %141 = and i64 %140, %137
  %142 = icmp eq i64 %141, 0
  br i1 %142, label %143, label %149

143:                                              ; preds = %129, %134
  %144 = getelementptr inbounds nuw i64, ptr %30, i64 %122
  %145 = load i64, ptr %144, align 8
  %146 = getelementptr i64, ptr %120, i64 %122
  %147 = load i64, ptr %146, align 8
  %148 = tail call noundef i64 @llvm.smax.i64(i64 %145, i64 %147)
  store i64 %148, ptr %144, align 8
  br label %149

149:                                              ; preds = %129, %121, %134, %143
  %150 = add nuw nsw i64 %122, 1
  %151 = icmp eq i64 %150, %5
  br i1 %151, label %152, label %121, !llvm.loop !23

152:                                              ; preds = %149, %111
  %153 = add nsw i64 %78, 1
  %154 = load ptr, ptr %14, align 8
  %155 = getelementptr inbounds i64, ptr %154, i64 %61
  %156 = load i64, ptr %155, align 8
  %157 = icmp slt i64 %153, %156
  br i1 %157, label %77, label %68, !llvm.loop !24

158:                                              ; preds = %55, %170
  %159 = phi ptr [ %71, %55 ], [ %171, %170 ]
  %160 = phi ptr [ %57, %55 ], [ %172, %170 ]
  %161 = phi i64 [ %53, %55 ], [ %173, %170 ]
  %162 = load ptr, ptr %13, align 8
  %163 = getelementptr inbounds i64, ptr %162, i64 %161
  %164 = load i64, ptr %163, align 8
  %165 = getelementptr inbounds i64, ptr %160, i64 %161
  %166 = load i64, ptr %165, align 8
  %167 = icmp slt i64 %164, %166
  br i1 %167, label %177, label %170

168:                                              ; preds = %199
  %169 = load ptr, ptr %12, align 8
  br label %170

170:                                              ; preds = %168, %158
  %171 = phi ptr [ %169, %168 ], [ %159, %158 ]
  %172 = phi ptr [ %201, %168 ], [ %160, %158 ]
  %173 = add nsw i64 %161, 1
  %174 = getelementptr inbounds nuw i64, ptr %171, i64 %45
  %175 = load i64, ptr %174, align 8
  %176 = icmp slt i64 %173, %175
  br i1 %176, label %158, label %205, !llvm.loop !25

177:                                              ; preds = %158, %199
  %178 = phi i64 [ %200, %199 ], [ %164, %158 ]
  %179 = load ptr, ptr %21, align 8
  %180 = getelementptr inbounds i64, ptr %179, i64 %161
  %181 = load i64, ptr %180, align 8
  %182 = and i64 %181, 1
  %183 = icmp eq i64 %182, 0
  br i1 %183, label %190, label %184

184:                                              ; preds = %177
  %185 = mul nsw i64 %178, %5
  %186 = getelementptr i64, ptr %56, i64 %185
  store i64 %41, ptr %186, align 8
  %187 = load ptr, ptr %21, align 8
  %188 = getelementptr inbounds i64, ptr %187, i64 %161
  %189 = load i64, ptr %188, align 8
  br label %190

190:                                              ; preds = %184, %177
  %191 = phi i64 [ %189, %184 ], [ %181, %177 ]
  %192 = and i64 %191, 2
  %193 = icmp eq i64 %192, 0
  br i1 %193, label %199, label %194

194:                                              ; preds = %190
  %195 = load ptr, ptr %16, align 8
  %196 = getelementptr inbounds i64, ptr %195, i64 %178
  store i64 %41, ptr %196, align 8
  %197 = load ptr, ptr %15, align 8
  %198 = getelementptr inbounds i64, ptr %197, i64 %178
  store i64 %28, ptr %198, align 8
  br label %199

199:                                              ; preds = %190, %194
  %200 = add nsw i64 %178, 1
  %201 = load ptr, ptr %14, align 8
  %202 = getelementptr inbounds i64, ptr %201, i64 %161
  %203 = load i64, ptr %202, align 8
  %204 = icmp slt i64 %200, %203
  br i1 %204, label %177, label %168, !llvm.loop !26

205:                                              ; preds = %170, %37, %35, %51
  %206 = phi i64 [ %36, %35 ], [ %45, %37 ], [ %45, %51 ], [ %45, %170 ]
  %207 = load i64, ptr %0, align 8
  %208 = icmp slt i64 %206, %207
  br i1 %208, label %24, label %23, !llvm.loop !27
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define void @tir_accel_known(ptr noundef readonly captures(none) %0, ptr noundef captures(none) %1, ptr noundef captures(none) %2, ptr noundef captures(none) %3, ptr noundef captures(none) %4) local_unnamed_addr #0 {
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %7 = load i64, ptr %6, align 8
  %8 = load i64, ptr %0, align 8
  %9 = icmp sgt i64 %8, 0
  br i1 %9, label %10, label %26

10:                                               ; preds = %5
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 176
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 368
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %20 = icmp sgt i64 %7, 0
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 304
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 312
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 32
  br label %27

26:                                               ; preds = %220, %5
  ret void

27:                                               ; preds = %10, %220
  %28 = phi i64 [ 0, %10 ], [ %221, %220 ]
  %29 = load ptr, ptr %11, align 8
  %30 = getelementptr inbounds nuw i64, ptr %29, i64 %28
  %31 = load i64, ptr %30, align 8
  %32 = load ptr, ptr %12, align 8
  %33 = getelementptr inbounds i64, ptr %32, i64 %31
  %34 = load i64, ptr %33, align 8
  %35 = mul nsw i64 %28, %7
  %36 = getelementptr inbounds i64, ptr %4, i64 %35
  %37 = mul nsw i64 %34, %7
  %38 = getelementptr inbounds i64, ptr %1, i64 %37
  %39 = mul nsw i64 %31, %7
  %40 = getelementptr inbounds i64, ptr %2, i64 %39
  %41 = load ptr, ptr %13, align 8
  %42 = getelementptr inbounds nuw i64, ptr %41, i64 %28
  %43 = load i64, ptr %42, align 8
  %44 = icmp eq i64 %43, 1
  br i1 %44, label %45, label %98

45:                                               ; preds = %27
  br i1 %20, label %46, label %220

46:                                               ; preds = %45, %88
  %47 = phi i64 [ %89, %88 ], [ 0, %45 ]
  %48 = load ptr, ptr %21, align 8
  %49 = getelementptr inbounds nuw i64, ptr %48, i64 %47
  %50 = load i64, ptr %49, align 8
  %51 = load ptr, ptr %24, align 8
  %52 = getelementptr inbounds nuw i64, ptr %51, i64 %28
  %53 = load i64, ptr %52, align 8
  %54 = sub nsw i64 %50, %53
  %55 = load ptr, ptr %25, align 8
  %56 = getelementptr inbounds nuw i64, ptr %55, i64 %28
  %57 = load i64, ptr %56, align 8
  %58 = shl nuw i64 1, %47
  %59 = and i64 %57, %58
  %60 = icmp eq i64 %59, 0
  br i1 %60, label %88, label %61

61:                                               ; preds = %46
  %62 = getelementptr inbounds nuw i64, ptr %38, i64 %47
  %63 = load i64, ptr %62, align 8
  %64 = icmp sgt i64 %54, %63
  br i1 %64, label %65, label %88

65:                                               ; preds = %61
  %66 = load ptr, ptr %22, align 8
  %67 = load ptr, ptr %23, align 8
  %68 = getelementptr inbounds nuw i64, ptr %67, i64 %47
  %69 = load i64, ptr %68, align 8
  %70 = getelementptr i64, ptr %66, i64 %69
  %71 = getelementptr i64, ptr %70, i64 %54
  %72 = getelementptr i8, ptr %71, i64 -8
  %73 = load i64, ptr %72, align 8
  %74 = mul nsw i64 %73, %7
  %75 = getelementptr inbounds i64, ptr %4, i64 %74
  br label %79

76:                                               ; preds = %79
  %77 = load i64, ptr %62, align 8
  %78 = tail call noundef i64 @llvm.smax.i64(i64 %77, i64 %54)
  store i64 %78, ptr %62, align 8
  br label %88

79:                                               ; preds = %65, %79
  %80 = phi i64 [ 0, %65 ], [ %86, %79 ]
  %81 = getelementptr inbounds nuw i64, ptr %38, i64 %80
  %82 = load i64, ptr %81, align 8
  %83 = getelementptr inbounds nuw i64, ptr %75, i64 %80
  %84 = load i64, ptr %83, align 8
  %85 = tail call noundef i64 @llvm.smax.i64(i64 %82, i64 %84)
  store i64 %85, ptr %81, align 8
  %86 = add nuw nsw i64 %80, 1
  %87 = icmp eq i64 %86, %7
  br i1 %87, label %76, label %79, !llvm.loop !28

88:                                               ; preds = %46, %61, %76
  %89 = add nuw nsw i64 %47, 1
  %90 = icmp eq i64 %89, %7
  br i1 %90, label %91, label %46, !llvm.loop !29

91:                                               ; preds = %88, %91
  %92 = phi i64 [ %96, %91 ], [ 0, %88 ]
  %93 = getelementptr inbounds nuw i64, ptr %38, i64 %92
  %94 = load i64, ptr %93, align 8
  %95 = getelementptr inbounds nuw i64, ptr %36, i64 %92
  store i64 %94, ptr %95, align 8
  %96 = add nuw nsw i64 %92, 1
  %97 = icmp eq i64 %96, %7
  br i1 %97, label %220, label %91, !llvm.loop !30

98:                                               ; preds = %27
  %99 = load ptr, ptr %14, align 8
  %100 = getelementptr inbounds nuw i64, ptr %99, i64 %28
  %101 = load i64, ptr %100, align 8
  %102 = add nuw nsw i64 %28, 1
  %103 = getelementptr inbounds nuw i64, ptr %99, i64 %102
  %104 = load i64, ptr %103, align 8
  %105 = icmp slt i64 %101, %104
  br i1 %105, label %108, label %106

106:                                              ; preds = %142, %98
  %107 = phi ptr [ %99, %98 ], [ %144, %142 ]
  br i1 %20, label %157, label %150

108:                                              ; preds = %98, %142
  %109 = phi i64 [ %143, %142 ], [ %101, %98 ]
  %110 = load ptr, ptr %15, align 8
  %111 = getelementptr inbounds i64, ptr %110, i64 %109
  %112 = load i64, ptr %111, align 8
  %113 = load ptr, ptr %16, align 8
  %114 = getelementptr inbounds i64, ptr %113, i64 %109
  %115 = load i64, ptr %114, align 8
  %116 = icmp eq i64 %115, 0
  br i1 %116, label %117, label %142

117:                                              ; preds = %108
  %118 = load ptr, ptr %17, align 8
  %119 = getelementptr inbounds i64, ptr %118, i64 %112
  %120 = load i64, ptr %119, align 8
  %121 = load ptr, ptr %18, align 8
  %122 = getelementptr inbounds i64, ptr %121, i64 %112
  %123 = load i64, ptr %122, align 8
  %124 = icmp slt i64 %120, %123
  br i1 %124, label %125, label %142

125:                                              ; preds = %117
  %126 = load ptr, ptr %19, align 8
  %127 = getelementptr inbounds i64, ptr %126, i64 %112
  %128 = load i64, ptr %127, align 8
  %129 = add nsw i64 %120, 1
  store i64 %129, ptr %119, align 8
  %130 = add nsw i64 %128, %120
  %131 = mul nsw i64 %130, %7
  %132 = getelementptr inbounds i64, ptr %3, i64 %131
  br i1 %20, label %133, label %142

133:                                              ; preds = %125, %133
  %134 = phi i64 [ %140, %133 ], [ 0, %125 ]
  %135 = getelementptr inbounds nuw i64, ptr %40, i64 %134
  %136 = load i64, ptr %135, align 8
  %137 = getelementptr inbounds nuw i64, ptr %132, i64 %134
  %138 = load i64, ptr %137, align 8
  %139 = tail call noundef i64 @llvm.smax.i64(i64 %136, i64 %138)
  store i64 %139, ptr %135, align 8
  %140 = add nuw nsw i64 %134, 1
  %141 = icmp eq i64 %140, %7
  br i1 %141, label %142, label %133, !llvm.loop !31

142:                                              ; preds = %133, %125, %108, %117
  %143 = add nsw i64 %109, 1
  %144 = load ptr, ptr %14, align 8
  %145 = getelementptr inbounds nuw i64, ptr %144, i64 %102
  %146 = load i64, ptr %145, align 8
  %147 = icmp slt i64 %143, %146
  br i1 %147, label %108, label %106, !llvm.loop !32

148:                                              ; preds = %157
  %149 = load ptr, ptr %14, align 8
  br label %150

150:                                              ; preds = %148, %106
  %151 = phi ptr [ %149, %148 ], [ %107, %106 ]
  %152 = getelementptr inbounds nuw i64, ptr %151, i64 %28
  %153 = load i64, ptr %152, align 8
  %154 = getelementptr inbounds nuw i64, ptr %151, i64 %102
  %155 = load i64, ptr %154, align 8
  %156 = icmp slt i64 %153, %155
  br i1 %156, label %178, label %167

157:                                              ; preds = %106, %157
  %158 = phi i64 [ %165, %157 ], [ 0, %106 ]
  %159 = getelementptr inbounds nuw i64, ptr %40, i64 %158
  %160 = load i64, ptr %159, align 8
  %161 = getelementptr inbounds nuw i64, ptr %38, i64 %158
  %162 = load i64, ptr %161, align 8
  %163 = tail call noundef i64 @llvm.smax.i64(i64 %160, i64 %162)
  store i64 %163, ptr %159, align 8
  %164 = getelementptr inbounds nuw i64, ptr %36, i64 %158
  store i64 %163, ptr %164, align 8
  %165 = add nuw nsw i64 %158, 1
  %166 = icmp eq i64 %165, %7
  br i1 %166, label %148, label %157, !llvm.loop !33

167:                                              ; preds = %214, %150
  %168 = load ptr, ptr %22, align 8
  %169 = load ptr, ptr %23, align 8
  %170 = getelementptr inbounds i64, ptr %169, i64 %31
  %171 = load i64, ptr %170, align 8
  %172 = load ptr, ptr %21, align 8
  %173 = getelementptr inbounds i64, ptr %172, i64 %31
  %174 = load i64, ptr %173, align 8
  %175 = add nsw i64 %174, 1
  store i64 %175, ptr %173, align 8
  %176 = getelementptr i64, ptr %168, i64 %171
  %177 = getelementptr i64, ptr %176, i64 %174
  store i64 %28, ptr %177, align 8
  br label %220

178:                                              ; preds = %150, %214
  %179 = phi i64 [ %215, %214 ], [ %153, %150 ]
  %180 = load ptr, ptr %16, align 8
  %181 = getelementptr inbounds i64, ptr %180, i64 %179
  %182 = load i64, ptr %181, align 8
  %183 = icmp eq i64 %182, 0
  br i1 %183, label %214, label %184

184:                                              ; preds = %178
  %185 = load ptr, ptr %15, align 8
  %186 = getelementptr inbounds i64, ptr %185, i64 %179
  %187 = load i64, ptr %186, align 8
  %188 = load ptr, ptr %19, align 8
  %189 = getelementptr inbounds i64, ptr %188, i64 %187
  %190 = load i64, ptr %189, align 8
  %191 = load ptr, ptr %18, align 8
  %192 = getelementptr inbounds i64, ptr %191, i64 %187
  %193 = load i64, ptr %192, align 8
  %194 = add nsw i64 %193, 1
  store i64 %194, ptr %192, align 8
  %195 = add nsw i64 %193, %190
  %196 = mul nsw i64 %195, %7
  %197 = getelementptr inbounds i64, ptr %3, i64 %196
  br i1 %20, label %198, label %214

198:                                              ; preds = %184, %209
  %199 = phi i64 [ %212, %209 ], [ 0, %184 ]
  %200 = icmp eq i64 %199, %31
  br i1 %200, label %201, label %206

201:                                              ; preds = %198
  %202 = load ptr, ptr %21, align 8
  %203 = getelementptr inbounds i64, ptr %202, i64 %31
  %204 = load i64, ptr %203, align 8
  %205 = add nsw i64 %204, 1
  br label %209

206:                                              ; preds = %198
  %207 = getelementptr inbounds nuw i64, ptr %40, i64 %199
  %208 = load i64, ptr %207, align 8
  br label %209

209:                                              ; preds = %206, %201
  %210 = phi i64 [ %205, %201 ], [ %208, %206 ]
  %211 = getelementptr inbounds nuw i64, ptr %197, i64 %199
  store i64 %210, ptr %211, align 8
  %212 = add nuw nsw i64 %199, 1
  %213 = icmp eq i64 %212, %7
  br i1 %213, label %214, label %198, !llvm.loop !34

214:                                              ; preds = %209, %184, %178
  %215 = add nsw i64 %179, 1
  %216 = load ptr, ptr %14, align 8
  %217 = getelementptr inbounds nuw i64, ptr %216, i64 %102
  %218 = load i64, ptr %217, align 8
  %219 = icmp slt i64 %215, %218
  br i1 %219, label %178, label %167, !llvm.loop !35

220:                                              ; preds = %91, %45, %167
  %221 = add nuw nsw i64 %28, 1
  %222 = load i64, ptr %0, align 8
  %223 = icmp slt i64 %221, %222
  br i1 %223, label %27, label %26, !llvm.loop !36
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #1

attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

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
