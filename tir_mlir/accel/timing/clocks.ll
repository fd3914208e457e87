
; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define range(i64 0, -9223372036854775808) i64 @tir_accel_clock(ptr noundef %0) local_unnamed_addr #0 {
  %2 = load i64, ptr %0, align 8
  %3 = icmp sgt i64 %2, 0
  br i1 %3, label %4, label %61

4:                                                ; preds = %1
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 232
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 240
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 248
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 272
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 216
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 376
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 368
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 176
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 304
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 224
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %36 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %37 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %38 = getelementptr inbounds nuw i8, ptr %0, i64 184
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 312
  %40 = getelementptr inbounds nuw i8, ptr %0, i64 192
  %41 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %42 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %43 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %44 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %45 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %46 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %47 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %48 = getelementptr inbounds nuw i8, ptr %0, i64 352
  %49 = getelementptr inbounds nuw i8, ptr %0, i64 32
  br label %54

50:                                               ; preds = %656
  %51 = add nuw nsw i64 %55, 1
  %52 = load i64, ptr %0, align 8
  %53 = icmp slt i64 %51, %52
  br i1 %53, label %54, label %61, !llvm.loop !5

54:                                               ; preds = %4, %50
  %55 = phi i64 [ 0, %4 ], [ %51, %50 ]
  %56 = load i64, ptr %5, align 8
  %57 = icmp sgt i64 %56, 0
  %58 = load ptr, ptr %6, align 8
  br i1 %57, label %59, label %68

59:                                               ; preds = %54
  %60 = load ptr, ptr %7, align 8
  br label %79

61:                                               ; preds = %50, %1
  %62 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %63 = load i64, ptr %62, align 8
  %64 = icmp sgt i64 %63, 0
  br i1 %64, label %65, label %661

65:                                               ; preds = %61
  %66 = getelementptr inbounds nuw i8, ptr %0, i64 248
  %67 = load ptr, ptr %66, align 8
  br label %673

68:                                               ; preds = %97, %54
  %69 = phi i64 [ -1, %54 ], [ %98, %97 ]
  %70 = getelementptr inbounds i64, ptr %58, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = add nsw i64 %71, 1
  store i64 %72, ptr %70, align 8
  %73 = load ptr, ptr %9, align 8
  %74 = getelementptr inbounds i64, ptr %73, i64 %71
  %75 = load i64, ptr %74, align 8
  %76 = icmp eq i64 %75, 1
  %77 = load ptr, ptr %8, align 8
  %78 = load i64, ptr %12, align 8
  br i1 %76, label %101, label %169

79:                                               ; preds = %59, %97
  %80 = phi i64 [ 0, %59 ], [ %99, %97 ]
  %81 = phi i64 [ -1, %59 ], [ %98, %97 ]
  %82 = getelementptr inbounds nuw i64, ptr %58, i64 %80
  %83 = load i64, ptr %82, align 8
  %84 = getelementptr inbounds nuw i64, ptr %60, i64 %80
  %85 = load i64, ptr %84, align 8
  %86 = icmp slt i64 %83, %85
  br i1 %86, label %87, label %97

87:                                               ; preds = %79
  %88 = icmp slt i64 %81, 0
  br i1 %88, label %96, label %89

89:                                               ; preds = %87
  %90 = load ptr, ptr %8, align 8
  %91 = getelementptr inbounds nuw i64, ptr %90, i64 %80
  %92 = load i64, ptr %91, align 8
  %93 = getelementptr inbounds nuw i64, ptr %90, i64 %81
  %94 = load i64, ptr %93, align 8
  %95 = icmp slt i64 %92, %94
  br i1 %95, label %96, label %97

96:                                               ; preds = %89, %87
  br label %97

97:                                               ; preds = %79, %89, %96
  %98 = phi i64 [ %80, %96 ], [ %81, %89 ], [ %81, %79 ]
  %99 = add nuw nsw i64 %80, 1
  %100 = icmp eq i64 %99, %56
  br i1 %100, label %68, label %79, !llvm.loop !8

101:                                              ; preds = %68
  %102 = load ptr, ptr %11, align 8
  %103 = load ptr, ptr %10, align 8
  %104 = getelementptr inbounds i64, ptr %103, i64 %71
  %105 = load i64, ptr %104, align 8
  %106 = getelementptr inbounds i64, ptr %102, i64 %105
  %107 = load i64, ptr %106, align 8
  %108 = getelementptr inbounds i64, ptr %77, i64 %107
  %109 = load i64, ptr %108, align 8
  %110 = add nsw i64 %78, %109
  %111 = load i64, ptr %20, align 8
  %112 = icmp sgt i64 %111, 0
  br i1 %112, label %113, label %163

113:                                              ; preds = %101
  %114 = shl nsw i64 %107, 1
  %115 = or disjoint i64 %114, 1
  br label %118

116:                                              ; preds = %158
  %117 = load ptr, ptr %8, align 8
  br label %163

118:                                              ; preds = %158, %113
  %119 = phi i64 [ %111, %113 ], [ %159, %158 ]
  %120 = phi i64 [ %110, %113 ], [ %160, %158 ]
  %121 = phi i64 [ 0, %113 ], [ %161, %158 ]
  %122 = load ptr, ptr %49, align 8
  %123 = getelementptr inbounds i64, ptr %122, i64 %71
  %124 = load i64, ptr %123, align 8
  %125 = shl nuw i64 1, %121
  %126 = and i64 %124, %125
  %127 = icmp eq i64 %126, 0
  br i1 %127, label %158, label %128

128:                                              ; preds = %118
  %129 = load ptr, ptr %31, align 8
  %130 = getelementptr inbounds i64, ptr %129, i64 %71
  %131 = load i64, ptr %130, align 8
  %132 = load ptr, ptr %13, align 8
  %133 = getelementptr inbounds nuw i64, ptr %132, i64 %121
  %134 = load i64, ptr %133, align 8
  %135 = xor i64 %131, -1
  %136 = add i64 %134, %135
  %137 = icmp slt i64 %136, 0
  br i1 %137, label %146, label %138

138:                                              ; preds = %128
  %139 = load ptr, ptr %47, align 8
  %140 = load ptr, ptr %16, align 8
  %141 = getelementptr inbounds nuw i64, ptr %140, i64 %121
  %142 = load i64, ptr %141, align 8
  %143 = getelementptr i64, ptr %139, i64 %142
  %144 = getelementptr i64, ptr %143, i64 %136
  %145 = load i64, ptr %144, align 8
  br label %146

146:                                              ; preds = %138, %128
  %147 = phi i64 [ %145, %138 ], [ 0, %128 ]
  %148 = icmp sgt i64 %147, %120
  br i1 %148, label %149, label %158

149:                                              ; preds = %146
  %150 = sub i64 %147, %120
  %151 = load ptr, ptr %19, align 8
  %152 = mul nsw i64 %119, %115
  %153 = getelementptr i64, ptr %151, i64 %152
  %154 = getelementptr i64, ptr %153, i64 %121
  %155 = load i64, ptr %154, align 8
  %156 = add nsw i64 %150, %155
  store i64 %156, ptr %154, align 8
  %157 = load i64, ptr %20, align 8
  br label %158

158:                                              ; preds = %149, %146, %118
  %159 = phi i64 [ %119, %118 ], [ %157, %149 ], [ %119, %146 ]
  %160 = phi i64 [ %120, %118 ], [ %147, %149 ], [ %120, %146 ]
  %161 = add nuw nsw i64 %121, 1
  %162 = icmp slt i64 %161, %159
  br i1 %162, label %118, label %116, !llvm.loop !9

163:                                              ; preds = %101, %116
  %164 = phi ptr [ %77, %101 ], [ %117, %116 ]
  %165 = phi i64 [ %110, %101 ], [ %160, %116 ]
  %166 = getelementptr inbounds i64, ptr %164, i64 %107
  store i64 %165, ptr %166, align 8
  %167 = load ptr, ptr %48, align 8
  %168 = getelementptr inbounds i64, ptr %167, i64 %71
  store i64 %165, ptr %168, align 8
  br label %656

169:                                              ; preds = %68
  %170 = load ptr, ptr %10, align 8
  %171 = getelementptr inbounds i64, ptr %170, i64 %71
  %172 = load i64, ptr %171, align 8
  %173 = load ptr, ptr %11, align 8
  %174 = getelementptr inbounds i64, ptr %173, i64 %172
  %175 = load i64, ptr %174, align 8
  %176 = getelementptr inbounds i64, ptr %77, i64 %175
  %177 = load i64, ptr %176, align 8
  %178 = add nsw i64 %78, %177
  %179 = load ptr, ptr %13, align 8
  %180 = getelementptr inbounds i64, ptr %179, i64 %172
  %181 = load i64, ptr %180, align 8
  %182 = load ptr, ptr %14, align 8
  %183 = getelementptr inbounds i64, ptr %182, i64 %172
  %184 = load i64, ptr %183, align 8
  %185 = sub nsw i64 %181, %184
  %186 = icmp slt i64 %185, 0
  br i1 %186, label %195, label %187

187:                                              ; preds = %169
  %188 = load ptr, ptr %15, align 8
  %189 = load ptr, ptr %16, align 8
  %190 = getelementptr inbounds i64, ptr %189, i64 %172
  %191 = load i64, ptr %190, align 8
  %192 = getelementptr i64, ptr %188, i64 %191
  %193 = getelementptr i64, ptr %192, i64 %185
  %194 = load i64, ptr %193, align 8
  br label %195

195:                                              ; preds = %187, %169
  %196 = phi i64 [ %194, %187 ], [ 0, %169 ]
  %197 = icmp sgt i64 %196, %178
  br i1 %197, label %198, label %215

198:                                              ; preds = %195
  %199 = load ptr, ptr %17, align 8
  %200 = getelementptr inbounds i64, ptr %199, i64 %172
  %201 = load i64, ptr %200, align 8
  %202 = icmp eq i64 %201, 0
  br i1 %202, label %204, label %203

203:                                              ; preds = %198
  store i64 1, ptr %18, align 8
  br label %204

204:                                              ; preds = %203, %198
  %205 = sub i64 %196, %178
  %206 = load ptr, ptr %19, align 8
  %207 = shl nsw i64 %175, 1
  %208 = load i64, ptr %20, align 8
  %209 = mul nsw i64 %207, %208
  %210 = getelementptr i64, ptr %206, i64 %209
  %211 = getelementptr i64, ptr %210, i64 %172
  %212 = load i64, ptr %211, align 8
  %213 = add nsw i64 %205, %212
  store i64 %213, ptr %211, align 8
  %214 = load ptr, ptr %8, align 8
  br label %215

215:                                              ; preds = %204, %195
  %216 = phi ptr [ %214, %204 ], [ %77, %195 ]
  %217 = phi i64 [ %196, %204 ], [ %178, %195 ]
  %218 = getelementptr inbounds i64, ptr %216, i64 %175
  store i64 %217, ptr %218, align 8
  %219 = load ptr, ptr %21, align 8
  %220 = getelementptr inbounds i64, ptr %219, i64 %172
  %221 = load i64, ptr %220, align 8
  %222 = load ptr, ptr %10, align 8
  %223 = getelementptr inbounds i64, ptr %222, i64 %71
  %224 = load i64, ptr %223, align 8
  %225 = load ptr, ptr %22, align 8
  %226 = getelementptr inbounds i64, ptr %225, i64 %71
  %227 = load i64, ptr %226, align 8
  %228 = getelementptr i8, ptr %226, i64 8
  %229 = load i64, ptr %228, align 8
  %230 = icmp slt i64 %227, %229
  br i1 %230, label %231, label %288

231:                                              ; preds = %215
  %232 = load ptr, ptr %23, align 8
  %233 = load ptr, ptr %24, align 8
  br label %234

234:                                              ; preds = %251, %231
  %235 = phi i64 [ 0, %231 ], [ %253, %251 ]
  %236 = phi i64 [ %227, %231 ], [ %254, %251 ]
  %237 = phi i64 [ 0, %231 ], [ %252, %251 ]
  %238 = getelementptr inbounds i64, ptr %232, i64 %236
  %239 = load i64, ptr %238, align 8
  %240 = getelementptr inbounds i64, ptr %233, i64 %236
  %241 = load i64, ptr %240, align 8
  %242 = icmp slt i64 %239, %241
  br i1 %242, label %243, label %251

243:                                              ; preds = %234
  %244 = load ptr, ptr %25, align 8
  %245 = load ptr, ptr %26, align 8
  %246 = load ptr, ptr %29, align 8
  %247 = getelementptr inbounds i64, ptr %246, i64 %236
  %248 = load i64, ptr %247, align 8
  %249 = and i64 %248, 2
  %250 = icmp eq i64 %249, 0
  br label %256

251:                                              ; preds = %284, %234
  %252 = phi i64 [ %237, %234 ], [ %285, %284 ]
  %253 = phi i64 [ %235, %234 ], [ %278, %284 ]
  %254 = add nsw i64 %236, 1
  %255 = icmp eq i64 %254, %229
  br i1 %255, label %288, label %234, !llvm.loop !10

256:                                              ; preds = %284, %243
  %257 = phi i64 [ %235, %243 ], [ %278, %284 ]
  %258 = phi i64 [ %239, %243 ], [ %286, %284 ]
  %259 = phi i64 [ %237, %243 ], [ %285, %284 ]
  %260 = getelementptr inbounds i64, ptr %244, i64 %258
  %261 = load i64, ptr %260, align 8
  %262 = getelementptr inbounds i64, ptr %245, i64 %258
  %263 = load i64, ptr %262, align 8
  %264 = icmp sgt i64 %263, %257
  br i1 %264, label %265, label %277

265:                                              ; preds = %256
  %266 = icmp eq i64 %261, %224
  br i1 %266, label %276, label %267

267:                                              ; preds = %265
  %268 = load ptr, ptr %27, align 8
  %269 = getelementptr inbounds i64, ptr %268, i64 %261
  %270 = load i64, ptr %269, align 8
  %271 = load i64, ptr %28, align 8
  %272 = icmp slt i64 %258, %271
  %273 = select i1 %272, i64 1, i64 2
  %274 = and i64 %273, %270
  %275 = icmp eq i64 %274, 0
  br i1 %275, label %277, label %276

276:                                              ; preds = %267, %265
  br label %277

277:                                              ; preds = %276, %267, %256
  %278 = phi i64 [ %263, %276 ], [ %257, %267 ], [ %257, %256 ]
  br i1 %250, label %284, label %279

279:                                              ; preds = %277
  %280 = load ptr, ptr %30, align 8
  %281 = getelementptr inbounds i64, ptr %280, i64 %258
  %282 = load i64, ptr %281, align 8
  %283 = tail call i64 @llvm.smax.i64(i64 %282, i64 %259)
  br label %284

284:                                              ; preds = %279, %277
  %285 = phi i64 [ %259, %277 ], [ %283, %279 ]
  %286 = add nsw i64 %258, 1
  %287 = icmp eq i64 %286, %241
  br i1 %287, label %251, label %256, !llvm.loop !11

288:                                              ; preds = %251, %215
  %289 = phi i64 [ 0, %215 ], [ %252, %251 ]
  %290 = phi i64 [ 0, %215 ], [ %253, %251 ]
  %291 = icmp slt i64 %290, %289
  %292 = select i1 %291, i64 2, i64 1
  %293 = tail call noundef i64 @llvm.smax.i64(i64 %290, i64 %289)
  %294 = load ptr, ptr %9, align 8
  %295 = getelementptr inbounds i64, ptr %294, i64 %71
  %296 = load i64, ptr %295, align 8
  %297 = icmp eq i64 %296, 0
  br i1 %297, label %345, label %298

298:                                              ; preds = %288
  %299 = load ptr, ptr %31, align 8
  %300 = getelementptr inbounds i64, ptr %299, i64 %71
  %301 = load i64, ptr %300, align 8
  %302 = load ptr, ptr %32, align 8
  %303 = getelementptr inbounds i64, ptr %302, i64 %301
  %304 = load i64, ptr %303, align 8
  %305 = icmp eq i64 %296, 3
  br i1 %305, label %306, label %314

306:                                              ; preds = %298
  %307 = load ptr, ptr %35, align 8
  %308 = getelementptr inbounds i64, ptr %307, i64 %301
  %309 = load i64, ptr %308, align 8
  %310 = load ptr, ptr %33, align 8
  %311 = getelementptr inbounds i64, ptr %310, i64 %301
  %312 = load i64, ptr %311, align 8
  %313 = icmp slt i64 %309, %312
  br i1 %313, label %328, label %337

314:                                              ; preds = %298
  %315 = load ptr, ptr %33, align 8
  %316 = getelementptr inbounds i64, ptr %315, i64 %301
  %317 = load i64, ptr %316, align 8
  %318 = load ptr, ptr %34, align 8
  %319 = getelementptr inbounds i64, ptr %318, i64 %301
  %320 = load i64, ptr %319, align 8
  %321 = sub nsw i64 %317, %320
  %322 = icmp slt i64 %321, 0
  br i1 %322, label %340, label %323

323:                                              ; preds = %314
  %324 = load ptr, ptr %35, align 8
  %325 = getelementptr inbounds i64, ptr %324, i64 %301
  %326 = load i64, ptr %325, align 8
  %327 = icmp slt i64 %321, %326
  br i1 %327, label %328, label %337

328:                                              ; preds = %323, %306
  %329 = phi i64 [ 336, %306 ], [ 344, %323 ]
  %330 = phi i64 [ %309, %306 ], [ %321, %323 ]
  %331 = getelementptr inbounds nuw i8, ptr %0, i64 %329
  %332 = load ptr, ptr %331, align 8
  %333 = getelementptr i64, ptr %332, i64 %304
  %334 = getelementptr i64, ptr %333, i64 %330
  %335 = load i64, ptr %334, align 8
  %336 = icmp slt i64 %335, 0
  br i1 %336, label %337, label %340

337:                                              ; preds = %328, %323, %306
  %338 = phi i64 [ %335, %328 ], [ -1, %306 ], [ -1, %323 ]
  %339 = select i1 %305, i64 3, i64 2
  store i64 %339, ptr %18, align 8
  br label %340

340:                                              ; preds = %337, %328, %314
  %341 = phi i64 [ %338, %337 ], [ %335, %328 ], [ 0, %314 ]
  %342 = icmp sgt i64 %341, %293
  %343 = select i1 %342, i64 3, i64 %292
  %344 = tail call i64 @llvm.smax.i64(i64 %341, i64 %293)
  br label %345

345:                                              ; preds = %340, %288
  %346 = phi i64 [ %292, %288 ], [ %343, %340 ]
  %347 = phi i64 [ %293, %288 ], [ %344, %340 ]
  %348 = load i64, ptr %18, align 8
  %349 = icmp eq i64 %348, 0
  br i1 %349, label %350, label %659

350:                                              ; preds = %345
  %351 = tail call noundef i64 @llvm.smax.i64(i64 %217, i64 %221)
  %352 = tail call noundef i64 @llvm.smax.i64(i64 %347, i64 %351)
  %353 = load ptr, ptr %36, align 8
  %354 = getelementptr i64, ptr %353, i64 %71
  %355 = load i64, ptr %354, align 8
  %356 = getelementptr i8, ptr %354, i64 8
  %357 = load i64, ptr %356, align 8
  %358 = icmp slt i64 %355, %357
  br i1 %358, label %359, label %430

359:                                              ; preds = %350, %417
  %360 = phi i64 [ %418, %417 ], [ %346, %350 ]
  %361 = phi ptr [ %419, %417 ], [ %353, %350 ]
  %362 = phi i64 [ %420, %417 ], [ %352, %350 ]
  %363 = phi i64 [ %421, %417 ], [ %355, %350 ]
  %364 = load ptr, ptr %37, align 8
  %365 = getelementptr inbounds i64, ptr %364, i64 %363
  %366 = load i64, ptr %365, align 8
  %367 = load ptr, ptr %38, align 8
  %368 = getelementptr inbounds i64, ptr %367, i64 %366
  %369 = load i64, ptr %368, align 8
  %370 = getelementptr i8, ptr %368, i64 8
  %371 = load i64, ptr %370, align 8
  %372 = icmp slt i64 %369, %371
  br i1 %372, label %373, label %417

373:                                              ; preds = %359
  %374 = load ptr, ptr %39, align 8
  br label %377

375:                                              ; preds = %390
  %376 = icmp slt i64 %391, 0
  br i1 %376, label %417, label %394

377:                                              ; preds = %390, %373
  %378 = phi i64 [ %369, %373 ], [ %392, %390 ]
  %379 = phi i64 [ -1, %373 ], [ %391, %390 ]
  %380 = getelementptr inbounds i64, ptr %374, i64 %378
  %381 = load i64, ptr %380, align 8
  %382 = icmp sgt i64 %381, -1
  br i1 %382, label %383, label %390

383:                                              ; preds = %377
  %384 = icmp slt i64 %379, 0
  br i1 %384, label %389, label %385

385:                                              ; preds = %383
  %386 = getelementptr inbounds nuw i64, ptr %374, i64 %379
  %387 = load i64, ptr %386, align 8
  %388 = icmp slt i64 %381, %387
  br i1 %388, label %389, label %390

389:                                              ; preds = %385, %383
  br label %390

390:                                              ; preds = %389, %385, %377
  %391 = phi i64 [ %378, %389 ], [ %379, %385 ], [ %379, %377 ]
  %392 = add nsw i64 %378, 1
  %393 = icmp eq i64 %392, %371
  br i1 %393, label %375, label %377, !llvm.loop !12

394:                                              ; preds = %375
  %395 = getelementptr inbounds nuw i64, ptr %374, i64 %391
  %396 = load i64, ptr %395, align 8
  %397 = icmp sgt i64 %396, %362
  br i1 %397, label %398, label %411

398:                                              ; preds = %394
  %399 = load ptr, ptr %40, align 8
  %400 = getelementptr inbounds i64, ptr %399, i64 %366
  %401 = load i64, ptr %400, align 8
  %402 = add nsw i64 %401, 4
  %403 = load ptr, ptr %41, align 8
  %404 = getelementptr inbounds i64, ptr %403, i64 %366
  %405 = load i64, ptr %404, align 8
  %406 = icmp ne i64 %405, 0
  %407 = icmp sgt i64 %396, %352
  %408 = and i1 %407, %406
  br i1 %408, label %409, label %411

409:                                              ; preds = %398
  store i64 4, ptr %18, align 8
  %410 = load i64, ptr %395, align 8
  br label %411

411:                                              ; preds = %409, %398, %394
  %412 = phi i64 [ %410, %409 ], [ %396, %398 ], [ %396, %394 ]
  %413 = phi i64 [ %402, %409 ], [ %402, %398 ], [ %360, %394 ]
  %414 = phi i64 [ %396, %409 ], [ %396, %398 ], [ %362, %394 ]
  %415 = xor i64 %412, -1
  store i64 %415, ptr %395, align 8
  %416 = load ptr, ptr %36, align 8
  br label %417

417:                                              ; preds = %411, %375, %359
  %418 = phi i64 [ %360, %375 ], [ %413, %411 ], [ %360, %359 ]
  %419 = phi ptr [ %361, %375 ], [ %416, %411 ], [ %361, %359 ]
  %420 = phi i64 [ %362, %375 ], [ %414, %411 ], [ %362, %359 ]
  %421 = add nsw i64 %363, 1
  %422 = getelementptr i64, ptr %419, i64 %71
  %423 = getelementptr i8, ptr %422, i64 8
  %424 = load i64, ptr %423, align 8
  %425 = icmp slt i64 %421, %424
  br i1 %425, label %359, label %426, !llvm.loop !13

426:                                              ; preds = %417
  %427 = load i64, ptr %18, align 8
  %428 = icmp eq i64 %427, 0
  %429 = tail call i64 @llvm.smax.i64(i64 %351, i64 %420)
  br i1 %428, label %430, label %659

430:                                              ; preds = %426, %350
  %431 = phi i64 [ %429, %426 ], [ %352, %350 ]
  %432 = phi i64 [ %418, %426 ], [ %346, %350 ]
  %433 = phi ptr [ %419, %426 ], [ %353, %350 ]
  %434 = load ptr, ptr %42, align 8
  %435 = getelementptr inbounds i64, ptr %434, i64 %71
  %436 = load i64, ptr %435, align 8
  %437 = add nsw i64 %436, %431
  %438 = icmp sgt i64 %431, %221
  br i1 %438, label %439, label %458

439:                                              ; preds = %430
  %440 = sub nsw i64 %217, %221
  %441 = tail call noundef i64 @llvm.smax.i64(i64 %440, i64 0)
  %442 = load ptr, ptr %43, align 8
  %443 = load i64, ptr %44, align 8
  %444 = mul nsw i64 %443, %172
  %445 = getelementptr inbounds i64, ptr %442, i64 %444
  %446 = load i64, ptr %445, align 8
  %447 = add nsw i64 %446, %441
  store i64 %447, ptr %445, align 8
  %448 = load ptr, ptr %43, align 8
  %449 = load i64, ptr %44, align 8
  %450 = mul nsw i64 %449, %172
  %451 = getelementptr i64, ptr %448, i64 %450
  %452 = getelementptr i64, ptr %451, i64 %432
  %453 = load i64, ptr %452, align 8
  %454 = add i64 %441, %221
  %455 = sub i64 %431, %454
  %456 = add nsw i64 %455, %453
  store i64 %456, ptr %452, align 8
  %457 = load ptr, ptr %36, align 8
  br label %458

458:                                              ; preds = %439, %430
  %459 = phi ptr [ %457, %439 ], [ %433, %430 ]
  %460 = getelementptr i64, ptr %459, i64 %71
  %461 = load i64, ptr %460, align 8
  %462 = getelementptr i8, ptr %460, i64 8
  %463 = load i64, ptr %462, align 8
  %464 = icmp slt i64 %461, %463
  br i1 %464, label %465, label %501

465:                                              ; preds = %458, %494
  %466 = phi ptr [ %495, %494 ], [ %459, %458 ]
  %467 = phi i64 [ %496, %494 ], [ %461, %458 ]
  %468 = load ptr, ptr %37, align 8
  %469 = getelementptr inbounds i64, ptr %468, i64 %467
  %470 = load i64, ptr %469, align 8
  %471 = load ptr, ptr %38, align 8
  %472 = getelementptr inbounds i64, ptr %471, i64 %470
  %473 = load i64, ptr %472, align 8
  %474 = getelementptr i8, ptr %472, i64 8
  %475 = load i64, ptr %474, align 8
  %476 = icmp slt i64 %473, %475
  br i1 %476, label %477, label %494

477:                                              ; preds = %465
  %478 = load ptr, ptr %39, align 8
  br label %479

479:                                              ; preds = %491, %477
  %480 = phi i64 [ %473, %477 ], [ %492, %491 ]
  %481 = getelementptr inbounds i64, ptr %478, i64 %480
  %482 = load i64, ptr %481, align 8
  %483 = icmp slt i64 %482, 0
  br i1 %483, label %484, label %491

484:                                              ; preds = %479
  %485 = getelementptr inbounds i64, ptr %478, i64 %480
  %486 = load ptr, ptr %45, align 8
  %487 = getelementptr inbounds i64, ptr %486, i64 %467
  %488 = load i64, ptr %487, align 8
  %489 = add nsw i64 %488, %431
  store i64 %489, ptr %485, align 8
  %490 = load ptr, ptr %36, align 8
  br label %494

491:                                              ; preds = %479
  %492 = add i64 %480, 1
  %493 = icmp eq i64 %492, %475
  br i1 %493, label %494, label %479, !llvm.loop !14

494:                                              ; preds = %491, %484, %465
  %495 = phi ptr [ %490, %484 ], [ %466, %465 ], [ %466, %491 ]
  %496 = add nsw i64 %467, 1
  %497 = getelementptr i64, ptr %495, i64 %71
  %498 = getelementptr i8, ptr %497, i64 8
  %499 = load i64, ptr %498, align 8
  %500 = icmp slt i64 %496, %499
  br i1 %500, label %465, label %501, !llvm.loop !15

501:                                              ; preds = %494, %458
  %502 = load ptr, ptr %10, align 8
  %503 = getelementptr inbounds i64, ptr %502, i64 %71
  %504 = load i64, ptr %503, align 8
  %505 = load ptr, ptr %22, align 8
  %506 = getelementptr i64, ptr %505, i64 %71
  %507 = load i64, ptr %506, align 8
  %508 = getelementptr i8, ptr %506, i64 8
  %509 = load i64, ptr %508, align 8
  %510 = icmp slt i64 %507, %509
  br i1 %510, label %511, label %577

511:                                              ; preds = %501
  %512 = load ptr, ptr %24, align 8
  br label %513

513:                                              ; preds = %525, %511
  %514 = phi ptr [ %505, %511 ], [ %526, %525 ]
  %515 = phi ptr [ %512, %511 ], [ %527, %525 ]
  %516 = phi i64 [ %507, %511 ], [ %528, %525 ]
  %517 = load ptr, ptr %23, align 8
  %518 = getelementptr inbounds i64, ptr %517, i64 %516
  %519 = load i64, ptr %518, align 8
  %520 = getelementptr inbounds i64, ptr %515, i64 %516
  %521 = load i64, ptr %520, align 8
  %522 = icmp slt i64 %519, %521
  br i1 %522, label %533, label %525

523:                                              ; preds = %571
  %524 = load ptr, ptr %22, align 8
  br label %525

525:                                              ; preds = %523, %513
  %526 = phi ptr [ %524, %523 ], [ %514, %513 ]
  %527 = phi ptr [ %573, %523 ], [ %515, %513 ]
  %528 = add nsw i64 %516, 1
  %529 = getelementptr i64, ptr %526, i64 %71
  %530 = getelementptr i8, ptr %529, i64 8
  %531 = load i64, ptr %530, align 8
  %532 = icmp slt i64 %528, %531
  br i1 %532, label %513, label %577, !llvm.loop !16

533:                                              ; preds = %513, %571
  %534 = phi i64 [ %572, %571 ], [ %519, %513 ]
  %535 = load ptr, ptr %29, align 8
  %536 = getelementptr inbounds i64, ptr %535, i64 %516
  %537 = load i64, ptr %536, align 8
  %538 = and i64 %537, 2
  %539 = icmp eq i64 %538, 0
  br i1 %539, label %552, label %540

540:                                              ; preds = %533
  %541 = load ptr, ptr %46, align 8
  %542 = getelementptr inbounds i64, ptr %541, i64 %71
  %543 = load i64, ptr %542, align 8
  %544 = add nsw i64 %543, %437
  %545 = load ptr, ptr %26, align 8
  %546 = getelementptr inbounds i64, ptr %545, i64 %534
  store i64 %544, ptr %546, align 8
  %547 = load ptr, ptr %25, align 8
  %548 = getelementptr inbounds i64, ptr %547, i64 %534
  store i64 %504, ptr %548, align 8
  %549 = load ptr, ptr %29, align 8
  %550 = getelementptr inbounds i64, ptr %549, i64 %516
  %551 = load i64, ptr %550, align 8
  br label %552

552:                                              ; preds = %540, %533
  %553 = phi i64 [ %551, %540 ], [ %537, %533 ]
  %554 = and i64 %553, 1
  %555 = icmp eq i64 %554, 0
  br i1 %555, label %571, label %556

556:                                              ; preds = %552
  %557 = load ptr, ptr %27, align 8
  %558 = getelementptr inbounds i64, ptr %557, i64 %504
  %559 = load i64, ptr %558, align 8
  %560 = load i64, ptr %28, align 8
  %561 = icmp slt i64 %534, %560
  %562 = select i1 %561, i64 1, i64 2
  %563 = and i64 %562, %559
  %564 = icmp eq i64 %563, 0
  br i1 %564, label %571, label %565

565:                                              ; preds = %556
  %566 = load ptr, ptr %30, align 8
  %567 = getelementptr inbounds i64, ptr %566, i64 %534
  %568 = load i64, ptr %567, align 8
  %569 = icmp slt i64 %568, %437
  br i1 %569, label %570, label %571

570:                                              ; preds = %565
  store i64 %437, ptr %567, align 8
  br label %571

571:                                              ; preds = %570, %565, %556, %552
  %572 = add nsw i64 %534, 1
  %573 = load ptr, ptr %24, align 8
  %574 = getelementptr inbounds i64, ptr %573, i64 %516
  %575 = load i64, ptr %574, align 8
  %576 = icmp slt i64 %572, %575
  br i1 %576, label %533, label %523, !llvm.loop !17

577:                                              ; preds = %525, %501
  %578 = load ptr, ptr %9, align 8
  %579 = getelementptr inbounds i64, ptr %578, i64 %71
  %580 = load i64, ptr %579, align 8
  %581 = icmp eq i64 %580, 0
  br i1 %581, label %623, label %582

582:                                              ; preds = %577
  %583 = load ptr, ptr %31, align 8
  %584 = getelementptr inbounds i64, ptr %583, i64 %71
  %585 = load i64, ptr %584, align 8
  %586 = load ptr, ptr %32, align 8
  %587 = getelementptr inbounds i64, ptr %586, i64 %585
  %588 = load i64, ptr %587, align 8
  %589 = icmp eq i64 %580, 3
  br i1 %589, label %610, label %590

590:                                              ; preds = %582
  %591 = load ptr, ptr %10, align 8
  %592 = getelementptr inbounds i64, ptr %591, i64 %71
  %593 = load i64, ptr %592, align 8
  %594 = load ptr, ptr %13, align 8
  %595 = getelementptr inbounds i64, ptr %594, i64 %593
  %596 = load i64, ptr %595, align 8
  %597 = add i64 %596, -1
  %598 = icmp slt i64 %597, 0
  br i1 %598, label %607, label %599

599:                                              ; preds = %590
  %600 = load ptr, ptr %47, align 8
  %601 = load ptr, ptr %16, align 8
  %602 = getelementptr inbounds i64, ptr %601, i64 %593
  %603 = load i64, ptr %602, align 8
  %604 = getelementptr i64, ptr %600, i64 %603
  %605 = getelementptr i64, ptr %604, i64 %597
  %606 = load i64, ptr %605, align 8
  br label %607

607:                                              ; preds = %599, %590
  %608 = phi i64 [ %606, %599 ], [ 0, %590 ]
  %609 = tail call noundef i64 @llvm.smax.i64(i64 %437, i64 %608)
  br label %610

610:                                              ; preds = %607, %582
  %611 = phi i64 [ 336, %607 ], [ 344, %582 ]
  %612 = phi i64 [ 320, %607 ], [ 328, %582 ]
  %613 = phi i64 [ %609, %607 ], [ %437, %582 ]
  %614 = getelementptr inbounds nuw i8, ptr %0, i64 %611
  %615 = load ptr, ptr %614, align 8
  %616 = getelementptr inbounds nuw i8, ptr %0, i64 %612
  %617 = load ptr, ptr %616, align 8
  %618 = getelementptr inbounds i64, ptr %617, i64 %585
  %619 = load i64, ptr %618, align 8
  %620 = add nsw i64 %619, 1
  store i64 %620, ptr %618, align 8
  %621 = getelementptr i64, ptr %615, i64 %588
  %622 = getelementptr i64, ptr %621, i64 %619
  store i64 %613, ptr %622, align 8
  br label %623

623:                                              ; preds = %610, %577
  %624 = load ptr, ptr %16, align 8
  %625 = getelementptr inbounds i64, ptr %624, i64 %172
  %626 = load i64, ptr %625, align 8
  %627 = load ptr, ptr %13, align 8
  %628 = getelementptr inbounds i64, ptr %627, i64 %172
  %629 = load i64, ptr %628, align 8
  %630 = add nsw i64 %629, 1
  store i64 %630, ptr %628, align 8
  %631 = add nsw i64 %629, %626
  %632 = load ptr, ptr %13, align 8
  %633 = getelementptr inbounds i64, ptr %632, i64 %172
  %634 = load i64, ptr %633, align 8
  %635 = icmp sgt i64 %634, 1
  br i1 %635, label %636, label %641

636:                                              ; preds = %623
  %637 = load ptr, ptr %47, align 8
  %638 = getelementptr i64, ptr %637, i64 %631
  %639 = getelementptr i8, ptr %638, i64 -8
  %640 = load i64, ptr %639, align 8
  br label %641

641:                                              ; preds = %636, %623
  %642 = phi i64 [ %640, %636 ], [ 0, %623 ]
  %643 = load ptr, ptr %15, align 8
  %644 = getelementptr inbounds i64, ptr %643, i64 %631
  store i64 %431, ptr %644, align 8
  %645 = load ptr, ptr %48, align 8
  %646 = getelementptr inbounds i64, ptr %645, i64 %71
  store i64 %431, ptr %646, align 8
  %647 = load ptr, ptr %21, align 8
  %648 = getelementptr inbounds i64, ptr %647, i64 %172
  store i64 %437, ptr %648, align 8
  %649 = load ptr, ptr %46, align 8
  %650 = getelementptr inbounds i64, ptr %649, i64 %71
  %651 = load i64, ptr %650, align 8
  %652 = add nsw i64 %651, %437
  %653 = tail call noundef i64 @llvm.smax.i64(i64 %642, i64 %652)
  %654 = load ptr, ptr %47, align 8
  %655 = getelementptr inbounds i64, ptr %654, i64 %631
  store i64 %653, ptr %655, align 8
  br label %656

656:                                              ; preds = %641, %163
  %657 = load i64, ptr %18, align 8
  %658 = icmp eq i64 %657, 0
  br i1 %658, label %50, label %659

659:                                              ; preds = %345, %426, %656
  %660 = getelementptr inbounds nuw i8, ptr %0, i64 384
  store i64 %71, ptr %660, align 8
  br label %704

661:                                              ; preds = %673, %61
  %662 = phi i64 [ 0, %61 ], [ %678, %673 ]
  %663 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %664 = load i64, ptr %663, align 8
  %665 = icmp sgt i64 %664, 0
  br i1 %665, label %666, label %704

666:                                              ; preds = %661
  %667 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %668 = load ptr, ptr %667, align 8
  %669 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %670 = load ptr, ptr %669, align 8
  %671 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %672 = getelementptr inbounds nuw i8, ptr %0, i64 216
  br label %681

673:                                              ; preds = %65, %673
  %674 = phi i64 [ 0, %65 ], [ %679, %673 ]
  %675 = phi i64 [ 0, %65 ], [ %678, %673 ]
  %676 = getelementptr inbounds nuw i64, ptr %67, i64 %674
  %677 = load i64, ptr %676, align 8
  %678 = tail call noundef i64 @llvm.smax.i64(i64 %675, i64 %677)
  %679 = add nuw nsw i64 %674, 1
  %680 = icmp eq i64 %679, %63
  br i1 %680, label %661, label %673, !llvm.loop !18

681:                                              ; preds = %666, %698
  %682 = phi i64 [ 0, %666 ], [ %702, %698 ]
  %683 = phi i64 [ %662, %666 ], [ %701, %698 ]
  %684 = getelementptr inbounds nuw i64, ptr %668, i64 %682
  %685 = load i64, ptr %684, align 8
  %686 = getelementptr inbounds nuw i64, ptr %670, i64 %682
  %687 = load i64, ptr %686, align 8
  %688 = add i64 %687, -1
  %689 = icmp slt i64 %688, 0
  br i1 %689, label %698, label %690

690:                                              ; preds = %681
  %691 = load ptr, ptr %671, align 8
  %692 = load ptr, ptr %672, align 8
  %693 = getelementptr inbounds nuw i64, ptr %692, i64 %682
  %694 = load i64, ptr %693, align 8
  %695 = getelementptr i64, ptr %691, i64 %694
  %696 = getelementptr i64, ptr %695, i64 %688
  %697 = load i64, ptr %696, align 8
  br label %698

698:                                              ; preds = %681, %690
  %699 = phi i64 [ %697, %690 ], [ 0, %681 ]
  %700 = tail call noundef i64 @llvm.smax.i64(i64 %685, i64 %699)
  %701 = tail call noundef i64 @llvm.smax.i64(i64 %683, i64 %700)
  %702 = add nuw nsw i64 %682, 1
  %703 = icmp eq i64 %702, %664
  br i1 %703, label %704, label %681, !llvm.loop !19

704:                                              ; preds = %698, %661, %659
  %705 = phi i64 [ 0, %659 ], [ %662, %661 ], [ %701, %698 ]
  ret i64 %705
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define void @tir_accel_needs(ptr noundef readonly captures(none) %0, ptr noundef captures(none) %1, ptr noundef captures(none) %2) local_unnamed_addr #0 {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %5 = load i64, ptr %4, align 8
  %6 = load i64, ptr %0, align 8
  %7 = icmp sgt i64 %6, 0
  br i1 %7, label %8, label %21

8:                                                ; preds = %3
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 176
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %20 = icmp slt i64 %5, 1
  br label %22

21:                                               ; preds = %183, %3
  ret void

22:                                               ; preds = %8, %183
  %23 = phi i64 [ 0, %8 ], [ %184, %183 ]
  %24 = load ptr, ptr %9, align 8
  %25 = getelementptr inbounds nuw i64, ptr %24, i64 %23
  %26 = load i64, ptr %25, align 8
  %27 = mul nsw i64 %23, %5
  %28 = getelementptr inbounds i64, ptr %2, i64 %27
  %29 = load ptr, ptr %10, align 8
  %30 = getelementptr inbounds nuw i64, ptr %29, i64 %23
  %31 = load i64, ptr %30, align 8
  %32 = icmp eq i64 %31, 1
  br i1 %32, label %33, label %35

33:                                               ; preds = %22
  %34 = add nuw nsw i64 %23, 1
  br label %183

35:                                               ; preds = %22
  %36 = load ptr, ptr %11, align 8
  %37 = getelementptr inbounds i64, ptr %36, i64 %26
  %38 = load i64, ptr %37, align 8
  %39 = add nsw i64 %38, 1
  store i64 %39, ptr %37, align 8
  %40 = load ptr, ptr %12, align 8
  %41 = getelementptr inbounds nuw i64, ptr %40, i64 %23
  %42 = load i64, ptr %41, align 8
  %43 = add nuw nsw i64 %23, 1
  %44 = getelementptr inbounds nuw i64, ptr %40, i64 %43
  %45 = load i64, ptr %44, align 8
  %46 = icmp slt i64 %42, %45
  br i1 %46, label %47, label %183

47:                                               ; preds = %35
  %48 = load ptr, ptr %14, align 8
  br label %56

49:                                               ; preds = %68
  %50 = getelementptr inbounds nuw i64, ptr %69, i64 %23
  %51 = load i64, ptr %50, align 8
  %52 = icmp slt i64 %51, %73
  br i1 %52, label %53, label %183

53:                                               ; preds = %49
  %54 = getelementptr i64, ptr %1, i64 %26
  %55 = load ptr, ptr %14, align 8
  br label %136

56:                                               ; preds = %47, %68
  %57 = phi ptr [ %69, %68 ], [ %40, %47 ]
  %58 = phi ptr [ %70, %68 ], [ %48, %47 ]
  %59 = phi i64 [ %71, %68 ], [ %42, %47 ]
  %60 = load ptr, ptr %13, align 8
  %61 = getelementptr inbounds i64, ptr %60, i64 %59
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr inbounds i64, ptr %58, i64 %59
  %64 = load i64, ptr %63, align 8
  %65 = icmp slt i64 %62, %64
  br i1 %65, label %75, label %68

66:                                               ; preds = %130
  %67 = load ptr, ptr %12, align 8
  br label %68

68:                                               ; preds = %66, %56
  %69 = phi ptr [ %67, %66 ], [ %57, %56 ]
  %70 = phi ptr [ %132, %66 ], [ %58, %56 ]
  %71 = add nsw i64 %59, 1
  %72 = getelementptr inbounds nuw i64, ptr %69, i64 %43
  %73 = load i64, ptr %72, align 8
  %74 = icmp slt i64 %71, %73
  br i1 %74, label %56, label %49, !llvm.loop !20

75:                                               ; preds = %56, %130
  %76 = phi i64 [ %131, %130 ], [ %62, %56 ]
  %77 = load ptr, ptr %15, align 8
  %78 = getelementptr inbounds i64, ptr %77, i64 %76
  %79 = load i64, ptr %78, align 8
  %80 = load ptr, ptr %16, align 8
  %81 = getelementptr inbounds i64, ptr %80, i64 %76
  %82 = load i64, ptr %81, align 8
  %83 = icmp eq i64 %82, 0
  %84 = icmp eq i64 %79, %26
  %85 = select i1 %83, i1 true, i1 %84
  br i1 %85, label %99, label %86

86:                                               ; preds = %75
  %87 = load ptr, ptr %17, align 8
  %88 = getelementptr inbounds i64, ptr %87, i64 %79
  %89 = load i64, ptr %88, align 8
  %90 = load i64, ptr %18, align 8
  %91 = icmp slt i64 %76, %90
  %92 = select i1 %91, i64 1, i64 2
  %93 = and i64 %92, %89
  %94 = icmp eq i64 %93, 0
  br i1 %94, label %95, label %99

95:                                               ; preds = %86
  %96 = getelementptr inbounds i64, ptr %28, i64 %79
  %97 = load i64, ptr %96, align 8
  %98 = tail call noundef i64 @llvm.smax.i64(i64 %97, i64 %82)
  store i64 %98, ptr %96, align 8
  br label %99

99:                                               ; preds = %95, %86, %75
  %100 = load ptr, ptr %19, align 8
  %101 = getelementptr inbounds i64, ptr %100, i64 %59
  %102 = load i64, ptr %101, align 8
  %103 = and i64 %102, 2
  %104 = icmp eq i64 %103, 0
  %105 = select i1 %104, i1 true, i1 %20
  br i1 %105, label %130, label %106

106:                                              ; preds = %99
  %107 = mul nsw i64 %76, %5
  %108 = getelementptr i64, ptr %1, i64 %107
  br label %109

109:                                              ; preds = %106, %127
  %110 = phi i64 [ 0, %106 ], [ %128, %127 ]
  %111 = icmp eq i64 %110, %26
  br i1 %111, label %127, label %112

112:                                              ; preds = %109
  %113 = load ptr, ptr %17, align 8
  %114 = getelementptr inbounds nuw i64, ptr %113, i64 %110
  %115 = load i64, ptr %114, align 8
  %116 = load i64, ptr %18, align 8
  %117 = icmp slt i64 %76, %116
  %118 = select i1 %117, i64 1, i64 2
  %119 = and i64 %118, %115
  %120 = icmp eq i64 %119, 0
  br i1 %120, label %121, label %127

121:                                              ; preds = %112
  %122 = getelementptr inbounds nuw i64, ptr %28, i64 %110
  %123 = load i64, ptr %122, align 8
  %124 = getelementptr i64, ptr %108, i64 %110
  %125 = load i64, ptr %124, align 8
  %126 = tail call noundef i64 @llvm.smax.i64(i64 %123, i64 %125)
  store i64 %126, ptr %122, align 8
  br label %127

127:                                              ; preds = %109, %112, %121
  %128 = add nuw nsw i64 %110, 1
  %129 = icmp eq i64 %128, %5
  br i1 %129, label %130, label %109, !llvm.loop !21

130:                                              ; preds = %127, %99
  %131 = add nsw i64 %76, 1
  %132 = load ptr, ptr %14, align 8
  %133 = getelementptr inbounds i64, ptr %132, i64 %59
  %134 = load i64, ptr %133, align 8
  %135 = icmp slt i64 %131, %134
  br i1 %135, label %75, label %66, !llvm.loop !22

136:                                              ; preds = %53, %148
  %137 = phi ptr [ %69, %53 ], [ %149, %148 ]
  %138 = phi ptr [ %55, %53 ], [ %150, %148 ]
  %139 = phi i64 [ %51, %53 ], [ %151, %148 ]
  %140 = load ptr, ptr %13, align 8
  %141 = getelementptr inbounds i64, ptr %140, i64 %139
  %142 = load i64, ptr %141, align 8
  %143 = getelementptr inbounds i64, ptr %138, i64 %139
  %144 = load i64, ptr %143, align 8
  %145 = icmp slt i64 %142, %144
  br i1 %145, label %155, label %148

146:                                              ; preds = %177
  %147 = load ptr, ptr %12, align 8
  br label %148

148:                                              ; preds = %146, %136
  %149 = phi ptr [ %147, %146 ], [ %137, %136 ]
  %150 = phi ptr [ %179, %146 ], [ %138, %136 ]
  %151 = add nsw i64 %139, 1
  %152 = getelementptr inbounds nuw i64, ptr %149, i64 %43
  %153 = load i64, ptr %152, align 8
  %154 = icmp slt i64 %151, %153
  br i1 %154, label %136, label %183, !llvm.loop !23

155:                                              ; preds = %136, %177
  %156 = phi i64 [ %178, %177 ], [ %142, %136 ]
  %157 = load ptr, ptr %19, align 8
  %158 = getelementptr inbounds i64, ptr %157, i64 %139
  %159 = load i64, ptr %158, align 8
  %160 = and i64 %159, 1
  %161 = icmp eq i64 %160, 0
  br i1 %161, label %168, label %162

162:                                              ; preds = %155
  %163 = mul nsw i64 %156, %5
  %164 = getelementptr i64, ptr %54, i64 %163
  store i64 %39, ptr %164, align 8
  %165 = load ptr, ptr %19, align 8
  %166 = getelementptr inbounds i64, ptr %165, i64 %139
  %167 = load i64, ptr %166, align 8
  br label %168

168:                                              ; preds = %162, %155
  %169 = phi i64 [ %167, %162 ], [ %159, %155 ]
  %170 = and i64 %169, 2
  %171 = icmp eq i64 %170, 0
  br i1 %171, label %177, label %172

172:                                              ; preds = %168
  %173 = load ptr, ptr %16, align 8
  %174 = getelementptr inbounds i64, ptr %173, i64 %156
  store i64 %39, ptr %174, align 8
  %175 = load ptr, ptr %15, align 8
  %176 = getelementptr inbounds i64, ptr %175, i64 %156
  store i64 %26, ptr %176, align 8
  br label %177

177:                                              ; preds = %168, %172
  %178 = add nsw i64 %156, 1
  %179 = load ptr, ptr %14, align 8
  %180 = getelementptr inbounds i64, ptr %179, i64 %139
  %181 = load i64, ptr %180, align 8
  %182 = icmp slt i64 %178, %181
  br i1 %182, label %155, label %146, !llvm.loop !24

183:                                              ; preds = %148, %35, %33, %49
  %184 = phi i64 [ %34, %33 ], [ %43, %35 ], [ %43, %49 ], [ %43, %148 ]
  %185 = load i64, ptr %0, align 8
  %186 = icmp slt i64 %184, %185
  br i1 %186, label %22, label %21, !llvm.loop !25
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define void @tir_accel_known(ptr noundef readonly captures(none) %0, ptr noundef captures(none) %1, ptr noundef captures(none) %2, ptr noundef captures(none) %3, ptr noundef captures(none) %4) local_unnamed_addr #0 {
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %7 = load i64, ptr %6, align 8
  %8 = load i64, ptr %0, align 8
  %9 = icmp sgt i64 %8, 0
  br i1 %9, label %10, label %23

10:                                               ; preds = %5
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 224
  %18 = icmp sgt i64 %7, 0
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 272
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 216
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 32
  br label %24

23:                                               ; preds = %178, %5
  ret void

24:                                               ; preds = %10, %178
  %25 = phi i64 [ 0, %10 ], [ %179, %178 ]
  %26 = load ptr, ptr %11, align 8
  %27 = getelementptr inbounds nuw i64, ptr %26, i64 %25
  %28 = load i64, ptr %27, align 8
  %29 = load ptr, ptr %12, align 8
  %30 = getelementptr inbounds i64, ptr %29, i64 %28
  %31 = load i64, ptr %30, align 8
  %32 = mul nsw i64 %25, %7
  %33 = getelementptr inbounds i64, ptr %4, i64 %32
  %34 = mul nsw i64 %31, %7
  %35 = getelementptr inbounds i64, ptr %1, i64 %34
  %36 = mul nsw i64 %28, %7
  %37 = getelementptr inbounds i64, ptr %2, i64 %36
  %38 = load ptr, ptr %13, align 8
  %39 = getelementptr inbounds nuw i64, ptr %38, i64 %25
  %40 = load i64, ptr %39, align 8
  %41 = icmp eq i64 %40, 1
  br i1 %41, label %42, label %95

42:                                               ; preds = %24
  br i1 %18, label %43, label %178

43:                                               ; preds = %42, %85
  %44 = phi i64 [ %86, %85 ], [ 0, %42 ]
  %45 = load ptr, ptr %19, align 8
  %46 = getelementptr inbounds nuw i64, ptr %45, i64 %44
  %47 = load i64, ptr %46, align 8
  %48 = load ptr, ptr %14, align 8
  %49 = getelementptr inbounds nuw i64, ptr %48, i64 %25
  %50 = load i64, ptr %49, align 8
  %51 = sub nsw i64 %47, %50
  %52 = load ptr, ptr %22, align 8
  %53 = getelementptr inbounds nuw i64, ptr %52, i64 %25
  %54 = load i64, ptr %53, align 8
  %55 = shl nuw i64 1, %44
  %56 = and i64 %54, %55
  %57 = icmp eq i64 %56, 0
  br i1 %57, label %85, label %58

58:                                               ; preds = %43
  %59 = getelementptr inbounds nuw i64, ptr %35, i64 %44
  %60 = load i64, ptr %59, align 8
  %61 = icmp sgt i64 %51, %60
  br i1 %61, label %62, label %85

62:                                               ; preds = %58
  %63 = load ptr, ptr %20, align 8
  %64 = load ptr, ptr %21, align 8
  %65 = getelementptr inbounds nuw i64, ptr %64, i64 %44
  %66 = load i64, ptr %65, align 8
  %67 = getelementptr i64, ptr %63, i64 %66
  %68 = getelementptr i64, ptr %67, i64 %51
  %69 = getelementptr i8, ptr %68, i64 -8
  %70 = load i64, ptr %69, align 8
  %71 = mul nsw i64 %70, %7
  %72 = getelementptr inbounds i64, ptr %4, i64 %71
  br label %76

73:                                               ; preds = %76
  %74 = load i64, ptr %59, align 8
  %75 = tail call noundef i64 @llvm.smax.i64(i64 %74, i64 %51)
  store i64 %75, ptr %59, align 8
  br label %85

76:                                               ; preds = %62, %76
  %77 = phi i64 [ 0, %62 ], [ %83, %76 ]
  %78 = getelementptr inbounds nuw i64, ptr %35, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = getelementptr inbounds nuw i64, ptr %72, i64 %77
  %81 = load i64, ptr %80, align 8
  %82 = tail call noundef i64 @llvm.smax.i64(i64 %79, i64 %81)
  store i64 %82, ptr %78, align 8
  %83 = add nuw nsw i64 %77, 1
  %84 = icmp eq i64 %83, %7
  br i1 %84, label %73, label %76, !llvm.loop !26

85:                                               ; preds = %43, %58, %73
  %86 = add nuw nsw i64 %44, 1
  %87 = icmp eq i64 %86, %7
  br i1 %87, label %88, label %43, !llvm.loop !27

88:                                               ; preds = %85, %88
  %89 = phi i64 [ %93, %88 ], [ 0, %85 ]
  %90 = getelementptr inbounds nuw i64, ptr %35, i64 %89
  %91 = load i64, ptr %90, align 8
  %92 = getelementptr inbounds nuw i64, ptr %33, i64 %89
  store i64 %91, ptr %92, align 8
  %93 = add nuw nsw i64 %89, 1
  %94 = icmp eq i64 %93, %7
  br i1 %94, label %178, label %88, !llvm.loop !28

95:                                               ; preds = %24
  %96 = load ptr, ptr %14, align 8
  %97 = getelementptr inbounds nuw i64, ptr %96, i64 %25
  %98 = load i64, ptr %97, align 8
  %99 = icmp eq i64 %40, 3
  br i1 %99, label %100, label %125

100:                                              ; preds = %95
  %101 = load ptr, ptr %15, align 8
  %102 = getelementptr inbounds i64, ptr %101, i64 %98
  %103 = load i64, ptr %102, align 8
  %104 = load ptr, ptr %16, align 8
  %105 = getelementptr inbounds i64, ptr %104, i64 %98
  %106 = load i64, ptr %105, align 8
  %107 = icmp slt i64 %103, %106
  br i1 %107, label %108, label %125

108:                                              ; preds = %100
  %109 = load ptr, ptr %17, align 8
  %110 = getelementptr inbounds i64, ptr %109, i64 %98
  %111 = load i64, ptr %110, align 8
  %112 = add nsw i64 %103, 1
  store i64 %112, ptr %102, align 8
  %113 = add nsw i64 %111, %103
  %114 = mul nsw i64 %113, %7
  %115 = getelementptr inbounds i64, ptr %3, i64 %114
  br i1 %18, label %116, label %127

116:                                              ; preds = %108, %116
  %117 = phi i64 [ %123, %116 ], [ 0, %108 ]
  %118 = getelementptr inbounds nuw i64, ptr %37, i64 %117
  %119 = load i64, ptr %118, align 8
  %120 = getelementptr inbounds nuw i64, ptr %115, i64 %117
  %121 = load i64, ptr %120, align 8
  %122 = tail call noundef i64 @llvm.smax.i64(i64 %119, i64 %121)
  store i64 %122, ptr %118, align 8
  %123 = add nuw nsw i64 %117, 1
  %124 = icmp eq i64 %123, %7
  br i1 %124, label %126, label %116, !llvm.loop !29

125:                                              ; preds = %100, %95
  br i1 %18, label %126, label %127

126:                                              ; preds = %116, %125
  br label %132

127:                                              ; preds = %132, %108, %125
  %128 = load ptr, ptr %13, align 8
  %129 = getelementptr inbounds nuw i64, ptr %128, i64 %25
  %130 = load i64, ptr %129, align 8
  %131 = icmp eq i64 %130, 2
  br i1 %131, label %142, label %167

132:                                              ; preds = %126, %132
  %133 = phi i64 [ %140, %132 ], [ 0, %126 ]
  %134 = getelementptr inbounds nuw i64, ptr %37, i64 %133
  %135 = load i64, ptr %134, align 8
  %136 = getelementptr inbounds nuw i64, ptr %35, i64 %133
  %137 = load i64, ptr %136, align 8
  %138 = tail call noundef i64 @llvm.smax.i64(i64 %135, i64 %137)
  store i64 %138, ptr %134, align 8
  %139 = getelementptr inbounds nuw i64, ptr %33, i64 %133
  store i64 %138, ptr %139, align 8
  %140 = add nuw nsw i64 %133, 1
  %141 = icmp eq i64 %140, %7
  br i1 %141, label %127, label %132, !llvm.loop !30

142:                                              ; preds = %127
  %143 = load ptr, ptr %17, align 8
  %144 = getelementptr inbounds i64, ptr %143, i64 %98
  %145 = load i64, ptr %144, align 8
  %146 = load ptr, ptr %16, align 8
  %147 = getelementptr inbounds i64, ptr %146, i64 %98
  %148 = load i64, ptr %147, align 8
  %149 = add nsw i64 %148, 1
  store i64 %149, ptr %147, align 8
  %150 = add nsw i64 %148, %145
  %151 = mul nsw i64 %150, %7
  %152 = getelementptr inbounds i64, ptr %3, i64 %151
  br i1 %18, label %153, label %167

153:                                              ; preds = %142, %161
  %154 = phi i64 [ %165, %161 ], [ 0, %142 ]
  %155 = icmp eq i64 %154, %28
  br i1 %155, label %156, label %159

156:                                              ; preds = %153
  %157 = load ptr, ptr %19, align 8
  %158 = getelementptr inbounds i64, ptr %157, i64 %28
  br label %161

159:                                              ; preds = %153
  %160 = getelementptr inbounds nuw i64, ptr %37, i64 %154
  br label %161

161:                                              ; preds = %159, %156
  %162 = phi ptr [ %158, %156 ], [ %160, %159 ]
  %163 = load i64, ptr %162, align 8
  %164 = getelementptr inbounds nuw i64, ptr %152, i64 %154
  store i64 %163, ptr %164, align 8
  %165 = add nuw nsw i64 %154, 1
  %166 = icmp eq i64 %165, %7
  br i1 %166, label %167, label %153, !llvm.loop !31

167:                                              ; preds = %161, %142, %127
  %168 = load ptr, ptr %20, align 8
  %169 = load ptr, ptr %21, align 8
  %170 = getelementptr inbounds i64, ptr %169, i64 %28
  %171 = load i64, ptr %170, align 8
  %172 = load ptr, ptr %19, align 8
  %173 = getelementptr inbounds i64, ptr %172, i64 %28
  %174 = load i64, ptr %173, align 8
  %175 = add nsw i64 %174, 1
  store i64 %175, ptr %173, align 8
  %176 = getelementptr i64, ptr %168, i64 %171
  %177 = getelementptr i64, ptr %176, i64 %174
  store i64 %25, ptr %177, align 8
  br label %178

178:                                              ; preds = %88, %42, %167
  %179 = add nuw nsw i64 %25, 1
  %180 = load i64, ptr %0, align 8
  %181 = icmp slt i64 %179, %180
  br i1 %181, label %24, label %23, !llvm.loop !32
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
