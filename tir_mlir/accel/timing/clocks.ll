
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
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 192
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 184
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 216
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

56:                                               ; preds = %708
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
  br i1 %70, label %71, label %713

71:                                               ; preds = %67
  %72 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %73 = load ptr, ptr %72, align 8
  br label %725

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
  br label %708

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
  br i1 %245, label %246, label %316

246:                                              ; preds = %234
  %247 = load ptr, ptr %24, align 8
  br label %248

248:                                              ; preds = %311, %246
  %249 = phi i64 [ 0, %246 ], [ %313, %311 ]
  %250 = phi i64 [ %242, %246 ], [ %314, %311 ]
  %251 = phi i64 [ 0, %246 ], [ %312, %311 ]
  %252 = getelementptr inbounds i64, ptr %247, i64 %250
  %253 = load i64, ptr %252, align 8
  %254 = and i64 %253, 4
  %255 = icmp eq i64 %254, 0
  br i1 %255, label %256, label %311

256:                                              ; preds = %248
  %257 = load ptr, ptr %25, align 8
  %258 = getelementptr inbounds i64, ptr %257, i64 %250
  %259 = load i64, ptr %258, align 8
  %260 = load ptr, ptr %26, align 8
  %261 = getelementptr inbounds i64, ptr %260, i64 %250
  %262 = load i64, ptr %261, align 8
  %263 = icmp slt i64 %259, %262
  br i1 %263, label %264, label %311

264:                                              ; preds = %256
  %265 = load ptr, ptr %27, align 8
  %266 = load ptr, ptr %28, align 8
  %267 = and i64 %253, 2
  %268 = icmp eq i64 %267, 0
  br label %269

269:                                              ; preds = %307, %264
  %270 = phi i64 [ %249, %264 ], [ %301, %307 ]
  %271 = phi i64 [ %259, %264 ], [ %309, %307 ]
  %272 = phi i64 [ %251, %264 ], [ %308, %307 ]
  %273 = getelementptr inbounds i64, ptr %265, i64 %271
  %274 = load i64, ptr %273, align 8
  %275 = getelementptr inbounds i64, ptr %266, i64 %271
  %276 = load i64, ptr %275, align 8
  %277 = icmp sgt i64 %276, %270
  br i1 %277, label %278, label %300

278:                                              ; preds = %269
  %279 = icmp eq i64 %274, %235
  br i1 %279, label %299, label %280

280:                                              ; preds = %278
  %281 = load ptr, ptr %12, align 8
  %282 = getelementptr inbounds i64, ptr %281, i64 %235
  %283 = load i64, ptr %282, align 8
  %284 = icmp eq i64 %283, 0
  br i1 %284, label %290, label %285

285:                                              ; preds = %280
  %286 = load ptr, ptr %29, align 8
  %287 = getelementptr inbounds i64, ptr %286, i64 %274
  %288 = load i64, ptr %287, align 8
  %289 = icmp eq i64 %288, 0
  br i1 %289, label %299, label %300

290:                                              ; preds = %280
  %291 = load ptr, ptr %30, align 8
  %292 = getelementptr inbounds i64, ptr %291, i64 %274
  %293 = load i64, ptr %292, align 8
  %294 = load i64, ptr %31, align 8
  %295 = icmp slt i64 %271, %294
  %296 = select i1 %295, i64 1, i64 2
  %297 = and i64 %296, %293
  %298 = icmp eq i64 %297, 0
  br i1 %298, label %300, label %299

299:                                              ; preds = %290, %285, %278
  br label %300

300:                                              ; preds = %299, %290, %285, %269
  %301 = phi i64 [ %276, %299 ], [ %270, %290 ], [ %270, %269 ], [ %270, %285 ]
  br i1 %268, label %307, label %302

302:                                              ; preds = %300
  %303 = load ptr, ptr %32, align 8
  %304 = getelementptr inbounds i64, ptr %303, i64 %271
  %305 = load i64, ptr %304, align 8
  %306 = tail call i64 @llvm.smax.i64(i64 %305, i64 %272)
  br label %307

307:                                              ; preds = %302, %300
  %308 = phi i64 [ %272, %300 ], [ %306, %302 ]
  %309 = add nsw i64 %271, 1
  %310 = icmp eq i64 %309, %262
  br i1 %310, label %311, label %269, !llvm.loop !10

311:                                              ; preds = %307, %256, %248
  %312 = phi i64 [ %251, %248 ], [ %251, %256 ], [ %308, %307 ]
  %313 = phi i64 [ %249, %248 ], [ %249, %256 ], [ %301, %307 ]
  %314 = add nsw i64 %250, 1
  %315 = icmp eq i64 %314, %244
  br i1 %315, label %316, label %248, !llvm.loop !11

316:                                              ; preds = %311, %234
  %317 = phi i64 [ 0, %234 ], [ %312, %311 ]
  %318 = phi i64 [ 0, %234 ], [ %313, %311 ]
  %319 = icmp slt i64 %318, %317
  %320 = select i1 %319, i64 2, i64 1
  %321 = tail call noundef i64 @llvm.smax.i64(i64 %318, i64 %317)
  %322 = load ptr, ptr %33, align 8
  %323 = getelementptr inbounds i64, ptr %322, i64 %77
  %324 = load i64, ptr %323, align 8
  %325 = getelementptr i8, ptr %323, i64 8
  %326 = load i64, ptr %325, align 8
  %327 = icmp slt i64 %324, %326
  %328 = load i64, ptr %19, align 8
  br i1 %327, label %329, label %337

329:                                              ; preds = %316, %388
  %330 = phi i64 [ %389, %388 ], [ %328, %316 ]
  %331 = phi i64 [ %390, %388 ], [ %326, %316 ]
  %332 = phi i64 [ %391, %388 ], [ %328, %316 ]
  %333 = phi i64 [ %395, %388 ], [ %321, %316 ]
  %334 = phi i64 [ %396, %388 ], [ %324, %316 ]
  %335 = phi i64 [ %394, %388 ], [ %320, %316 ]
  %336 = icmp eq i64 %332, 0
  br i1 %336, label %342, label %337

337:                                              ; preds = %388, %329, %316
  %338 = phi i64 [ %328, %316 ], [ %330, %329 ], [ %389, %388 ]
  %339 = phi i64 [ %320, %316 ], [ %335, %329 ], [ %394, %388 ]
  %340 = phi i64 [ %321, %316 ], [ %333, %329 ], [ %395, %388 ]
  %341 = icmp eq i64 %338, 0
  br i1 %341, label %398, label %708

342:                                              ; preds = %329
  %343 = load ptr, ptr %34, align 8
  %344 = getelementptr inbounds i64, ptr %343, i64 %334
  %345 = load i64, ptr %344, align 8
  %346 = load ptr, ptr %35, align 8
  %347 = getelementptr inbounds i64, ptr %346, i64 %345
  %348 = load i64, ptr %347, align 8
  %349 = load ptr, ptr %36, align 8
  %350 = getelementptr inbounds i64, ptr %349, i64 %334
  %351 = load i64, ptr %350, align 8
  %352 = icmp eq i64 %351, 0
  br i1 %352, label %353, label %361

353:                                              ; preds = %342
  %354 = load ptr, ptr %39, align 8
  %355 = getelementptr inbounds i64, ptr %354, i64 %345
  %356 = load i64, ptr %355, align 8
  %357 = load ptr, ptr %37, align 8
  %358 = getelementptr inbounds i64, ptr %357, i64 %345
  %359 = load i64, ptr %358, align 8
  %360 = icmp slt i64 %356, %359
  br i1 %360, label %375, label %384

361:                                              ; preds = %342
  %362 = load ptr, ptr %37, align 8
  %363 = getelementptr inbounds i64, ptr %362, i64 %345
  %364 = load i64, ptr %363, align 8
  %365 = load ptr, ptr %38, align 8
  %366 = getelementptr inbounds i64, ptr %365, i64 %345
  %367 = load i64, ptr %366, align 8
  %368 = sub nsw i64 %364, %367
  %369 = icmp slt i64 %368, 0
  br i1 %369, label %388, label %370

370:                                              ; preds = %361
  %371 = load ptr, ptr %39, align 8
  %372 = getelementptr inbounds i64, ptr %371, i64 %345
  %373 = load i64, ptr %372, align 8
  %374 = icmp slt i64 %368, %373
  br i1 %374, label %375, label %384

375:                                              ; preds = %370, %353
  %376 = phi i64 [ 376, %353 ], [ 384, %370 ]
  %377 = phi i64 [ %356, %353 ], [ %368, %370 ]
  %378 = getelementptr inbounds nuw i8, ptr %0, i64 %376
  %379 = load ptr, ptr %378, align 8
  %380 = getelementptr i64, ptr %379, i64 %348
  %381 = getelementptr i64, ptr %380, i64 %377
  %382 = load i64, ptr %381, align 8
  %383 = icmp slt i64 %382, 0
  br i1 %383, label %384, label %388

384:                                              ; preds = %375, %370, %353
  %385 = phi i64 [ %382, %375 ], [ -1, %353 ], [ -1, %370 ]
  %386 = select i1 %352, i64 3, i64 2
  store i64 %386, ptr %19, align 8
  store i64 %334, ptr %40, align 8
  %387 = load i64, ptr %325, align 8
  br label %388

388:                                              ; preds = %384, %375, %361
  %389 = phi i64 [ %386, %384 ], [ %330, %375 ], [ %330, %361 ]
  %390 = phi i64 [ %387, %384 ], [ %331, %375 ], [ %331, %361 ]
  %391 = phi i64 [ %386, %384 ], [ 0, %375 ], [ 0, %361 ]
  %392 = phi i64 [ %385, %384 ], [ %382, %375 ], [ 0, %361 ]
  %393 = icmp sgt i64 %392, %333
  %394 = select i1 %393, i64 3, i64 %335
  %395 = tail call i64 @llvm.smax.i64(i64 %392, i64 %333)
  %396 = add nsw i64 %334, 1
  %397 = icmp slt i64 %396, %390
  br i1 %397, label %329, label %337, !llvm.loop !12

398:                                              ; preds = %337
  %399 = tail call noundef i64 @llvm.smax.i64(i64 %236, i64 %239)
  %400 = tail call noundef i64 @llvm.smax.i64(i64 %340, i64 %399)
  %401 = load ptr, ptr %41, align 8
  %402 = getelementptr i64, ptr %401, i64 %77
  %403 = load i64, ptr %402, align 8
  %404 = getelementptr i8, ptr %402, i64 8
  %405 = load i64, ptr %404, align 8
  %406 = icmp slt i64 %403, %405
  br i1 %406, label %407, label %478

407:                                              ; preds = %398, %465
  %408 = phi i64 [ %466, %465 ], [ %339, %398 ]
  %409 = phi ptr [ %467, %465 ], [ %401, %398 ]
  %410 = phi i64 [ %468, %465 ], [ %400, %398 ]
  %411 = phi i64 [ %469, %465 ], [ %403, %398 ]
  %412 = load ptr, ptr %42, align 8
  %413 = getelementptr inbounds i64, ptr %412, i64 %411
  %414 = load i64, ptr %413, align 8
  %415 = load ptr, ptr %43, align 8
  %416 = getelementptr inbounds i64, ptr %415, i64 %414
  %417 = load i64, ptr %416, align 8
  %418 = getelementptr i8, ptr %416, i64 8
  %419 = load i64, ptr %418, align 8
  %420 = icmp slt i64 %417, %419
  br i1 %420, label %421, label %465

421:                                              ; preds = %407
  %422 = load ptr, ptr %44, align 8
  br label %425

423:                                              ; preds = %438
  %424 = icmp slt i64 %439, 0
  br i1 %424, label %465, label %442

425:                                              ; preds = %438, %421
  %426 = phi i64 [ %417, %421 ], [ %440, %438 ]
  %427 = phi i64 [ -1, %421 ], [ %439, %438 ]
  %428 = getelementptr inbounds i64, ptr %422, i64 %426
  %429 = load i64, ptr %428, align 8
  %430 = icmp sgt i64 %429, -1
  br i1 %430, label %431, label %438

431:                                              ; preds = %425
  %432 = icmp slt i64 %427, 0
  br i1 %432, label %437, label %433

433:                                              ; preds = %431
  %434 = getelementptr inbounds nuw i64, ptr %422, i64 %427
  %435 = load i64, ptr %434, align 8
  %436 = icmp slt i64 %429, %435
  br i1 %436, label %437, label %438

437:                                              ; preds = %433, %431
  br label %438

438:                                              ; preds = %437, %433, %425
  %439 = phi i64 [ %426, %437 ], [ %427, %433 ], [ %427, %425 ]
  %440 = add nsw i64 %426, 1
  %441 = icmp eq i64 %440, %419
  br i1 %441, label %423, label %425, !llvm.loop !13

442:                                              ; preds = %423
  %443 = getelementptr inbounds nuw i64, ptr %422, i64 %439
  %444 = load i64, ptr %443, align 8
  %445 = icmp sgt i64 %444, %410
  br i1 %445, label %446, label %459

446:                                              ; preds = %442
  %447 = load ptr, ptr %45, align 8
  %448 = getelementptr inbounds i64, ptr %447, i64 %414
  %449 = load i64, ptr %448, align 8
  %450 = add nsw i64 %449, 4
  %451 = load ptr, ptr %46, align 8
  %452 = getelementptr inbounds i64, ptr %451, i64 %414
  %453 = load i64, ptr %452, align 8
  %454 = icmp ne i64 %453, 0
  %455 = icmp sgt i64 %444, %400
  %456 = and i1 %455, %454
  br i1 %456, label %457, label %459

457:                                              ; preds = %446
  store i64 4, ptr %19, align 8
  %458 = load i64, ptr %443, align 8
  br label %459

459:                                              ; preds = %457, %446, %442
  %460 = phi i64 [ %458, %457 ], [ %444, %446 ], [ %444, %442 ]
  %461 = phi i64 [ %450, %457 ], [ %450, %446 ], [ %408, %442 ]
  %462 = phi i64 [ %444, %457 ], [ %444, %446 ], [ %410, %442 ]
  %463 = xor i64 %460, -1
  store i64 %463, ptr %443, align 8
  %464 = load ptr, ptr %41, align 8
  br label %465

465:                                              ; preds = %459, %423, %407
  %466 = phi i64 [ %408, %423 ], [ %461, %459 ], [ %408, %407 ]
  %467 = phi ptr [ %409, %423 ], [ %464, %459 ], [ %409, %407 ]
  %468 = phi i64 [ %410, %423 ], [ %462, %459 ], [ %410, %407 ]
  %469 = add nsw i64 %411, 1
  %470 = getelementptr i64, ptr %467, i64 %77
  %471 = getelementptr i8, ptr %470, i64 8
  %472 = load i64, ptr %471, align 8
  %473 = icmp slt i64 %469, %472
  br i1 %473, label %407, label %474, !llvm.loop !14

474:                                              ; preds = %465
  %475 = load i64, ptr %19, align 8
  %476 = icmp eq i64 %475, 0
  %477 = tail call i64 @llvm.smax.i64(i64 %399, i64 %468)
  br i1 %476, label %478, label %711

478:                                              ; preds = %474, %398
  %479 = phi i64 [ %477, %474 ], [ %400, %398 ]
  %480 = phi i64 [ %466, %474 ], [ %339, %398 ]
  %481 = phi ptr [ %467, %474 ], [ %401, %398 ]
  %482 = load ptr, ptr %47, align 8
  %483 = getelementptr inbounds i64, ptr %482, i64 %77
  %484 = load i64, ptr %483, align 8
  %485 = add nsw i64 %484, %479
  %486 = icmp sgt i64 %479, %239
  br i1 %486, label %487, label %506

487:                                              ; preds = %478
  %488 = sub nsw i64 %236, %239
  %489 = tail call noundef i64 @llvm.smax.i64(i64 %488, i64 0)
  %490 = load ptr, ptr %48, align 8
  %491 = load i64, ptr %49, align 8
  %492 = mul nsw i64 %491, %178
  %493 = getelementptr inbounds i64, ptr %490, i64 %492
  %494 = load i64, ptr %493, align 8
  %495 = add nsw i64 %494, %489
  store i64 %495, ptr %493, align 8
  %496 = load ptr, ptr %48, align 8
  %497 = load i64, ptr %49, align 8
  %498 = mul nsw i64 %497, %178
  %499 = getelementptr i64, ptr %496, i64 %498
  %500 = getelementptr i64, ptr %499, i64 %480
  %501 = load i64, ptr %500, align 8
  %502 = add i64 %489, %239
  %503 = sub i64 %479, %502
  %504 = add nsw i64 %503, %501
  store i64 %504, ptr %500, align 8
  %505 = load ptr, ptr %41, align 8
  br label %506

506:                                              ; preds = %487, %478
  %507 = phi ptr [ %505, %487 ], [ %481, %478 ]
  %508 = getelementptr i64, ptr %507, i64 %77
  %509 = load i64, ptr %508, align 8
  %510 = getelementptr i8, ptr %508, i64 8
  %511 = load i64, ptr %510, align 8
  %512 = icmp slt i64 %509, %511
  br i1 %512, label %513, label %549

513:                                              ; preds = %506, %542
  %514 = phi ptr [ %543, %542 ], [ %507, %506 ]
  %515 = phi i64 [ %544, %542 ], [ %509, %506 ]
  %516 = load ptr, ptr %42, align 8
  %517 = getelementptr inbounds i64, ptr %516, i64 %515
  %518 = load i64, ptr %517, align 8
  %519 = load ptr, ptr %43, align 8
  %520 = getelementptr inbounds i64, ptr %519, i64 %518
  %521 = load i64, ptr %520, align 8
  %522 = getelementptr i8, ptr %520, i64 8
  %523 = load i64, ptr %522, align 8
  %524 = icmp slt i64 %521, %523
  br i1 %524, label %525, label %542

525:                                              ; preds = %513
  %526 = load ptr, ptr %44, align 8
  br label %527

527:                                              ; preds = %539, %525
  %528 = phi i64 [ %521, %525 ], [ %540, %539 ]
  %529 = getelementptr inbounds i64, ptr %526, i64 %528
  %530 = load i64, ptr %529, align 8
  %531 = icmp slt i64 %530, 0
  br i1 %531, label %532, label %539

532:                                              ; preds = %527
  %533 = getelementptr inbounds i64, ptr %526, i64 %528
  %534 = load ptr, ptr %50, align 8
  %535 = getelementptr inbounds i64, ptr %534, i64 %515
  %536 = load i64, ptr %535, align 8
  %537 = add nsw i64 %536, %479
  store i64 %537, ptr %533, align 8
  %538 = load ptr, ptr %41, align 8
  br label %542

539:                                              ; preds = %527
  %540 = add i64 %528, 1
  %541 = icmp eq i64 %540, %523
  br i1 %541, label %542, label %527, !llvm.loop !15

542:                                              ; preds = %539, %532, %513
  %543 = phi ptr [ %538, %532 ], [ %514, %513 ], [ %514, %539 ]
  %544 = add nsw i64 %515, 1
  %545 = getelementptr i64, ptr %543, i64 %77
  %546 = getelementptr i8, ptr %545, i64 8
  %547 = load i64, ptr %546, align 8
  %548 = icmp slt i64 %544, %547
  br i1 %548, label %513, label %549, !llvm.loop !16

549:                                              ; preds = %542, %506
  %550 = load ptr, ptr %10, align 8
  %551 = getelementptr inbounds i64, ptr %550, i64 %77
  %552 = load i64, ptr %551, align 8
  %553 = load ptr, ptr %23, align 8
  %554 = getelementptr i64, ptr %553, i64 %77
  %555 = load i64, ptr %554, align 8
  %556 = getelementptr i8, ptr %554, i64 8
  %557 = load i64, ptr %556, align 8
  %558 = icmp slt i64 %555, %557
  br i1 %558, label %559, label %625

559:                                              ; preds = %549
  %560 = load ptr, ptr %26, align 8
  br label %561

561:                                              ; preds = %573, %559
  %562 = phi ptr [ %553, %559 ], [ %574, %573 ]
  %563 = phi ptr [ %560, %559 ], [ %575, %573 ]
  %564 = phi i64 [ %555, %559 ], [ %576, %573 ]
  %565 = load ptr, ptr %25, align 8
  %566 = getelementptr inbounds i64, ptr %565, i64 %564
  %567 = load i64, ptr %566, align 8
  %568 = getelementptr inbounds i64, ptr %563, i64 %564
  %569 = load i64, ptr %568, align 8
  %570 = icmp slt i64 %567, %569
  br i1 %570, label %581, label %573

571:                                              ; preds = %619
  %572 = load ptr, ptr %23, align 8
  br label %573

573:                                              ; preds = %571, %561
  %574 = phi ptr [ %572, %571 ], [ %562, %561 ]
  %575 = phi ptr [ %621, %571 ], [ %563, %561 ]
  %576 = add nsw i64 %564, 1
  %577 = getelementptr i64, ptr %574, i64 %77
  %578 = getelementptr i8, ptr %577, i64 8
  %579 = load i64, ptr %578, align 8
  %580 = icmp slt i64 %576, %579
  br i1 %580, label %561, label %625, !llvm.loop !17

581:                                              ; preds = %561, %619
  %582 = phi i64 [ %620, %619 ], [ %567, %561 ]
  %583 = load ptr, ptr %24, align 8
  %584 = getelementptr inbounds i64, ptr %583, i64 %564
  %585 = load i64, ptr %584, align 8
  %586 = and i64 %585, 2
  %587 = icmp eq i64 %586, 0
  br i1 %587, label %600, label %588

588:                                              ; preds = %581
  %589 = load ptr, ptr %51, align 8
  %590 = getelementptr inbounds i64, ptr %589, i64 %77
  %591 = load i64, ptr %590, align 8
  %592 = add nsw i64 %591, %485
  %593 = load ptr, ptr %28, align 8
  %594 = getelementptr inbounds i64, ptr %593, i64 %582
  store i64 %592, ptr %594, align 8
  %595 = load ptr, ptr %27, align 8
  %596 = getelementptr inbounds i64, ptr %595, i64 %582
  store i64 %552, ptr %596, align 8
  %597 = load ptr, ptr %24, align 8
  %598 = getelementptr inbounds i64, ptr %597, i64 %564
  %599 = load i64, ptr %598, align 8
  br label %600

600:                                              ; preds = %588, %581
  %601 = phi i64 [ %599, %588 ], [ %585, %581 ]
  %602 = and i64 %601, 1
  %603 = icmp eq i64 %602, 0
  br i1 %603, label %619, label %604

604:                                              ; preds = %600
  %605 = load ptr, ptr %30, align 8
  %606 = getelementptr inbounds i64, ptr %605, i64 %552
  %607 = load i64, ptr %606, align 8
  %608 = load i64, ptr %31, align 8
  %609 = icmp slt i64 %582, %608
  %610 = select i1 %609, i64 1, i64 2
  %611 = and i64 %610, %607
  %612 = icmp eq i64 %611, 0
  br i1 %612, label %619, label %613

613:                                              ; preds = %604
  %614 = load ptr, ptr %32, align 8
  %615 = getelementptr inbounds i64, ptr %614, i64 %582
  %616 = load i64, ptr %615, align 8
  %617 = icmp slt i64 %616, %485
  br i1 %617, label %618, label %619

618:                                              ; preds = %613
  store i64 %485, ptr %615, align 8
  br label %619

619:                                              ; preds = %618, %613, %604, %600
  %620 = add nsw i64 %582, 1
  %621 = load ptr, ptr %26, align 8
  %622 = getelementptr inbounds i64, ptr %621, i64 %564
  %623 = load i64, ptr %622, align 8
  %624 = icmp slt i64 %620, %623
  br i1 %624, label %581, label %571, !llvm.loop !18

625:                                              ; preds = %573, %549
  %626 = load ptr, ptr %17, align 8
  %627 = getelementptr inbounds i64, ptr %626, i64 %178
  %628 = load i64, ptr %627, align 8
  %629 = load ptr, ptr %14, align 8
  %630 = getelementptr inbounds i64, ptr %629, i64 %178
  %631 = load i64, ptr %630, align 8
  %632 = add nsw i64 %631, 1
  store i64 %632, ptr %630, align 8
  %633 = add nsw i64 %631, %628
  %634 = load ptr, ptr %14, align 8
  %635 = getelementptr inbounds i64, ptr %634, i64 %178
  %636 = load i64, ptr %635, align 8
  %637 = icmp sgt i64 %636, 1
  br i1 %637, label %638, label %643

638:                                              ; preds = %625
  %639 = load ptr, ptr %52, align 8
  %640 = getelementptr i64, ptr %639, i64 %633
  %641 = getelementptr i8, ptr %640, i64 -8
  %642 = load i64, ptr %641, align 8
  br label %643

643:                                              ; preds = %638, %625
  %644 = phi i64 [ %642, %638 ], [ 0, %625 ]
  %645 = load ptr, ptr %16, align 8
  %646 = getelementptr inbounds i64, ptr %645, i64 %633
  store i64 %479, ptr %646, align 8
  %647 = load ptr, ptr %53, align 8
  %648 = getelementptr inbounds i64, ptr %647, i64 %77
  store i64 %479, ptr %648, align 8
  %649 = load ptr, ptr %22, align 8
  %650 = getelementptr inbounds i64, ptr %649, i64 %178
  store i64 %485, ptr %650, align 8
  %651 = load ptr, ptr %51, align 8
  %652 = getelementptr inbounds i64, ptr %651, i64 %77
  %653 = load i64, ptr %652, align 8
  %654 = add nsw i64 %653, %485
  %655 = tail call noundef i64 @llvm.smax.i64(i64 %644, i64 %654)
  %656 = load ptr, ptr %52, align 8
  %657 = getelementptr inbounds i64, ptr %656, i64 %633
  store i64 %655, ptr %657, align 8
  %658 = load ptr, ptr %52, align 8
  %659 = getelementptr inbounds i64, ptr %658, i64 %633
  %660 = load i64, ptr %659, align 8
  %661 = load ptr, ptr %33, align 8
  %662 = getelementptr i64, ptr %661, i64 %77
  %663 = load i64, ptr %662, align 8
  %664 = getelementptr i8, ptr %662, i64 8
  %665 = load i64, ptr %664, align 8
  %666 = icmp slt i64 %663, %665
  br i1 %666, label %667, label %697

667:                                              ; preds = %643, %667
  %668 = phi i64 [ %691, %667 ], [ %663, %643 ]
  %669 = load ptr, ptr %34, align 8
  %670 = getelementptr inbounds i64, ptr %669, i64 %668
  %671 = load i64, ptr %670, align 8
  %672 = load ptr, ptr %35, align 8
  %673 = getelementptr inbounds i64, ptr %672, i64 %671
  %674 = load i64, ptr %673, align 8
  %675 = load ptr, ptr %36, align 8
  %676 = getelementptr inbounds i64, ptr %675, i64 %668
  %677 = load i64, ptr %676, align 8
  %678 = icmp eq i64 %677, 0
  %679 = select i1 %678, i64 368, i64 360
  %680 = getelementptr inbounds nuw i8, ptr %0, i64 %679
  %681 = select i1 %678, i64 384, i64 376
  %682 = getelementptr inbounds nuw i8, ptr %0, i64 %681
  %683 = select i1 %678, i64 %479, i64 %660
  %684 = load ptr, ptr %682, align 8
  %685 = load ptr, ptr %680, align 8
  %686 = getelementptr inbounds i64, ptr %685, i64 %671
  %687 = load i64, ptr %686, align 8
  %688 = add nsw i64 %687, 1
  store i64 %688, ptr %686, align 8
  %689 = getelementptr i64, ptr %684, i64 %674
  %690 = getelementptr i64, ptr %689, i64 %687
  store i64 %683, ptr %690, align 8
  %691 = add nsw i64 %668, 1
  %692 = load ptr, ptr %33, align 8
  %693 = getelementptr i64, ptr %692, i64 %77
  %694 = getelementptr i8, ptr %693, i64 8
  %695 = load i64, ptr %694, align 8
  %696 = icmp slt i64 %691, %695
  br i1 %696, label %667, label %697, !llvm.loop !19

697:                                              ; preds = %667, %643
  %698 = load ptr, ptr %12, align 8
  %699 = getelementptr inbounds i64, ptr %698, i64 %178
  %700 = load i64, ptr %699, align 8
  %701 = icmp eq i64 %700, 0
  br i1 %701, label %708, label %702

702:                                              ; preds = %697
  %703 = load ptr, ptr %8, align 8
  %704 = load ptr, ptr %11, align 8
  %705 = getelementptr inbounds i64, ptr %704, i64 %178
  %706 = load i64, ptr %705, align 8
  %707 = getelementptr inbounds i64, ptr %703, i64 %706
  store i64 %485, ptr %707, align 8
  br label %708

708:                                              ; preds = %702, %697, %337, %169
  %709 = load i64, ptr %19, align 8
  %710 = icmp eq i64 %709, 0
  br i1 %710, label %56, label %711

711:                                              ; preds = %474, %708
  %712 = getelementptr inbounds nuw i8, ptr %0, i64 424
  store i64 %77, ptr %712, align 8
  br label %756

713:                                              ; preds = %725, %67
  %714 = phi i64 [ 0, %67 ], [ %730, %725 ]
  %715 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %716 = load i64, ptr %715, align 8
  %717 = icmp sgt i64 %716, 0
  br i1 %717, label %718, label %756

718:                                              ; preds = %713
  %719 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %720 = load ptr, ptr %719, align 8
  %721 = getelementptr inbounds nuw i8, ptr %0, i64 304
  %722 = load ptr, ptr %721, align 8
  %723 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %724 = getelementptr inbounds nuw i8, ptr %0, i64 256
  br label %733

725:                                              ; preds = %71, %725
  %726 = phi i64 [ 0, %71 ], [ %731, %725 ]
  %727 = phi i64 [ 0, %71 ], [ %730, %725 ]
  %728 = getelementptr inbounds nuw i64, ptr %73, i64 %726
  %729 = load i64, ptr %728, align 8
  %730 = tail call noundef i64 @llvm.smax.i64(i64 %727, i64 %729)
  %731 = add nuw nsw i64 %726, 1
  %732 = icmp eq i64 %731, %69
  br i1 %732, label %713, label %725, !llvm.loop !20

733:                                              ; preds = %718, %750
  %734 = phi i64 [ 0, %718 ], [ %754, %750 ]
  %735 = phi i64 [ %714, %718 ], [ %753, %750 ]
  %736 = getelementptr inbounds nuw i64, ptr %720, i64 %734
  %737 = load i64, ptr %736, align 8
  %738 = getelementptr inbounds nuw i64, ptr %722, i64 %734
  %739 = load i64, ptr %738, align 8
  %740 = add i64 %739, -1
  %741 = icmp slt i64 %740, 0
  br i1 %741, label %750, label %742

742:                                              ; preds = %733
  %743 = load ptr, ptr %723, align 8
  %744 = load ptr, ptr %724, align 8
  %745 = getelementptr inbounds nuw i64, ptr %744, i64 %734
  %746 = load i64, ptr %745, align 8
  %747 = getelementptr i64, ptr %743, i64 %746
  %748 = getelementptr i64, ptr %747, i64 %740
  %749 = load i64, ptr %748, align 8
  br label %750

750:                                              ; preds = %733, %742
  %751 = phi i64 [ %749, %742 ], [ 0, %733 ]
  %752 = tail call noundef i64 @llvm.smax.i64(i64 %737, i64 %751)
  %753 = tail call noundef i64 @llvm.smax.i64(i64 %735, i64 %752)
  %754 = add nuw nsw i64 %734, 1
  %755 = icmp eq i64 %754, %716
  br i1 %755, label %756, label %733, !llvm.loop !21

756:                                              ; preds = %750, %713, %711
  %757 = phi i64 [ 0, %711 ], [ %714, %713 ], [ %753, %750 ]
  ret i64 %757
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
