
%struct.param = type { i64, i64, ptr }
%struct.moment = type { i64, i64 }
%struct.tensor = type { i64, i32, i32, i32, i32, ptr, ptr, i64 }
%struct.reach = type { i64, i64 }

; Function Attrs: nounwind
define ptr @tir_vectorcall(ptr noundef readonly captures(none) %0, ptr noundef %1, i64 noundef %2, ptr noundef %3) local_unnamed_addr #0 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %6 = load ptr, ptr %5, align 8
  %7 = load ptr, ptr %6, align 8
  %8 = and i64 %2, 9223372036854775807
  %9 = icmp eq ptr %3, null
  br i1 %9, label %13, label %10

10:                                               ; preds = %4
  %11 = tail call fastcc i32 @run_named(ptr noundef nonnull %6, ptr noundef %1, i64 noundef %8, ptr noundef %3) #3
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %35, label %20

13:                                               ; preds = %4
  %14 = getelementptr inbounds nuw i8, ptr %6, i64 16
  %15 = load i64, ptr %14, align 8
  %16 = icmp eq i64 %8, %15
  br i1 %16, label %17, label %32

17:                                               ; preds = %13
  %18 = tail call fastcc i32 @run_known(ptr noundef nonnull %6, ptr noundef %1) #3
  %19 = icmp eq i32 %18, 0
  br i1 %19, label %32, label %20

20:                                               ; preds = %17, %10
  %21 = getelementptr inbounds nuw i8, ptr %7, i64 40
  %22 = load i64, ptr %21, align 8
  %23 = icmp eq i64 %22, 0
  br i1 %23, label %29, label %24

24:                                               ; preds = %20
  %25 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %26 = load ptr, ptr %25, align 8
  %27 = load i64, ptr %26, align 8
  %28 = add nsw i64 %27, 1
  store i64 %28, ptr %26, align 8
  br label %29

29:                                               ; preds = %24, %20
  %30 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %31 = load ptr, ptr %30, align 8
  br label %56

32:                                               ; preds = %17, %13
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %34 = load ptr, ptr %33, align 8
  br label %41

35:                                               ; preds = %10
  %36 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %37 = load ptr, ptr %36, align 8
  %38 = getelementptr inbounds nuw i8, ptr %7, i64 56
  %39 = load ptr, ptr %38, align 8
  %40 = icmp eq ptr %39, null
  br i1 %40, label %41, label %46

41:                                               ; preds = %32, %35
  %42 = phi ptr [ %34, %32 ], [ %37, %35 ]
  %43 = getelementptr inbounds nuw i8, ptr %7, i64 48
  %44 = load ptr, ptr %43, align 8
  %45 = tail call ptr %44(ptr noundef %42, ptr noundef %1, i64 noundef %2, ptr noundef %3) #4
  br label %56

46:                                               ; preds = %35
  %47 = getelementptr inbounds nuw ptr, ptr %1, i64 %8
  %48 = tail call ptr %39(ptr noundef %47, ptr noundef nonnull %3) #4
  %49 = icmp eq ptr %48, null
  br i1 %49, label %56, label %50

50:                                               ; preds = %46
  %51 = getelementptr inbounds nuw i8, ptr %7, i64 48
  %52 = load ptr, ptr %51, align 8
  %53 = tail call ptr %52(ptr noundef %37, ptr noundef %1, i64 noundef %2, ptr noundef nonnull %48) #4
  %54 = getelementptr inbounds nuw i8, ptr %7, i64 128
  %55 = load ptr, ptr %54, align 8
  tail call void %55(ptr noundef nonnull %48) #4
  br label %56

56:                                               ; preds = %41, %46, %50, %29
  %57 = phi ptr [ %31, %29 ], [ %45, %41 ], [ %53, %50 ], [ null, %46 ]
  ret ptr %57
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: nounwind
define internal fastcc range(i32 0, 2) i32 @run_named(ptr noundef captures(none) %0, ptr noundef readonly captures(none) %1, i64 noundef range(i64 0, -9223372036854775808) %2, ptr noundef nonnull %3) unnamed_addr #0 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load i64, ptr %5, align 8
  %7 = add nsw i64 %6, 1
  %8 = alloca ptr, i64 %7, align 16
  %9 = load ptr, ptr %0, align 8
  %10 = getelementptr inbounds nuw i8, ptr %9, i64 72
  %11 = load ptr, ptr %10, align 8
  %12 = tail call i64 %11(ptr noundef nonnull %3) #4
  %13 = add nsw i64 %12, %2
  %14 = load i64, ptr %5, align 8
  %15 = icmp eq i64 %13, %14
  br i1 %15, label %16, label %72

16:                                               ; preds = %4
  %17 = icmp sgt i64 %13, 0
  br i1 %17, label %22, label %70

18:                                               ; preds = %28
  %19 = icmp sgt i64 %12, 0
  br i1 %19, label %20, label %70

20:                                               ; preds = %18
  %21 = getelementptr inbounds nuw i8, ptr %9, i64 64
  br label %33

22:                                               ; preds = %16, %28
  %23 = phi i64 [ %31, %28 ], [ 0, %16 ]
  %24 = icmp samesign ult i64 %23, %2
  br i1 %24, label %25, label %28

25:                                               ; preds = %22
  %26 = getelementptr inbounds nuw ptr, ptr %1, i64 %23
  %27 = load ptr, ptr %26, align 8
  br label %28

28:                                               ; preds = %25, %22
  %29 = phi ptr [ %27, %25 ], [ null, %22 ]
  %30 = getelementptr inbounds nuw ptr, ptr %8, i64 %23
  store ptr %29, ptr %30, align 8
  %31 = add nuw nsw i64 %23, 1
  %32 = icmp eq i64 %31, %13
  br i1 %32, label %18, label %22, !llvm.loop !5

33:                                               ; preds = %62, %20
  %34 = phi i64 [ %2, %20 ], [ %68, %62 ]
  %35 = phi i64 [ %2, %20 ], [ %67, %62 ]
  %36 = load ptr, ptr %21, align 8
  %37 = sub nuw nsw i64 %34, %2
  %38 = tail call ptr %36(ptr noundef nonnull %3, i64 noundef %37) #4
  %39 = load i64, ptr %5, align 8
  %40 = icmp slt i64 %2, %39
  br i1 %40, label %41, label %54

41:                                               ; preds = %33, %48
  %42 = phi i64 [ %52, %48 ], [ %2, %33 ]
  %43 = phi i64 [ %51, %48 ], [ %35, %33 ]
  %44 = getelementptr inbounds nuw %struct.param, ptr %0, i64 %43
  %45 = getelementptr inbounds nuw i8, ptr %44, i64 96
  %46 = load ptr, ptr %45, align 8
  %47 = icmp eq ptr %46, %38
  br i1 %47, label %54, label %48

48:                                               ; preds = %41
  %49 = add nuw nsw i64 %43, 1
  %50 = icmp slt i64 %49, %39
  %51 = select i1 %50, i64 %49, i64 %2
  %52 = add nuw i64 %42, 1
  %53 = icmp eq i64 %52, %39
  br i1 %53, label %72, label %41, !llvm.loop !8

54:                                               ; preds = %41, %33
  %55 = phi i64 [ %35, %33 ], [ %43, %41 ]
  %56 = phi i64 [ %2, %33 ], [ %42, %41 ]
  %57 = icmp eq i64 %56, %39
  br i1 %57, label %72, label %58

58:                                               ; preds = %54
  %59 = getelementptr inbounds nuw ptr, ptr %8, i64 %55
  %60 = load ptr, ptr %59, align 8
  %61 = icmp eq ptr %60, null
  br i1 %61, label %62, label %72

62:                                               ; preds = %58
  %63 = getelementptr inbounds nuw ptr, ptr %1, i64 %34
  %64 = load ptr, ptr %63, align 8
  store ptr %64, ptr %59, align 8
  %65 = add nuw nsw i64 %55, 1
  %66 = icmp slt i64 %65, %39
  %67 = select i1 %66, i64 %65, i64 %2
  %68 = add nuw nsw i64 %34, 1
  %69 = icmp slt i64 %68, %39
  br i1 %69, label %33, label %70, !llvm.loop !9

70:                                               ; preds = %62, %18, %16
  %71 = call fastcc i32 @run_known(ptr noundef nonnull %0, ptr noundef nonnull %8) #3
  br label %72

72:                                               ; preds = %54, %58, %48, %4, %70
  %73 = phi i32 [ %71, %70 ], [ 0, %4 ], [ 0, %48 ], [ 0, %58 ], [ 0, %54 ]
  ret i32 %73
}

; Function Attrs: nounwind
define internal fastcc range(i32 0, 2) i32 @run_known(ptr noundef captures(none) %0, ptr noundef readonly captures(none) %1) unnamed_addr #0 {
  %3 = alloca %struct.moment, align 8
  %4 = alloca %struct.moment, align 8
  %5 = alloca %struct.moment, align 8
  %6 = alloca %struct.moment, align 8
  %7 = alloca ptr, align 8
  %8 = alloca ptr, align 8
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %10 = load i64, ptr %9, align 8
  %11 = add nsw i64 %10, 1
  %12 = alloca i64, i64 %11, align 16
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %14 = load i64, ptr %13, align 8
  %15 = add nsw i64 %14, 1
  %16 = alloca i64, i64 %15, align 16
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %19 = load i64, ptr %18, align 8
  %20 = icmp sgt i64 %19, 0
  br i1 %20, label %21, label %220

21:                                               ; preds = %2
  %22 = load i64, ptr %17, align 8
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 56
  br label %25

25:                                               ; preds = %21, %209
  %26 = phi i64 [ %22, %21 ], [ %213, %209 ]
  %27 = phi i64 [ 0, %21 ], [ %214, %209 ]
  %28 = load ptr, ptr %23, align 8
  %29 = load i64, ptr %24, align 8
  %30 = mul nsw i64 %29, %26
  %31 = getelementptr inbounds i64, ptr %28, i64 %30
  %32 = getelementptr inbounds nuw i8, ptr %31, i64 32
  %33 = call fastcc i32 @fits(ptr noundef nonnull %0, ptr noundef nonnull %32, ptr noundef %1, ptr noundef %12, ptr noundef %16) #3
  %34 = icmp eq i32 %33, 0
  br i1 %34, label %209, label %35

35:                                               ; preds = %25
  store i64 %26, ptr %17, align 8
  %36 = getelementptr inbounds nuw i8, ptr %31, i64 24
  %37 = load ptr, ptr %36, align 8
  %38 = icmp eq ptr %37, null
  br i1 %38, label %126, label %39

39:                                               ; preds = %35
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #5
  store ptr null, ptr %7, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #5
  store ptr null, ptr %8, align 8
  %40 = getelementptr inbounds nuw i8, ptr %37, i64 16
  %41 = load ptr, ptr %40, align 8
  %42 = call i32 %41() #4
  %43 = sext i32 %42 to i64
  %44 = getelementptr inbounds nuw i8, ptr %37, i64 8
  %45 = load i64, ptr %44, align 8
  %46 = icmp eq i64 %45, %43
  br i1 %46, label %47, label %216

47:                                               ; preds = %39
  %48 = load i64, ptr %37, align 8
  %49 = icmp eq i64 %48, 0
  br i1 %49, label %50, label %216

50:                                               ; preds = %47
  %51 = getelementptr inbounds nuw i8, ptr %37, i64 48
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds nuw i8, ptr %37, i64 56
  %54 = load i64, ptr %53, align 8
  %55 = trunc i64 %54 to i32
  %56 = getelementptr inbounds nuw i8, ptr %37, i64 64
  %57 = load i64, ptr %56, align 8
  %58 = trunc i64 %57 to i32
  %59 = call i32 %52(i32 noundef %55, i32 noundef %58, ptr noundef nonnull %8) #4
  %60 = icmp eq i32 %59, 0
  %61 = load ptr, ptr %0, align 8
  br i1 %60, label %65, label %62

62:                                               ; preds = %50
  %63 = getelementptr inbounds nuw i8, ptr %61, i64 120
  %64 = load ptr, ptr %63, align 8
  call void %64() #4
  br label %216

65:                                               ; preds = %50
  %66 = getelementptr inbounds nuw i8, ptr %61, i64 80
  %67 = load ptr, ptr %66, align 8
  %68 = call ptr %67() #4
  %69 = getelementptr inbounds nuw i8, ptr %37, i64 24
  %70 = load ptr, ptr %69, align 8
  %71 = call i32 %70(ptr noundef nonnull %7) #4
  %72 = icmp eq i32 %71, 0
  br i1 %72, label %73, label %105

73:                                               ; preds = %65
  %74 = load ptr, ptr %7, align 8
  %75 = getelementptr inbounds nuw i8, ptr %37, i64 40
  %76 = load ptr, ptr %75, align 8
  %77 = icmp eq ptr %74, %76
  br i1 %77, label %83, label %78

78:                                               ; preds = %73
  %79 = getelementptr inbounds nuw i8, ptr %37, i64 32
  %80 = load ptr, ptr %79, align 8
  %81 = call i32 %80(ptr noundef %76) #4
  %82 = icmp eq i32 %81, 0
  br i1 %82, label %83, label %105

83:                                               ; preds = %73, %78
  %84 = getelementptr inbounds nuw i8, ptr %37, i64 80
  %85 = getelementptr inbounds nuw i8, ptr %37, i64 88
  br label %86

86:                                               ; preds = %91, %83
  %87 = phi i64 [ %99, %91 ], [ 0, %83 ]
  %88 = phi ptr [ %98, %91 ], [ %85, %83 ]
  %89 = load i64, ptr %84, align 8
  %90 = icmp slt i64 %87, %89
  br i1 %90, label %91, label %101

91:                                               ; preds = %86
  %92 = load ptr, ptr %8, align 8
  %93 = call fastcc i32 @start_one(ptr noundef nonnull %37, ptr noundef %88, ptr noundef nonnull %12, ptr noundef %92) #3
  %94 = getelementptr inbounds nuw i8, ptr %88, i64 64
  %95 = load i64, ptr %94, align 8
  %96 = shl i64 %95, 4
  %97 = getelementptr i8, ptr %88, i64 %96
  %98 = getelementptr i8, ptr %97, i64 72
  %99 = add nuw nsw i64 %87, 1
  %100 = icmp eq i32 %93, 0
  br i1 %100, label %86, label %101, !llvm.loop !10

101:                                              ; preds = %91, %86
  %102 = phi i32 [ %93, %91 ], [ 0, %86 ]
  %103 = phi i64 [ %99, %91 ], [ %87, %86 ]
  %104 = icmp samesign ugt i64 %103, 1
  br label %105

105:                                              ; preds = %101, %78, %65
  %106 = phi i32 [ %81, %78 ], [ %102, %101 ], [ %71, %65 ]
  %107 = phi i1 [ false, %78 ], [ %104, %101 ], [ false, %65 ]
  %108 = phi i1 [ true, %78 ], [ %90, %101 ], [ true, %65 ]
  %109 = load ptr, ptr %7, align 8
  %110 = icmp eq ptr %109, null
  br i1 %110, label %119, label %111

111:                                              ; preds = %105
  %112 = getelementptr inbounds nuw i8, ptr %37, i64 40
  %113 = load ptr, ptr %112, align 8
  %114 = icmp eq ptr %109, %113
  br i1 %114, label %119, label %115

115:                                              ; preds = %111
  %116 = getelementptr inbounds nuw i8, ptr %37, i64 32
  %117 = load ptr, ptr %116, align 8
  %118 = call i32 %117(ptr noundef nonnull %109) #4
  br label %119

119:                                              ; preds = %115, %111, %105
  %120 = load ptr, ptr %0, align 8
  %121 = getelementptr inbounds nuw i8, ptr %120, i64 88
  %122 = load ptr, ptr %121, align 8
  call void %122(ptr noundef %68) #4
  %123 = select i1 %108, i1 %107, i1 false
  br i1 %123, label %124, label %217

124:                                              ; preds = %119
  %125 = sext i32 %106 to i64
  store i64 %125, ptr %37, align 8
  br label %217

126:                                              ; preds = %35
  %127 = load ptr, ptr %0, align 8
  %128 = load i64, ptr %31, align 8
  %129 = icmp eq i64 %128, 0
  br i1 %129, label %164, label %130

130:                                              ; preds = %126
  %131 = getelementptr inbounds nuw i8, ptr %31, i64 16
  %132 = load i64, ptr %131, align 8
  %133 = add nsw i64 %132, 1
  store i64 %133, ptr %131, align 8
  %134 = and i64 %133, 63
  %135 = icmp eq i64 %134, 0
  br i1 %135, label %139, label %136

136:                                              ; preds = %130
  %137 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %138 = load ptr, ptr %137, align 8
  call void %138(ptr noundef nonnull %12) #4
  br label %220

139:                                              ; preds = %130
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #5
  %140 = getelementptr inbounds nuw i8, ptr %127, i64 144
  %141 = load ptr, ptr %140, align 8
  %142 = getelementptr inbounds nuw i8, ptr %127, i64 152
  %143 = load i64, ptr %142, align 8
  %144 = trunc i64 %143 to i32
  %145 = call i32 %141(i32 noundef %144, ptr noundef nonnull %6) #4
  %146 = load i64, ptr %6, align 8
  %147 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %148 = load i64, ptr %147, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  %149 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %150 = load ptr, ptr %149, align 8
  call void %150(ptr noundef nonnull %12) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #5
  %151 = load ptr, ptr %140, align 8
  %152 = load i64, ptr %142, align 8
  %153 = trunc i64 %152 to i32
  %154 = call i32 %151(i32 noundef %153, ptr noundef nonnull %5) #4
  %155 = load i64, ptr %5, align 8
  %156 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %157 = load i64, ptr %156, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #5
  %158 = sub i64 %155, %146
  %159 = mul i64 %158, 1000000000
  %160 = sub i64 %157, %148
  %161 = add i64 %160, %159
  %162 = icmp sgt i64 %161, 20000
  br i1 %162, label %163, label %220

163:                                              ; preds = %139
  store i64 0, ptr %31, align 8
  br label %220

164:                                              ; preds = %126
  %165 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %166 = load i64, ptr %165, align 8
  %167 = icmp eq i64 %166, 0
  %168 = getelementptr inbounds nuw i8, ptr %31, i64 8
  %169 = load i64, ptr %168, align 8
  %170 = icmp slt i64 %169, 8
  %171 = select i1 %167, i1 %170, i1 false
  %172 = zext i1 %171 to i64
  %173 = add nsw i64 %169, %172
  store i64 %173, ptr %168, align 8
  %174 = getelementptr inbounds nuw i8, ptr %127, i64 80
  %175 = load ptr, ptr %174, align 8
  %176 = call ptr %175() #4
  br i1 %171, label %177, label %203

177:                                              ; preds = %164
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #5
  %178 = getelementptr inbounds nuw i8, ptr %127, i64 144
  %179 = load ptr, ptr %178, align 8
  %180 = getelementptr inbounds nuw i8, ptr %127, i64 152
  %181 = load i64, ptr %180, align 8
  %182 = trunc i64 %181 to i32
  %183 = call i32 %179(i32 noundef %182, ptr noundef nonnull %4) #4
  %184 = load i64, ptr %4, align 8
  %185 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %186 = load i64, ptr %185, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #5
  %187 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %188 = load ptr, ptr %187, align 8
  call void %188(ptr noundef nonnull %12) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #5
  %189 = load ptr, ptr %178, align 8
  %190 = load i64, ptr %180, align 8
  %191 = trunc i64 %190 to i32
  %192 = call i32 %189(i32 noundef %191, ptr noundef nonnull %3) #4
  %193 = load i64, ptr %3, align 8
  %194 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %195 = load i64, ptr %194, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #5
  %196 = sub i64 %193, %184
  %197 = mul i64 %196, 1000000000
  %198 = sub i64 %195, %186
  %199 = add i64 %198, %197
  %200 = icmp slt i64 %199, 20000
  %201 = getelementptr inbounds nuw i8, ptr %127, i64 88
  %202 = load ptr, ptr %201, align 8
  call void %202(ptr noundef %176) #4
  br i1 %200, label %208, label %220

203:                                              ; preds = %164
  %204 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %205 = load ptr, ptr %204, align 8
  call void %205(ptr noundef nonnull %12) #4
  %206 = getelementptr inbounds nuw i8, ptr %127, i64 88
  %207 = load ptr, ptr %206, align 8
  call void %207(ptr noundef %176) #4
  br label %220

208:                                              ; preds = %177
  store i64 1, ptr %31, align 8
  br label %220

209:                                              ; preds = %25
  %210 = add nsw i64 %26, 1
  %211 = load i64, ptr %18, align 8
  %212 = icmp slt i64 %210, %211
  %213 = select i1 %212, i64 %210, i64 0
  %214 = add nuw nsw i64 %27, 1
  %215 = icmp slt i64 %214, %211
  br i1 %215, label %25, label %220, !llvm.loop !11

216:                                              ; preds = %62, %47, %39
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #5
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #5
  br label %220

217:                                              ; preds = %119, %124
  %218 = xor i1 %108, true
  %219 = zext i1 %218 to i32
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #5
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #5
  br label %220

220:                                              ; preds = %209, %2, %217, %136, %139, %163, %177, %203, %208, %216
  %221 = phi i32 [ %219, %217 ], [ 1, %136 ], [ 0, %216 ], [ 1, %208 ], [ 1, %203 ], [ 1, %177 ], [ 1, %163 ], [ 1, %139 ], [ 0, %2 ], [ 0, %209 ]
  ret i32 %221
}

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
  %9 = getelementptr inbounds nuw i8, ptr %4, i64 136
  %10 = load ptr, ptr %9, align 8
  tail call void %10(ptr noundef %0) #4
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 128
  %12 = load ptr, ptr %11, align 8
  tail call void %12(ptr noundef %6) #4
  %13 = load ptr, ptr %11, align 8
  tail call void %13(ptr noundef %8) #4
  ret void
}

; Function Attrs: nounwind
define internal fastcc range(i32 0, 2) i32 @fits(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef readonly captures(none) %2, ptr noundef nonnull captures(none) %3, ptr noundef nonnull %4) unnamed_addr #0 {
  %6 = alloca i32, align 4
  %7 = alloca %struct.tensor, align 8
  %8 = load ptr, ptr %0, align 8
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %10 = load i64, ptr %9, align 8
  %11 = add nsw i64 %10, 1
  %12 = alloca %struct.reach, i64 %11, align 16
  %13 = icmp slt i64 %10, 1
  br i1 %13, label %329, label %14

14:                                               ; preds = %5
  %15 = getelementptr inbounds nuw %struct.reach, ptr %12, i64 %10
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %17 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %18 = getelementptr inbounds nuw i8, ptr %8, i64 104
  %19 = getelementptr inbounds nuw i8, ptr %8, i64 24
  %20 = getelementptr inbounds nuw i8, ptr %8, i64 32
  %21 = getelementptr inbounds nuw i8, ptr %8, i64 96
  %22 = getelementptr inbounds nuw i8, ptr %8, i64 112
  %23 = getelementptr inbounds nuw i8, ptr %8, i64 128
  %24 = getelementptr inbounds nuw i8, ptr %8, i64 120
  %25 = getelementptr inbounds nuw i8, ptr %7, i64 40
  %26 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %27 = getelementptr inbounds nuw i8, ptr %7, i64 12
  %28 = getelementptr inbounds nuw i8, ptr %7, i64 20
  %29 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %30 = getelementptr inbounds nuw i8, ptr %7, i64 32
  %31 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 24
  br label %33

33:                                               ; preds = %14, %320
  %34 = phi ptr [ %1, %14 ], [ %321, %320 ]
  %35 = phi ptr [ %4, %14 ], [ %322, %320 ]
  %36 = phi ptr [ %15, %14 ], [ %323, %320 ]
  %37 = phi i64 [ 0, %14 ], [ %324, %320 ]
  %38 = phi i64 [ 0, %14 ], [ %325, %320 ]
  %39 = phi i64 [ 0, %14 ], [ %326, %320 ]
  %40 = getelementptr inbounds nuw %struct.param, ptr %16, i64 %39
  %41 = load i64, ptr %40, align 8
  %42 = icmp eq i64 %41, 0
  br i1 %42, label %115, label %43

43:                                               ; preds = %33
  %44 = getelementptr inbounds nuw ptr, ptr %2, i64 %39
  %45 = load ptr, ptr %44, align 8
  %46 = getelementptr inbounds nuw i64, ptr %3, i64 %39
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #5
  store i32 0, ptr %6, align 4
  switch i64 %41, label %72 [
    i64 5, label %47
    i64 3, label %53
    i64 4, label %53
  ]

47:                                               ; preds = %43
  %48 = load ptr, ptr %19, align 8
  %49 = icmp eq ptr %45, %48
  %50 = zext i1 %49 to i64
  store i64 %50, ptr %46, align 8
  %51 = load ptr, ptr %19, align 8
  %52 = icmp eq ptr %45, %51
  br i1 %52, label %103, label %104

53:                                               ; preds = %43, %43
  %54 = getelementptr inbounds nuw i8, ptr %45, i64 8
  %55 = load ptr, ptr %54, align 8
  %56 = load ptr, ptr %17, align 8
  %57 = icmp eq ptr %55, %56
  br i1 %57, label %58, label %102

58:                                               ; preds = %53
  %59 = load ptr, ptr %18, align 8
  %60 = call double %59(ptr noundef nonnull %45) #4
  %61 = load i64, ptr %40, align 8
  %62 = icmp eq i64 %61, 3
  %63 = fptrunc double %60 to float
  %64 = bitcast float %63 to i32
  %65 = bitcast double %60 to i64
  %66 = trunc i64 %65 to i32
  %67 = lshr i64 %65, 32
  %68 = trunc nuw i64 %67 to i32
  %69 = select i1 %62, i32 %64, i32 %66
  %70 = select i1 %62, i32 0, i32 %68
  store i32 %69, ptr %46, align 8
  %71 = getelementptr inbounds nuw i8, ptr %46, i64 4
  store i32 %70, ptr %71, align 4
  br label %103

72:                                               ; preds = %43
  %73 = getelementptr inbounds nuw i8, ptr %45, i64 8
  %74 = load ptr, ptr %73, align 8
  %75 = load ptr, ptr %8, align 8
  %76 = icmp eq ptr %74, %75
  br i1 %76, label %77, label %102

77:                                               ; preds = %72
  %78 = load ptr, ptr %21, align 8
  %79 = call i64 %78(ptr noundef nonnull %45, ptr noundef nonnull %6) #4
  store i64 %79, ptr %46, align 8
  %80 = load i64, ptr %40, align 8
  %81 = icmp eq i64 %80, 6
  %82 = load i32, ptr %6, align 4
  %83 = icmp eq i32 %82, 0
  br i1 %81, label %84, label %94

84:                                               ; preds = %77
  %85 = icmp sgt i64 %79, -1
  %86 = select i1 %83, i1 %85, i1 false
  br i1 %86, label %87, label %102

87:                                               ; preds = %84
  %88 = getelementptr inbounds nuw i8, ptr %40, i64 8
  %89 = load i64, ptr %88, align 8
  %90 = icmp eq i64 %89, 64
  br i1 %90, label %103, label %91

91:                                               ; preds = %87
  %92 = lshr i64 %79, %89
  %93 = icmp eq i64 %92, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %93, label %107, label %329

94:                                               ; preds = %77
  br i1 %83, label %95, label %102

95:                                               ; preds = %94
  %96 = getelementptr inbounds nuw i8, ptr %40, i64 8
  %97 = load i64, ptr %96, align 8
  %98 = sub nsw i64 64, %97
  %99 = shl i64 %79, %98
  %100 = ashr exact i64 %99, %98
  %101 = icmp eq i64 %79, %100
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %101, label %107, label %329

102:                                              ; preds = %72, %53, %84, %94
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br label %329

103:                                              ; preds = %58, %87, %47
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br label %107

104:                                              ; preds = %47
  %105 = load ptr, ptr %20, align 8
  %106 = icmp eq ptr %45, %105
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %106, label %107, label %329

107:                                              ; preds = %91, %95, %103, %104
  %108 = load i64, ptr %40, align 8
  %109 = icmp eq i64 %108, 1
  br i1 %109, label %110, label %320

110:                                              ; preds = %107
  %111 = load i64, ptr %46, align 8
  %112 = getelementptr inbounds nuw i8, ptr %34, i64 8
  %113 = load i64, ptr %34, align 8
  %114 = icmp eq i64 %111, %113
  br i1 %114, label %320, label %329

115:                                              ; preds = %33
  %116 = getelementptr inbounds nuw i8, ptr %40, i64 8
  %117 = load i64, ptr %116, align 8
  %118 = getelementptr inbounds nuw i8, ptr %34, i64 88
  %119 = getelementptr inbounds i64, ptr %118, i64 %117
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #5
  %120 = getelementptr inbounds nuw ptr, ptr %2, i64 %39
  %121 = load ptr, ptr %120, align 8
  %122 = getelementptr inbounds nuw i8, ptr %121, i64 8
  %123 = load ptr, ptr %122, align 8
  %124 = load ptr, ptr %34, align 8
  %125 = icmp eq ptr %123, %124
  br i1 %125, label %126, label %315

126:                                              ; preds = %115
  %127 = getelementptr inbounds nuw i8, ptr %34, i64 8
  %128 = load ptr, ptr %127, align 8
  %129 = icmp eq ptr %128, null
  br i1 %129, label %185, label %130

130:                                              ; preds = %126
  %131 = getelementptr inbounds nuw i8, ptr %34, i64 16
  %132 = load ptr, ptr %131, align 8
  %133 = icmp eq ptr %132, null
  br i1 %133, label %147, label %134

134:                                              ; preds = %130
  %135 = load ptr, ptr %22, align 8
  %136 = call ptr %135(ptr noundef nonnull %121, ptr noundef nonnull %132) #4
  %137 = icmp eq ptr %136, null
  br i1 %137, label %138, label %140

138:                                              ; preds = %134
  %139 = load ptr, ptr %24, align 8
  call void %139() #4
  br label %142

140:                                              ; preds = %134
  %141 = load ptr, ptr %23, align 8
  call void %141(ptr noundef nonnull %136) #4
  br label %142

142:                                              ; preds = %140, %138
  %143 = load ptr, ptr %20, align 8
  %144 = icmp eq ptr %136, %143
  br i1 %144, label %145, label %315

145:                                              ; preds = %142
  %146 = load ptr, ptr %127, align 8
  br label %147

147:                                              ; preds = %145, %130
  %148 = phi ptr [ %146, %145 ], [ %128, %130 ]
  %149 = call i32 %148(ptr noundef nonnull %121, ptr noundef nonnull %7) #4
  %150 = icmp eq i32 %149, 0
  br i1 %150, label %153, label %151

151:                                              ; preds = %147
  %152 = load ptr, ptr %24, align 8
  call void %152() #4
  br label %315

153:                                              ; preds = %147
  %154 = load i64, ptr %25, align 8
  %155 = load i64, ptr %7, align 8
  %156 = add i64 %155, %154
  store i64 %156, ptr %7, align 8
  %157 = load i32, ptr %26, align 8
  %158 = sext i32 %157 to i64
  %159 = getelementptr inbounds nuw i8, ptr %34, i64 24
  %160 = load i64, ptr %159, align 8
  %161 = icmp eq i64 %160, %158
  br i1 %161, label %162, label %315

162:                                              ; preds = %153
  %163 = icmp eq i32 %157, 1
  br i1 %163, label %170, label %164

164:                                              ; preds = %162
  %165 = load i32, ptr %27, align 4
  %166 = sext i32 %165 to i64
  %167 = getelementptr inbounds nuw i8, ptr %34, i64 32
  %168 = load i64, ptr %167, align 8
  %169 = icmp eq i64 %168, %166
  br i1 %169, label %170, label %315

170:                                              ; preds = %164, %162
  %171 = load i32, ptr %28, align 4
  %172 = zext i32 %171 to i64
  %173 = getelementptr inbounds nuw i8, ptr %34, i64 40
  %174 = load i64, ptr %173, align 8
  %175 = icmp eq i64 %174, %172
  %176 = load i32, ptr %29, align 8
  %177 = sext i32 %176 to i64
  %178 = icmp eq i64 %117, %177
  %179 = select i1 %175, i1 %178, i1 false
  br i1 %179, label %180, label %315

180:                                              ; preds = %170
  %181 = load ptr, ptr %30, align 8
  %182 = icmp ne ptr %181, null
  %183 = icmp eq i64 %117, 0
  %184 = or i1 %183, %182
  br i1 %184, label %211, label %315

185:                                              ; preds = %126
  %186 = getelementptr inbounds nuw i8, ptr %121, i64 16
  %187 = load i64, ptr %186, align 8
  store i64 %187, ptr %7, align 8
  %188 = getelementptr inbounds nuw i8, ptr %121, i64 32
  %189 = load ptr, ptr %188, align 8
  store ptr %189, ptr %31, align 8
  %190 = getelementptr inbounds nuw i8, ptr %121, i64 40
  %191 = load ptr, ptr %190, align 8
  store ptr %191, ptr %30, align 8
  %192 = getelementptr inbounds nuw i8, ptr %121, i64 56
  %193 = load i64, ptr %192, align 8
  %194 = getelementptr inbounds nuw i8, ptr %34, i64 40
  %195 = load i64, ptr %194, align 8
  %196 = icmp eq i64 %193, %195
  br i1 %196, label %197, label %315

197:                                              ; preds = %185
  %198 = getelementptr inbounds nuw i8, ptr %121, i64 24
  %199 = load i32, ptr %198, align 8
  %200 = sext i32 %199 to i64
  %201 = icmp eq i64 %117, %200
  br i1 %201, label %202, label %315

202:                                              ; preds = %197
  %203 = getelementptr inbounds nuw i8, ptr %34, i64 56
  %204 = load i64, ptr %203, align 8
  %205 = icmp eq i64 %204, 0
  br i1 %205, label %215, label %206

206:                                              ; preds = %202
  %207 = getelementptr inbounds nuw i8, ptr %121, i64 64
  %208 = load i32, ptr %207, align 8
  %209 = and i32 %208, -2147482624
  %210 = icmp eq i32 %209, 1024
  br i1 %210, label %211, label %315

211:                                              ; preds = %180, %206
  %212 = phi ptr [ %181, %180 ], [ %191, %206 ]
  %213 = phi i64 [ %156, %180 ], [ %187, %206 ]
  %214 = load ptr, ptr %31, align 8
  br label %215

215:                                              ; preds = %211, %202
  %216 = phi i64 [ %213, %211 ], [ %187, %202 ]
  %217 = phi ptr [ %212, %211 ], [ %191, %202 ]
  %218 = phi ptr [ %214, %211 ], [ %189, %202 ]
  %219 = call i64 @llvm.smax.i64(i64 %117, i64 0)
  br label %220

220:                                              ; preds = %215, %230
  %221 = phi i64 [ %226, %230 ], [ 0, %215 ]
  %222 = icmp eq i64 %221, %219
  br i1 %222, label %236, label %223

223:                                              ; preds = %220
  %224 = getelementptr inbounds nuw i64, ptr %218, i64 %221
  %225 = load i64, ptr %224, align 8
  %226 = add nuw i64 %221, 1
  %227 = getelementptr inbounds nuw i64, ptr %119, i64 %226
  %228 = load i64, ptr %227, align 8
  %229 = icmp eq i64 %225, %228
  br i1 %229, label %230, label %315

230:                                              ; preds = %223
  %231 = getelementptr inbounds nuw i64, ptr %217, i64 %221
  %232 = load i64, ptr %231, align 8
  %233 = getelementptr inbounds nuw i64, ptr %118, i64 %221
  %234 = load i64, ptr %233, align 8
  %235 = icmp eq i64 %232, %234
  br i1 %235, label %220, label %315, !llvm.loop !12

236:                                              ; preds = %220
  %237 = getelementptr inbounds nuw i8, ptr %34, i64 48
  %238 = load i64, ptr %237, align 8
  %239 = and i64 %238, %216
  %240 = icmp eq i64 %239, 0
  br i1 %240, label %241, label %315

241:                                              ; preds = %236
  %242 = load i64, ptr %32, align 8
  %243 = icmp eq i64 %242, 0
  br i1 %243, label %290, label %244

244:                                              ; preds = %241
  %245 = getelementptr inbounds nuw i8, ptr %34, i64 72
  %246 = load i64, ptr %245, align 8
  %247 = add i64 %246, %216
  %248 = getelementptr inbounds nuw i8, ptr %34, i64 80
  %249 = load i64, ptr %248, align 8
  %250 = add i64 %249, %216
  %251 = icmp sgt i64 %37, 0
  br i1 %251, label %252, label %264

252:                                              ; preds = %244, %261
  %253 = phi i64 [ %262, %261 ], [ 0, %244 ]
  %254 = getelementptr inbounds nuw %struct.reach, ptr %12, i64 %253
  %255 = getelementptr inbounds nuw i8, ptr %254, i64 8
  %256 = load i64, ptr %255, align 8
  %257 = icmp ugt i64 %256, %247
  br i1 %257, label %258, label %261

258:                                              ; preds = %252
  %259 = load i64, ptr %254, align 16
  %260 = icmp ugt i64 %250, %259
  br i1 %260, label %315, label %261

261:                                              ; preds = %258, %252
  %262 = add nuw nsw i64 %253, 1
  %263 = icmp eq i64 %262, %37
  br i1 %263, label %264, label %252, !llvm.loop !13

264:                                              ; preds = %261, %244
  %265 = getelementptr inbounds nuw i8, ptr %34, i64 56
  %266 = load i64, ptr %265, align 8
  %267 = icmp eq i64 %266, 0
  br i1 %267, label %286, label %268

268:                                              ; preds = %264
  %269 = icmp sgt i64 %38, 0
  br i1 %269, label %270, label %282

270:                                              ; preds = %268, %279
  %271 = phi i64 [ %280, %279 ], [ 0, %268 ]
  %272 = getelementptr inbounds nuw %struct.reach, ptr %36, i64 %271
  %273 = getelementptr inbounds nuw i8, ptr %272, i64 8
  %274 = load i64, ptr %273, align 8
  %275 = icmp ugt i64 %274, %247
  br i1 %275, label %276, label %279

276:                                              ; preds = %270
  %277 = load i64, ptr %272, align 8
  %278 = icmp ugt i64 %250, %277
  br i1 %278, label %315, label %279

279:                                              ; preds = %276, %270
  %280 = add nuw nsw i64 %271, 1
  %281 = icmp eq i64 %280, %38
  br i1 %281, label %282, label %270, !llvm.loop !13

282:                                              ; preds = %279, %268
  %283 = add nsw i64 %37, 1
  %284 = getelementptr inbounds %struct.reach, ptr %12, i64 %37
  store i64 %247, ptr %284, align 16
  %285 = getelementptr inbounds nuw i8, ptr %284, i64 8
  store i64 %250, ptr %285, align 8
  br label %290

286:                                              ; preds = %264
  %287 = getelementptr inbounds i8, ptr %36, i64 -16
  store i64 %247, ptr %287, align 8
  %288 = getelementptr inbounds i8, ptr %36, i64 -8
  store i64 %250, ptr %288, align 8
  %289 = add nsw i64 %38, 1
  br label %290

290:                                              ; preds = %286, %282, %241
  %291 = phi i64 [ %38, %241 ], [ %38, %282 ], [ %289, %286 ]
  %292 = phi i64 [ %37, %241 ], [ %283, %282 ], [ %37, %286 ]
  %293 = phi ptr [ %36, %241 ], [ %36, %282 ], [ %287, %286 ]
  %294 = ptrtoint ptr %35 to i64
  %295 = getelementptr inbounds nuw i64, ptr %3, i64 %39
  store i64 %294, ptr %295, align 8
  %296 = getelementptr inbounds nuw i8, ptr %34, i64 64
  %297 = load i64, ptr %296, align 8
  %298 = sub i64 %216, %297
  %299 = getelementptr inbounds nuw i8, ptr %35, i64 8
  store i64 %298, ptr %35, align 8
  %300 = load i64, ptr %296, align 8
  %301 = sub i64 %216, %300
  %302 = getelementptr inbounds nuw i8, ptr %35, i64 16
  store i64 %301, ptr %299, align 8
  %303 = shl i64 %117, 1
  %304 = icmp slt i64 %117, 0
  br i1 %304, label %316, label %305

305:                                              ; preds = %290
  %306 = call i64 @llvm.smax.i64(i64 %303, i64 0)
  br label %307

307:                                              ; preds = %305, %307
  %308 = phi i64 [ %313, %307 ], [ 0, %305 ]
  %309 = phi ptr [ %312, %307 ], [ %302, %305 ]
  %310 = getelementptr inbounds nuw i64, ptr %119, i64 %308
  %311 = load i64, ptr %310, align 8
  %312 = getelementptr inbounds nuw i8, ptr %309, i64 8
  store i64 %311, ptr %309, align 8
  %313 = add nuw nsw i64 %308, 1
  %314 = icmp eq i64 %308, %306
  br i1 %314, label %316, label %307, !llvm.loop !14

315:                                              ; preds = %206, %236, %115, %197, %185, %142, %153, %164, %170, %180, %223, %230, %258, %276, %151
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #5
  br label %329

316:                                              ; preds = %307, %290
  %317 = phi ptr [ %302, %290 ], [ %312, %307 ]
  %318 = getelementptr inbounds i64, ptr %119, i64 %303
  %319 = getelementptr inbounds nuw i8, ptr %318, i64 8
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #5
  br label %320

320:                                              ; preds = %110, %107, %316
  %321 = phi ptr [ %319, %316 ], [ %34, %107 ], [ %112, %110 ]
  %322 = phi ptr [ %317, %316 ], [ %35, %107 ], [ %35, %110 ]
  %323 = phi ptr [ %293, %316 ], [ %36, %107 ], [ %36, %110 ]
  %324 = phi i64 [ %292, %316 ], [ %37, %107 ], [ %37, %110 ]
  %325 = phi i64 [ %291, %316 ], [ %38, %107 ], [ %38, %110 ]
  %326 = add nuw nsw i64 %39, 1
  %327 = load i64, ptr %9, align 8
  %328 = icmp slt i64 %326, %327
  br i1 %328, label %33, label %329, !llvm.loop !15

329:                                              ; preds = %320, %104, %110, %95, %91, %5, %102, %315
  %330 = phi i32 [ 0, %315 ], [ 0, %102 ], [ 1, %5 ], [ 0, %91 ], [ 0, %95 ], [ 1, %320 ], [ 0, %104 ], [ 0, %110 ]
  ret i32 %330
}

; Function Attrs: nounwind
define internal fastcc i32 @start_one(ptr noundef nonnull readonly captures(none) %0, ptr noundef nonnull %1, ptr noundef nonnull %2, ptr noundef %3) unnamed_addr #0 {
  %5 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %6 = load i64, ptr %5, align 8
  %7 = add nsw i64 %6, 1
  %8 = alloca ptr, i64 %7, align 16
  %9 = icmp sgt i64 %6, 0
  br i1 %9, label %10, label %12

10:                                               ; preds = %4
  %11 = getelementptr inbounds nuw i8, ptr %1, i64 72
  br label %39

12:                                               ; preds = %53, %4
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %14 = load ptr, ptr %13, align 8
  %15 = load i64, ptr %1, align 8
  %16 = inttoptr i64 %15 to ptr
  %17 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %18 = load i64, ptr %17, align 8
  %19 = trunc i64 %18 to i32
  %20 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %21 = load i64, ptr %20, align 8
  %22 = trunc i64 %21 to i32
  %23 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %24 = load i64, ptr %23, align 8
  %25 = trunc i64 %24 to i32
  %26 = getelementptr inbounds nuw i8, ptr %1, i64 32
  %27 = load i64, ptr %26, align 8
  %28 = trunc i64 %27 to i32
  %29 = getelementptr inbounds nuw i8, ptr %1, i64 40
  %30 = load i64, ptr %29, align 8
  %31 = trunc i64 %30 to i32
  %32 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %33 = load i64, ptr %32, align 8
  %34 = trunc i64 %33 to i32
  %35 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %36 = load i64, ptr %35, align 8
  %37 = trunc i64 %36 to i32
  %38 = call i32 %14(ptr noundef %16, i32 noundef %19, i32 noundef %22, i32 noundef %25, i32 noundef %28, i32 noundef %31, i32 noundef %34, i32 noundef %37, ptr noundef %3, ptr noundef nonnull %8, ptr noundef null) #4
  ret i32 %38

39:                                               ; preds = %10, %53
  %40 = phi i64 [ %56, %53 ], [ 0, %10 ]
  %41 = phi ptr [ %57, %53 ], [ %11, %10 ]
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr inbounds nuw i8, ptr %41, i64 8
  switch i64 %42, label %50 [
    i64 2, label %53
    i64 0, label %44
  ]

44:                                               ; preds = %39
  %45 = load i64, ptr %43, align 8
  %46 = getelementptr inbounds i64, ptr %2, i64 %45
  %47 = load i64, ptr %46, align 8
  %48 = inttoptr i64 %47 to ptr
  %49 = getelementptr inbounds nuw i8, ptr %48, i64 8
  br label %53

50:                                               ; preds = %39
  %51 = load i64, ptr %43, align 8
  %52 = getelementptr inbounds i64, ptr %2, i64 %51
  br label %53

53:                                               ; preds = %39, %44, %50
  %54 = phi ptr [ %52, %50 ], [ %49, %44 ], [ %43, %39 ]
  %55 = getelementptr inbounds nuw ptr, ptr %8, i64 %40
  store ptr %54, ptr %55, align 8
  %56 = add nuw nsw i64 %40, 1
  %57 = getelementptr inbounds nuw i8, ptr %41, i64 16
  %58 = icmp eq i64 %56, %6
  br i1 %58, label %12, label %39, !llvm.loop !16
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #2

attributes #0 = { nounwind "no-builtins" "no-trapping-math"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { nobuiltin "no-builtins" }
attributes #4 = { nobuiltin nounwind "no-builtins" }
attributes #5 = { nounwind }

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
