
; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define range(i64 0, -9223372036854775808) i64 @tir_accel_clock(ptr noundef %0) local_unnamed_addr #0 {
  %2 = load i64, ptr %0, align 8
  %3 = icmp sgt i64 %2, 0
  br i1 %3, label %4, label %63

4:                                                ; preds = %1
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 248
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 176
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 184
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 232
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 392
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 384
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 272
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 312
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 304
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 192
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 240
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %36 = getelementptr inbounds nuw i8, ptr %0, i64 224
  %37 = getelementptr inbounds nuw i8, ptr %0, i64 344
  %38 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %40 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %41 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %42 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %43 = getelementptr inbounds nuw i8, ptr %0, i64 216
  %44 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %45 = getelementptr inbounds nuw i8, ptr %0, i64 376
  %46 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %47 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %48 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %49 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %50 = getelementptr inbounds nuw i8, ptr %0, i64 368
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 32
  br label %56

52:                                               ; preds = %687
  %53 = add nuw nsw i64 %57, 1
  %54 = load i64, ptr %0, align 8
  %55 = icmp slt i64 %53, %54
  br i1 %55, label %56, label %63, !llvm.loop !5

56:                                               ; preds = %4, %52
  %57 = phi i64 [ 0, %4 ], [ %53, %52 ]
  %58 = load i64, ptr %5, align 8
  %59 = icmp sgt i64 %58, 0
  %60 = load ptr, ptr %6, align 8
  br i1 %59, label %61, label %70

61:                                               ; preds = %56
  %62 = load ptr, ptr %7, align 8
  br label %80

63:                                               ; preds = %52, %1
  %64 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %65 = load i64, ptr %64, align 8
  %66 = icmp sgt i64 %65, 0
  br i1 %66, label %67, label %692

67:                                               ; preds = %63
  %68 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %69 = load ptr, ptr %68, align 8
  br label %704

70:                                               ; preds = %98, %56
  %71 = phi i64 [ -1, %56 ], [ %99, %98 ]
  %72 = getelementptr inbounds i64, ptr %60, i64 %71
  %73 = load i64, ptr %72, align 8
  %74 = add nsw i64 %73, 1
  store i64 %74, ptr %72, align 8
  %75 = load ptr, ptr %9, align 8
  %76 = getelementptr inbounds i64, ptr %75, i64 %73
  %77 = load i64, ptr %76, align 8
  %78 = icmp eq i64 %77, 1
  %79 = load ptr, ptr %8, align 8
  br i1 %78, label %102, label %171

80:                                               ; preds = %61, %98
  %81 = phi i64 [ 0, %61 ], [ %100, %98 ]
  %82 = phi i64 [ -1, %61 ], [ %99, %98 ]
  %83 = getelementptr inbounds nuw i64, ptr %60, i64 %81
  %84 = load i64, ptr %83, align 8
  %85 = getelementptr inbounds nuw i64, ptr %62, i64 %81
  %86 = load i64, ptr %85, align 8
  %87 = icmp slt i64 %84, %86
  br i1 %87, label %88, label %98

88:                                               ; preds = %80
  %89 = icmp slt i64 %82, 0
  br i1 %89, label %97, label %90

90:                                               ; preds = %88
  %91 = load ptr, ptr %8, align 8
  %92 = getelementptr inbounds nuw i64, ptr %91, i64 %81
  %93 = load i64, ptr %92, align 8
  %94 = getelementptr inbounds nuw i64, ptr %91, i64 %82
  %95 = load i64, ptr %94, align 8
  %96 = icmp slt i64 %93, %95
  br i1 %96, label %97, label %98

97:                                               ; preds = %90, %88
  br label %98

98:                                               ; preds = %80, %90, %97
  %99 = phi i64 [ %81, %97 ], [ %82, %90 ], [ %82, %80 ]
  %100 = add nuw nsw i64 %81, 1
  %101 = icmp eq i64 %100, %58
  br i1 %101, label %70, label %80, !llvm.loop !8

102:                                              ; preds = %70
  %103 = load ptr, ptr %11, align 8
  %104 = load ptr, ptr %10, align 8
  %105 = getelementptr inbounds i64, ptr %104, i64 %73
  %106 = load i64, ptr %105, align 8
  %107 = getelementptr inbounds i64, ptr %103, i64 %106
  %108 = load i64, ptr %107, align 8
  %109 = getelementptr inbounds i64, ptr %79, i64 %108
  %110 = load i64, ptr %109, align 8
  %111 = load i64, ptr %13, align 8
  %112 = add nsw i64 %111, %110
  %113 = load i64, ptr %21, align 8
  %114 = icmp sgt i64 %113, 0
  br i1 %114, label %115, label %165

115:                                              ; preds = %102
  %116 = shl nsw i64 %108, 1
  %117 = or disjoint i64 %116, 1
  br label %120

118:                                              ; preds = %160
  %119 = load ptr, ptr %8, align 8
  br label %165

120:                                              ; preds = %160, %115
  %121 = phi i64 [ %113, %115 ], [ %161, %160 ]
  %122 = phi i64 [ %112, %115 ], [ %162, %160 ]
  %123 = phi i64 [ 0, %115 ], [ %163, %160 ]
  %124 = load ptr, ptr %51, align 8
  %125 = getelementptr inbounds i64, ptr %124, i64 %73
  %126 = load i64, ptr %125, align 8
  %127 = shl nuw i64 1, %123
  %128 = and i64 %126, %127
  %129 = icmp eq i64 %128, 0
  br i1 %129, label %160, label %130

130:                                              ; preds = %120
  %131 = load ptr, ptr %33, align 8
  %132 = getelementptr inbounds i64, ptr %131, i64 %73
  %133 = load i64, ptr %132, align 8
  %134 = load ptr, ptr %14, align 8
  %135 = getelementptr inbounds nuw i64, ptr %134, i64 %123
  %136 = load i64, ptr %135, align 8
  %137 = xor i64 %133, -1
  %138 = add i64 %136, %137
  %139 = icmp slt i64 %138, 0
  br i1 %139, label %148, label %140

140:                                              ; preds = %130
  %141 = load ptr, ptr %49, align 8
  %142 = load ptr, ptr %17, align 8
  %143 = getelementptr inbounds nuw i64, ptr %142, i64 %123
  %144 = load i64, ptr %143, align 8
  %145 = getelementptr i64, ptr %141, i64 %144
  %146 = getelementptr i64, ptr %145, i64 %138
  %147 = load i64, ptr %146, align 8
  br label %148

148:                                              ; preds = %140, %130
  %149 = phi i64 [ %147, %140 ], [ 0, %130 ]
  %150 = icmp sgt i64 %149, %122
  br i1 %150, label %151, label %160

151:                                              ; preds = %148
  %152 = sub i64 %149, %122
  %153 = load ptr, ptr %20, align 8
  %154 = mul nsw i64 %121, %117
  %155 = getelementptr i64, ptr %153, i64 %154
  %156 = getelementptr i64, ptr %155, i64 %123
  %157 = load i64, ptr %156, align 8
  %158 = add nsw i64 %152, %157
  store i64 %158, ptr %156, align 8
  %159 = load i64, ptr %21, align 8
  br label %160

160:                                              ; preds = %151, %148, %120
  %161 = phi i64 [ %121, %120 ], [ %159, %151 ], [ %121, %148 ]
  %162 = phi i64 [ %122, %120 ], [ %149, %151 ], [ %122, %148 ]
  %163 = add nuw nsw i64 %123, 1
  %164 = icmp slt i64 %163, %161
  br i1 %164, label %120, label %118, !llvm.loop !9

165:                                              ; preds = %102, %118
  %166 = phi ptr [ %79, %102 ], [ %119, %118 ]
  %167 = phi i64 [ %112, %102 ], [ %162, %118 ]
  %168 = getelementptr inbounds i64, ptr %166, i64 %108
  store i64 %167, ptr %168, align 8
  %169 = load ptr, ptr %50, align 8
  %170 = getelementptr inbounds i64, ptr %169, i64 %73
  store i64 %167, ptr %170, align 8
  br label %687

171:                                              ; preds = %70
  %172 = load ptr, ptr %10, align 8
  %173 = getelementptr inbounds i64, ptr %172, i64 %73
  %174 = load i64, ptr %173, align 8
  %175 = load ptr, ptr %11, align 8
  %176 = getelementptr inbounds i64, ptr %175, i64 %174
  %177 = load i64, ptr %176, align 8
  %178 = getelementptr inbounds i64, ptr %79, i64 %177
  %179 = load i64, ptr %178, align 8
  %180 = load ptr, ptr %12, align 8
  %181 = getelementptr inbounds i64, ptr %180, i64 %174
  %182 = load i64, ptr %181, align 8
  %183 = icmp eq i64 %182, 0
  br i1 %183, label %184, label %230

184:                                              ; preds = %171
  %185 = load i64, ptr %13, align 8
  %186 = add nsw i64 %185, %179
  %187 = load ptr, ptr %14, align 8
  %188 = getelementptr inbounds i64, ptr %187, i64 %174
  %189 = load i64, ptr %188, align 8
  %190 = load ptr, ptr %15, align 8
  %191 = getelementptr inbounds i64, ptr %190, i64 %174
  %192 = load i64, ptr %191, align 8
  %193 = sub nsw i64 %189, %192
  %194 = icmp slt i64 %193, 0
  br i1 %194, label %203, label %195

195:                                              ; preds = %184
  %196 = load ptr, ptr %16, align 8
  %197 = load ptr, ptr %17, align 8
  %198 = getelementptr inbounds i64, ptr %197, i64 %174
  %199 = load i64, ptr %198, align 8
  %200 = getelementptr i64, ptr %196, i64 %199
  %201 = getelementptr i64, ptr %200, i64 %193
  %202 = load i64, ptr %201, align 8
  br label %203

203:                                              ; preds = %195, %184
  %204 = phi i64 [ %202, %195 ], [ 0, %184 ]
  %205 = icmp sgt i64 %204, %186
  br i1 %205, label %206, label %223

206:                                              ; preds = %203
  %207 = load ptr, ptr %18, align 8
  %208 = getelementptr inbounds i64, ptr %207, i64 %174
  %209 = load i64, ptr %208, align 8
  %210 = icmp eq i64 %209, 0
  br i1 %210, label %212, label %211

211:                                              ; preds = %206
  store i64 1, ptr %19, align 8
  br label %212

212:                                              ; preds = %211, %206
  %213 = sub i64 %204, %186
  %214 = load ptr, ptr %20, align 8
  %215 = shl nsw i64 %177, 1
  %216 = load i64, ptr %21, align 8
  %217 = mul nsw i64 %215, %216
  %218 = getelementptr i64, ptr %214, i64 %217
  %219 = getelementptr i64, ptr %218, i64 %174
  %220 = load i64, ptr %219, align 8
  %221 = add nsw i64 %213, %220
  store i64 %221, ptr %219, align 8
  %222 = load ptr, ptr %8, align 8
  br label %223

223:                                              ; preds = %212, %203
  %224 = phi ptr [ %222, %212 ], [ %79, %203 ]
  %225 = phi i64 [ %204, %212 ], [ %186, %203 ]
  %226 = getelementptr inbounds i64, ptr %224, i64 %177
  store i64 %225, ptr %226, align 8
  %227 = load ptr, ptr %10, align 8
  %228 = getelementptr inbounds i64, ptr %227, i64 %73
  %229 = load i64, ptr %228, align 8
  br label %230

230:                                              ; preds = %223, %171
  %231 = phi i64 [ %229, %223 ], [ %174, %171 ]
  %232 = phi i64 [ %225, %223 ], [ %179, %171 ]
  %233 = load ptr, ptr %22, align 8
  %234 = getelementptr inbounds i64, ptr %233, i64 %174
  %235 = load i64, ptr %234, align 8
  %236 = load ptr, ptr %23, align 8
  %237 = getelementptr inbounds i64, ptr %236, i64 %73
  %238 = load i64, ptr %237, align 8
  %239 = getelementptr i8, ptr %237, i64 8
  %240 = load i64, ptr %239, align 8
  %241 = icmp slt i64 %238, %240
  br i1 %241, label %242, label %309

242:                                              ; preds = %230
  %243 = load ptr, ptr %24, align 8
  %244 = load ptr, ptr %25, align 8
  br label %245

245:                                              ; preds = %262, %242
  %246 = phi i64 [ 0, %242 ], [ %264, %262 ]
  %247 = phi i64 [ %238, %242 ], [ %265, %262 ]
  %248 = phi i64 [ 0, %242 ], [ %263, %262 ]
  %249 = getelementptr inbounds i64, ptr %243, i64 %247
  %250 = load i64, ptr %249, align 8
  %251 = getelementptr inbounds i64, ptr %244, i64 %247
  %252 = load i64, ptr %251, align 8
  %253 = icmp slt i64 %250, %252
  br i1 %253, label %254, label %262

254:                                              ; preds = %245
  %255 = load ptr, ptr %26, align 8
  %256 = load ptr, ptr %27, align 8
  %257 = load ptr, ptr %31, align 8
  %258 = getelementptr inbounds i64, ptr %257, i64 %247
  %259 = load i64, ptr %258, align 8
  %260 = and i64 %259, 2
  %261 = icmp eq i64 %260, 0
  br label %267

262:                                              ; preds = %305, %245
  %263 = phi i64 [ %248, %245 ], [ %306, %305 ]
  %264 = phi i64 [ %246, %245 ], [ %299, %305 ]
  %265 = add nsw i64 %247, 1
  %266 = icmp eq i64 %265, %240
  br i1 %266, label %309, label %245, !llvm.loop !10

267:                                              ; preds = %305, %254
  %268 = phi i64 [ %246, %254 ], [ %299, %305 ]
  %269 = phi i64 [ %250, %254 ], [ %307, %305 ]
  %270 = phi i64 [ %248, %254 ], [ %306, %305 ]
  %271 = getelementptr inbounds i64, ptr %255, i64 %269
  %272 = load i64, ptr %271, align 8
  %273 = getelementptr inbounds i64, ptr %256, i64 %269
  %274 = load i64, ptr %273, align 8
  %275 = icmp sgt i64 %274, %268
  br i1 %275, label %276, label %298

276:                                              ; preds = %267
  %277 = icmp eq i64 %272, %231
  br i1 %277, label %297, label %278

278:                                              ; preds = %276
  %279 = load ptr, ptr %12, align 8
  %280 = getelementptr inbounds i64, ptr %279, i64 %231
  %281 = load i64, ptr %280, align 8
  %282 = icmp eq i64 %281, 0
  br i1 %282, label %288, label %283

283:                                              ; preds = %278
  %284 = load ptr, ptr %28, align 8
  %285 = getelementptr inbounds i64, ptr %284, i64 %272
  %286 = load i64, ptr %285, align 8
  %287 = icmp eq i64 %286, 0
  br i1 %287, label %297, label %298

288:                                              ; preds = %278
  %289 = load ptr, ptr %29, align 8
  %290 = getelementptr inbounds i64, ptr %289, i64 %272
  %291 = load i64, ptr %290, align 8
  %292 = load i64, ptr %30, align 8
  %293 = icmp slt i64 %269, %292
  %294 = select i1 %293, i64 1, i64 2
  %295 = and i64 %294, %291
  %296 = icmp eq i64 %295, 0
  br i1 %296, label %298, label %297

297:                                              ; preds = %288, %283, %276
  br label %298

298:                                              ; preds = %297, %288, %283, %267
  %299 = phi i64 [ %274, %297 ], [ %268, %288 ], [ %268, %267 ], [ %268, %283 ]
  br i1 %261, label %305, label %300

300:                                              ; preds = %298
  %301 = load ptr, ptr %32, align 8
  %302 = getelementptr inbounds i64, ptr %301, i64 %269
  %303 = load i64, ptr %302, align 8
  %304 = tail call i64 @llvm.smax.i64(i64 %303, i64 %270)
  br label %305

305:                                              ; preds = %300, %298
  %306 = phi i64 [ %270, %298 ], [ %304, %300 ]
  %307 = add nsw i64 %269, 1
  %308 = icmp eq i64 %307, %252
  br i1 %308, label %262, label %267, !llvm.loop !11

309:                                              ; preds = %262, %230
  %310 = phi i64 [ 0, %230 ], [ %263, %262 ]
  %311 = phi i64 [ 0, %230 ], [ %264, %262 ]
  %312 = icmp slt i64 %311, %310
  %313 = select i1 %312, i64 2, i64 1
  %314 = tail call noundef i64 @llvm.smax.i64(i64 %311, i64 %310)
  %315 = load ptr, ptr %9, align 8
  %316 = getelementptr inbounds i64, ptr %315, i64 %73
  %317 = load i64, ptr %316, align 8
  %318 = icmp eq i64 %317, 0
  br i1 %318, label %366, label %319

319:                                              ; preds = %309
  %320 = load ptr, ptr %33, align 8
  %321 = getelementptr inbounds i64, ptr %320, i64 %73
  %322 = load i64, ptr %321, align 8
  %323 = load ptr, ptr %34, align 8
  %324 = getelementptr inbounds i64, ptr %323, i64 %322
  %325 = load i64, ptr %324, align 8
  %326 = icmp eq i64 %317, 3
  br i1 %326, label %327, label %335

327:                                              ; preds = %319
  %328 = load ptr, ptr %37, align 8
  %329 = getelementptr inbounds i64, ptr %328, i64 %322
  %330 = load i64, ptr %329, align 8
  %331 = load ptr, ptr %35, align 8
  %332 = getelementptr inbounds i64, ptr %331, i64 %322
  %333 = load i64, ptr %332, align 8
  %334 = icmp slt i64 %330, %333
  br i1 %334, label %349, label %358

335:                                              ; preds = %319
  %336 = load ptr, ptr %35, align 8
  %337 = getelementptr inbounds i64, ptr %336, i64 %322
  %338 = load i64, ptr %337, align 8
  %339 = load ptr, ptr %36, align 8
  %340 = getelementptr inbounds i64, ptr %339, i64 %322
  %341 = load i64, ptr %340, align 8
  %342 = sub nsw i64 %338, %341
  %343 = icmp slt i64 %342, 0
  br i1 %343, label %361, label %344

344:                                              ; preds = %335
  %345 = load ptr, ptr %37, align 8
  %346 = getelementptr inbounds i64, ptr %345, i64 %322
  %347 = load i64, ptr %346, align 8
  %348 = icmp slt i64 %342, %347
  br i1 %348, label %349, label %358

349:                                              ; preds = %344, %327
  %350 = phi i64 [ 352, %327 ], [ 360, %344 ]
  %351 = phi i64 [ %330, %327 ], [ %342, %344 ]
  %352 = getelementptr inbounds nuw i8, ptr %0, i64 %350
  %353 = load ptr, ptr %352, align 8
  %354 = getelementptr i64, ptr %353, i64 %325
  %355 = getelementptr i64, ptr %354, i64 %351
  %356 = load i64, ptr %355, align 8
  %357 = icmp slt i64 %356, 0
  br i1 %357, label %358, label %361

358:                                              ; preds = %349, %344, %327
  %359 = phi i64 [ %356, %349 ], [ -1, %327 ], [ -1, %344 ]
  %360 = select i1 %326, i64 3, i64 2
  store i64 %360, ptr %19, align 8
  br label %361

361:                                              ; preds = %358, %349, %335
  %362 = phi i64 [ %359, %358 ], [ %356, %349 ], [ 0, %335 ]
  %363 = icmp sgt i64 %362, %314
  %364 = select i1 %363, i64 3, i64 %313
  %365 = tail call i64 @llvm.smax.i64(i64 %362, i64 %314)
  br label %366

366:                                              ; preds = %361, %309
  %367 = phi i64 [ %313, %309 ], [ %364, %361 ]
  %368 = phi i64 [ %314, %309 ], [ %365, %361 ]
  %369 = load i64, ptr %19, align 8
  %370 = icmp eq i64 %369, 0
  br i1 %370, label %371, label %690

371:                                              ; preds = %366
  %372 = tail call noundef i64 @llvm.smax.i64(i64 %232, i64 %235)
  %373 = tail call noundef i64 @llvm.smax.i64(i64 %368, i64 %372)
  %374 = load ptr, ptr %38, align 8
  %375 = getelementptr i64, ptr %374, i64 %73
  %376 = load i64, ptr %375, align 8
  %377 = getelementptr i8, ptr %375, i64 8
  %378 = load i64, ptr %377, align 8
  %379 = icmp slt i64 %376, %378
  br i1 %379, label %380, label %451

380:                                              ; preds = %371, %438
  %381 = phi i64 [ %439, %438 ], [ %367, %371 ]
  %382 = phi ptr [ %440, %438 ], [ %374, %371 ]
  %383 = phi i64 [ %441, %438 ], [ %373, %371 ]
  %384 = phi i64 [ %442, %438 ], [ %376, %371 ]
  %385 = load ptr, ptr %39, align 8
  %386 = getelementptr inbounds i64, ptr %385, i64 %384
  %387 = load i64, ptr %386, align 8
  %388 = load ptr, ptr %40, align 8
  %389 = getelementptr inbounds i64, ptr %388, i64 %387
  %390 = load i64, ptr %389, align 8
  %391 = getelementptr i8, ptr %389, i64 8
  %392 = load i64, ptr %391, align 8
  %393 = icmp slt i64 %390, %392
  br i1 %393, label %394, label %438

394:                                              ; preds = %380
  %395 = load ptr, ptr %41, align 8
  br label %398

396:                                              ; preds = %411
  %397 = icmp slt i64 %412, 0
  br i1 %397, label %438, label %415

398:                                              ; preds = %411, %394
  %399 = phi i64 [ %390, %394 ], [ %413, %411 ]
  %400 = phi i64 [ -1, %394 ], [ %412, %411 ]
  %401 = getelementptr inbounds i64, ptr %395, i64 %399
  %402 = load i64, ptr %401, align 8
  %403 = icmp sgt i64 %402, -1
  br i1 %403, label %404, label %411

404:                                              ; preds = %398
  %405 = icmp slt i64 %400, 0
  br i1 %405, label %410, label %406

406:                                              ; preds = %404
  %407 = getelementptr inbounds nuw i64, ptr %395, i64 %400
  %408 = load i64, ptr %407, align 8
  %409 = icmp slt i64 %402, %408
  br i1 %409, label %410, label %411

410:                                              ; preds = %406, %404
  br label %411

411:                                              ; preds = %410, %406, %398
  %412 = phi i64 [ %399, %410 ], [ %400, %406 ], [ %400, %398 ]
  %413 = add nsw i64 %399, 1
  %414 = icmp eq i64 %413, %392
  br i1 %414, label %396, label %398, !llvm.loop !12

415:                                              ; preds = %396
  %416 = getelementptr inbounds nuw i64, ptr %395, i64 %412
  %417 = load i64, ptr %416, align 8
  %418 = icmp sgt i64 %417, %383
  br i1 %418, label %419, label %432

419:                                              ; preds = %415
  %420 = load ptr, ptr %42, align 8
  %421 = getelementptr inbounds i64, ptr %420, i64 %387
  %422 = load i64, ptr %421, align 8
  %423 = add nsw i64 %422, 4
  %424 = load ptr, ptr %43, align 8
  %425 = getelementptr inbounds i64, ptr %424, i64 %387
  %426 = load i64, ptr %425, align 8
  %427 = icmp ne i64 %426, 0
  %428 = icmp sgt i64 %417, %373
  %429 = and i1 %428, %427
  br i1 %429, label %430, label %432

430:                                              ; preds = %419
  store i64 4, ptr %19, align 8
  %431 = load i64, ptr %416, align 8
  br label %432

432:                                              ; preds = %430, %419, %415
  %433 = phi i64 [ %431, %430 ], [ %417, %419 ], [ %417, %415 ]
  %434 = phi i64 [ %423, %430 ], [ %423, %419 ], [ %381, %415 ]
  %435 = phi i64 [ %417, %430 ], [ %417, %419 ], [ %383, %415 ]
  %436 = xor i64 %433, -1
  store i64 %436, ptr %416, align 8
  %437 = load ptr, ptr %38, align 8
  br label %438

438:                                              ; preds = %432, %396, %380
  %439 = phi i64 [ %381, %396 ], [ %434, %432 ], [ %381, %380 ]
  %440 = phi ptr [ %382, %396 ], [ %437, %432 ], [ %382, %380 ]
  %441 = phi i64 [ %383, %396 ], [ %435, %432 ], [ %383, %380 ]
  %442 = add nsw i64 %384, 1
  %443 = getelementptr i64, ptr %440, i64 %73
  %444 = getelementptr i8, ptr %443, i64 8
  %445 = load i64, ptr %444, align 8
  %446 = icmp slt i64 %442, %445
  br i1 %446, label %380, label %447, !llvm.loop !13

447:                                              ; preds = %438
  %448 = load i64, ptr %19, align 8
  %449 = icmp eq i64 %448, 0
  %450 = tail call i64 @llvm.smax.i64(i64 %372, i64 %441)
  br i1 %449, label %451, label %690

451:                                              ; preds = %447, %371
  %452 = phi i64 [ %450, %447 ], [ %373, %371 ]
  %453 = phi i64 [ %439, %447 ], [ %367, %371 ]
  %454 = phi ptr [ %440, %447 ], [ %374, %371 ]
  %455 = load ptr, ptr %44, align 8
  %456 = getelementptr inbounds i64, ptr %455, i64 %73
  %457 = load i64, ptr %456, align 8
  %458 = add nsw i64 %457, %452
  %459 = icmp sgt i64 %452, %235
  br i1 %459, label %460, label %479

460:                                              ; preds = %451
  %461 = sub nsw i64 %232, %235
  %462 = tail call noundef i64 @llvm.smax.i64(i64 %461, i64 0)
  %463 = load ptr, ptr %45, align 8
  %464 = load i64, ptr %46, align 8
  %465 = mul nsw i64 %464, %174
  %466 = getelementptr inbounds i64, ptr %463, i64 %465
  %467 = load i64, ptr %466, align 8
  %468 = add nsw i64 %467, %462
  store i64 %468, ptr %466, align 8
  %469 = load ptr, ptr %45, align 8
  %470 = load i64, ptr %46, align 8
  %471 = mul nsw i64 %470, %174
  %472 = getelementptr i64, ptr %469, i64 %471
  %473 = getelementptr i64, ptr %472, i64 %453
  %474 = load i64, ptr %473, align 8
  %475 = add i64 %462, %235
  %476 = sub i64 %452, %475
  %477 = add nsw i64 %476, %474
  store i64 %477, ptr %473, align 8
  %478 = load ptr, ptr %38, align 8
  br label %479

479:                                              ; preds = %460, %451
  %480 = phi ptr [ %478, %460 ], [ %454, %451 ]
  %481 = getelementptr i64, ptr %480, i64 %73
  %482 = load i64, ptr %481, align 8
  %483 = getelementptr i8, ptr %481, i64 8
  %484 = load i64, ptr %483, align 8
  %485 = icmp slt i64 %482, %484
  br i1 %485, label %486, label %522

486:                                              ; preds = %479, %515
  %487 = phi ptr [ %516, %515 ], [ %480, %479 ]
  %488 = phi i64 [ %517, %515 ], [ %482, %479 ]
  %489 = load ptr, ptr %39, align 8
  %490 = getelementptr inbounds i64, ptr %489, i64 %488
  %491 = load i64, ptr %490, align 8
  %492 = load ptr, ptr %40, align 8
  %493 = getelementptr inbounds i64, ptr %492, i64 %491
  %494 = load i64, ptr %493, align 8
  %495 = getelementptr i8, ptr %493, i64 8
  %496 = load i64, ptr %495, align 8
  %497 = icmp slt i64 %494, %496
  br i1 %497, label %498, label %515

498:                                              ; preds = %486
  %499 = load ptr, ptr %41, align 8
  br label %500

500:                                              ; preds = %512, %498
  %501 = phi i64 [ %494, %498 ], [ %513, %512 ]
  %502 = getelementptr inbounds i64, ptr %499, i64 %501
  %503 = load i64, ptr %502, align 8
  %504 = icmp slt i64 %503, 0
  br i1 %504, label %505, label %512

505:                                              ; preds = %500
  %506 = getelementptr inbounds i64, ptr %499, i64 %501
  %507 = load ptr, ptr %47, align 8
  %508 = getelementptr inbounds i64, ptr %507, i64 %488
  %509 = load i64, ptr %508, align 8
  %510 = add nsw i64 %509, %452
  store i64 %510, ptr %506, align 8
  %511 = load ptr, ptr %38, align 8
  br label %515

512:                                              ; preds = %500
  %513 = add i64 %501, 1
  %514 = icmp eq i64 %513, %496
  br i1 %514, label %515, label %500, !llvm.loop !14

515:                                              ; preds = %512, %505, %486
  %516 = phi ptr [ %511, %505 ], [ %487, %486 ], [ %487, %512 ]
  %517 = add nsw i64 %488, 1
  %518 = getelementptr i64, ptr %516, i64 %73
  %519 = getelementptr i8, ptr %518, i64 8
  %520 = load i64, ptr %519, align 8
  %521 = icmp slt i64 %517, %520
  br i1 %521, label %486, label %522, !llvm.loop !15

522:                                              ; preds = %515, %479
  %523 = load ptr, ptr %10, align 8
  %524 = getelementptr inbounds i64, ptr %523, i64 %73
  %525 = load i64, ptr %524, align 8
  %526 = load ptr, ptr %23, align 8
  %527 = getelementptr i64, ptr %526, i64 %73
  %528 = load i64, ptr %527, align 8
  %529 = getelementptr i8, ptr %527, i64 8
  %530 = load i64, ptr %529, align 8
  %531 = icmp slt i64 %528, %530
  br i1 %531, label %532, label %598

532:                                              ; preds = %522
  %533 = load ptr, ptr %25, align 8
  br label %534

534:                                              ; preds = %546, %532
  %535 = phi ptr [ %526, %532 ], [ %547, %546 ]
  %536 = phi ptr [ %533, %532 ], [ %548, %546 ]
  %537 = phi i64 [ %528, %532 ], [ %549, %546 ]
  %538 = load ptr, ptr %24, align 8
  %539 = getelementptr inbounds i64, ptr %538, i64 %537
  %540 = load i64, ptr %539, align 8
  %541 = getelementptr inbounds i64, ptr %536, i64 %537
  %542 = load i64, ptr %541, align 8
  %543 = icmp slt i64 %540, %542
  br i1 %543, label %554, label %546

544:                                              ; preds = %592
  %545 = load ptr, ptr %23, align 8
  br label %546

546:                                              ; preds = %544, %534
  %547 = phi ptr [ %545, %544 ], [ %535, %534 ]
  %548 = phi ptr [ %594, %544 ], [ %536, %534 ]
  %549 = add nsw i64 %537, 1
  %550 = getelementptr i64, ptr %547, i64 %73
  %551 = getelementptr i8, ptr %550, i64 8
  %552 = load i64, ptr %551, align 8
  %553 = icmp slt i64 %549, %552
  br i1 %553, label %534, label %598, !llvm.loop !16

554:                                              ; preds = %534, %592
  %555 = phi i64 [ %593, %592 ], [ %540, %534 ]
  %556 = load ptr, ptr %31, align 8
  %557 = getelementptr inbounds i64, ptr %556, i64 %537
  %558 = load i64, ptr %557, align 8
  %559 = and i64 %558, 2
  %560 = icmp eq i64 %559, 0
  br i1 %560, label %573, label %561

561:                                              ; preds = %554
  %562 = load ptr, ptr %48, align 8
  %563 = getelementptr inbounds i64, ptr %562, i64 %73
  %564 = load i64, ptr %563, align 8
  %565 = add nsw i64 %564, %458
  %566 = load ptr, ptr %27, align 8
  %567 = getelementptr inbounds i64, ptr %566, i64 %555
  store i64 %565, ptr %567, align 8
  %568 = load ptr, ptr %26, align 8
  %569 = getelementptr inbounds i64, ptr %568, i64 %555
  store i64 %525, ptr %569, align 8
  %570 = load ptr, ptr %31, align 8
  %571 = getelementptr inbounds i64, ptr %570, i64 %537
  %572 = load i64, ptr %571, align 8
  br label %573

573:                                              ; preds = %561, %554
  %574 = phi i64 [ %572, %561 ], [ %558, %554 ]
  %575 = and i64 %574, 1
  %576 = icmp eq i64 %575, 0
  br i1 %576, label %592, label %577

577:                                              ; preds = %573
  %578 = load ptr, ptr %29, align 8
  %579 = getelementptr inbounds i64, ptr %578, i64 %525
  %580 = load i64, ptr %579, align 8
  %581 = load i64, ptr %30, align 8
  %582 = icmp slt i64 %555, %581
  %583 = select i1 %582, i64 1, i64 2
  %584 = and i64 %583, %580
  %585 = icmp eq i64 %584, 0
  br i1 %585, label %592, label %586

586:                                              ; preds = %577
  %587 = load ptr, ptr %32, align 8
  %588 = getelementptr inbounds i64, ptr %587, i64 %555
  %589 = load i64, ptr %588, align 8
  %590 = icmp slt i64 %589, %458
  br i1 %590, label %591, label %592

591:                                              ; preds = %586
  store i64 %458, ptr %588, align 8
  br label %592

592:                                              ; preds = %591, %586, %577, %573
  %593 = add nsw i64 %555, 1
  %594 = load ptr, ptr %25, align 8
  %595 = getelementptr inbounds i64, ptr %594, i64 %537
  %596 = load i64, ptr %595, align 8
  %597 = icmp slt i64 %593, %596
  br i1 %597, label %554, label %544, !llvm.loop !17

598:                                              ; preds = %546, %522
  %599 = load ptr, ptr %9, align 8
  %600 = getelementptr inbounds i64, ptr %599, i64 %73
  %601 = load i64, ptr %600, align 8
  %602 = icmp eq i64 %601, 0
  br i1 %602, label %644, label %603

603:                                              ; preds = %598
  %604 = load ptr, ptr %33, align 8
  %605 = getelementptr inbounds i64, ptr %604, i64 %73
  %606 = load i64, ptr %605, align 8
  %607 = load ptr, ptr %34, align 8
  %608 = getelementptr inbounds i64, ptr %607, i64 %606
  %609 = load i64, ptr %608, align 8
  %610 = icmp eq i64 %601, 3
  br i1 %610, label %631, label %611

611:                                              ; preds = %603
  %612 = load ptr, ptr %10, align 8
  %613 = getelementptr inbounds i64, ptr %612, i64 %73
  %614 = load i64, ptr %613, align 8
  %615 = load ptr, ptr %14, align 8
  %616 = getelementptr inbounds i64, ptr %615, i64 %614
  %617 = load i64, ptr %616, align 8
  %618 = add i64 %617, -1
  %619 = icmp slt i64 %618, 0
  br i1 %619, label %628, label %620

620:                                              ; preds = %611
  %621 = load ptr, ptr %49, align 8
  %622 = load ptr, ptr %17, align 8
  %623 = getelementptr inbounds i64, ptr %622, i64 %614
  %624 = load i64, ptr %623, align 8
  %625 = getelementptr i64, ptr %621, i64 %624
  %626 = getelementptr i64, ptr %625, i64 %618
  %627 = load i64, ptr %626, align 8
  br label %628

628:                                              ; preds = %620, %611
  %629 = phi i64 [ %627, %620 ], [ 0, %611 ]
  %630 = tail call noundef i64 @llvm.smax.i64(i64 %458, i64 %629)
  br label %631

631:                                              ; preds = %628, %603
  %632 = phi i64 [ 352, %628 ], [ 360, %603 ]
  %633 = phi i64 [ 336, %628 ], [ 344, %603 ]
  %634 = phi i64 [ %630, %628 ], [ %458, %603 ]
  %635 = getelementptr inbounds nuw i8, ptr %0, i64 %632
  %636 = load ptr, ptr %635, align 8
  %637 = getelementptr inbounds nuw i8, ptr %0, i64 %633
  %638 = load ptr, ptr %637, align 8
  %639 = getelementptr inbounds i64, ptr %638, i64 %606
  %640 = load i64, ptr %639, align 8
  %641 = add nsw i64 %640, 1
  store i64 %641, ptr %639, align 8
  %642 = getelementptr i64, ptr %636, i64 %609
  %643 = getelementptr i64, ptr %642, i64 %640
  store i64 %634, ptr %643, align 8
  br label %644

644:                                              ; preds = %631, %598
  %645 = load ptr, ptr %17, align 8
  %646 = getelementptr inbounds i64, ptr %645, i64 %174
  %647 = load i64, ptr %646, align 8
  %648 = load ptr, ptr %14, align 8
  %649 = getelementptr inbounds i64, ptr %648, i64 %174
  %650 = load i64, ptr %649, align 8
  %651 = add nsw i64 %650, 1
  store i64 %651, ptr %649, align 8
  %652 = add nsw i64 %650, %647
  %653 = load ptr, ptr %14, align 8
  %654 = getelementptr inbounds i64, ptr %653, i64 %174
  %655 = load i64, ptr %654, align 8
  %656 = icmp sgt i64 %655, 1
  br i1 %656, label %657, label %662

657:                                              ; preds = %644
  %658 = load ptr, ptr %49, align 8
  %659 = getelementptr i64, ptr %658, i64 %652
  %660 = getelementptr i8, ptr %659, i64 -8
  %661 = load i64, ptr %660, align 8
  br label %662

662:                                              ; preds = %657, %644
  %663 = phi i64 [ %661, %657 ], [ 0, %644 ]
  %664 = load ptr, ptr %16, align 8
  %665 = getelementptr inbounds i64, ptr %664, i64 %652
  store i64 %452, ptr %665, align 8
  %666 = load ptr, ptr %50, align 8
  %667 = getelementptr inbounds i64, ptr %666, i64 %73
  store i64 %452, ptr %667, align 8
  %668 = load ptr, ptr %22, align 8
  %669 = getelementptr inbounds i64, ptr %668, i64 %174
  store i64 %458, ptr %669, align 8
  %670 = load ptr, ptr %48, align 8
  %671 = getelementptr inbounds i64, ptr %670, i64 %73
  %672 = load i64, ptr %671, align 8
  %673 = add nsw i64 %672, %458
  %674 = tail call noundef i64 @llvm.smax.i64(i64 %663, i64 %673)
  %675 = load ptr, ptr %49, align 8
  %676 = getelementptr inbounds i64, ptr %675, i64 %652
  store i64 %674, ptr %676, align 8
  %677 = load ptr, ptr %12, align 8
  %678 = getelementptr inbounds i64, ptr %677, i64 %174
  %679 = load i64, ptr %678, align 8
  %680 = icmp eq i64 %679, 0
  br i1 %680, label %687, label %681

681:                                              ; preds = %662
  %682 = load ptr, ptr %8, align 8
  %683 = load ptr, ptr %11, align 8
  %684 = getelementptr inbounds i64, ptr %683, i64 %174
  %685 = load i64, ptr %684, align 8
  %686 = getelementptr inbounds i64, ptr %682, i64 %685
  store i64 %458, ptr %686, align 8
  br label %687

687:                                              ; preds = %681, %662, %165
  %688 = load i64, ptr %19, align 8
  %689 = icmp eq i64 %688, 0
  br i1 %689, label %52, label %690

690:                                              ; preds = %366, %447, %687
  %691 = getelementptr inbounds nuw i8, ptr %0, i64 400
  store i64 %73, ptr %691, align 8
  br label %735

692:                                              ; preds = %704, %63
  %693 = phi i64 [ 0, %63 ], [ %709, %704 ]
  %694 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %695 = load i64, ptr %694, align 8
  %696 = icmp sgt i64 %695, 0
  br i1 %696, label %697, label %735

697:                                              ; preds = %692
  %698 = getelementptr inbounds nuw i8, ptr %0, i64 272
  %699 = load ptr, ptr %698, align 8
  %700 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %701 = load ptr, ptr %700, align 8
  %702 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %703 = getelementptr inbounds nuw i8, ptr %0, i64 232
  br label %712

704:                                              ; preds = %67, %704
  %705 = phi i64 [ 0, %67 ], [ %710, %704 ]
  %706 = phi i64 [ 0, %67 ], [ %709, %704 ]
  %707 = getelementptr inbounds nuw i64, ptr %69, i64 %705
  %708 = load i64, ptr %707, align 8
  %709 = tail call noundef i64 @llvm.smax.i64(i64 %706, i64 %708)
  %710 = add nuw nsw i64 %705, 1
  %711 = icmp eq i64 %710, %65
  br i1 %711, label %692, label %704, !llvm.loop !18

712:                                              ; preds = %697, %729
  %713 = phi i64 [ 0, %697 ], [ %733, %729 ]
  %714 = phi i64 [ %693, %697 ], [ %732, %729 ]
  %715 = getelementptr inbounds nuw i64, ptr %699, i64 %713
  %716 = load i64, ptr %715, align 8
  %717 = getelementptr inbounds nuw i64, ptr %701, i64 %713
  %718 = load i64, ptr %717, align 8
  %719 = add i64 %718, -1
  %720 = icmp slt i64 %719, 0
  br i1 %720, label %729, label %721

721:                                              ; preds = %712
  %722 = load ptr, ptr %702, align 8
  %723 = load ptr, ptr %703, align 8
  %724 = getelementptr inbounds nuw i64, ptr %723, i64 %713
  %725 = load i64, ptr %724, align 8
  %726 = getelementptr i64, ptr %722, i64 %725
  %727 = getelementptr i64, ptr %726, i64 %719
  %728 = load i64, ptr %727, align 8
  br label %729

729:                                              ; preds = %712, %721
  %730 = phi i64 [ %728, %721 ], [ 0, %712 ]
  %731 = tail call noundef i64 @llvm.smax.i64(i64 %716, i64 %730)
  %732 = tail call noundef i64 @llvm.smax.i64(i64 %714, i64 %731)
  %733 = add nuw nsw i64 %713, 1
  %734 = icmp eq i64 %733, %695
  br i1 %734, label %735, label %712, !llvm.loop !19

735:                                              ; preds = %729, %692, %690
  %736 = phi i64 [ 0, %690 ], [ %693, %692 ], [ %732, %729 ]
  ret i64 %736
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define void @tir_accel_needs(ptr noundef readonly captures(none) %0, ptr noundef captures(none) %1, ptr noundef captures(none) %2) local_unnamed_addr #0 {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %5 = load i64, ptr %4, align 8
  %6 = load i64, ptr %0, align 8
  %7 = icmp sgt i64 %6, 0
  br i1 %7, label %8, label %23

8:                                                ; preds = %3
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 312
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 304
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 176
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 192
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 80
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
  br i1 %76, label %58, label %51, !llvm.loop !20

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
  br i1 %151, label %152, label %121, !llvm.loop !21

152:                                              ; preds = %149, %111
  %153 = add nsw i64 %78, 1
  %154 = load ptr, ptr %14, align 8
  %155 = getelementptr inbounds i64, ptr %154, i64 %61
  %156 = load i64, ptr %155, align 8
  %157 = icmp slt i64 %153, %156
  br i1 %157, label %77, label %68, !llvm.loop !22

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
  br i1 %176, label %158, label %205, !llvm.loop !23

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
  br i1 %204, label %177, label %168, !llvm.loop !24

205:                                              ; preds = %170, %37, %35, %51
  %206 = phi i64 [ %36, %35 ], [ %45, %37 ], [ %45, %51 ], [ %45, %170 ]
  %207 = load i64, ptr %0, align 8
  %208 = icmp slt i64 %206, %207
  br i1 %208, label %24, label %23, !llvm.loop !25
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
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 344
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 240
  %18 = icmp sgt i64 %7, 0
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 232
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
