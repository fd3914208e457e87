
%struct.param = type { i64, i64, ptr }
%struct.moment = type { i64, i64 }
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
  %21 = getelementptr inbounds nuw i8, ptr %7, i64 48
  %22 = load i64, ptr %21, align 8
  %23 = icmp eq i64 %22, 0
  br i1 %23, label %29, label %24

24:                                               ; preds = %20
  %25 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %26 = load ptr, ptr %25, align 8
  %27 = load i64, ptr %26, align 8
  %28 = add nsw i64 %27, 1
  store i64 %28, ptr %26, align 8
  br label %29

29:                                               ; preds = %24, %20
  %30 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %31 = load ptr, ptr %30, align 8
  br label %56

32:                                               ; preds = %17, %13
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %34 = load ptr, ptr %33, align 8
  br label %41

35:                                               ; preds = %10
  %36 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %37 = load ptr, ptr %36, align 8
  %38 = getelementptr inbounds nuw i8, ptr %7, i64 64
  %39 = load ptr, ptr %38, align 8
  %40 = icmp eq ptr %39, null
  br i1 %40, label %41, label %46

41:                                               ; preds = %32, %35
  %42 = phi ptr [ %34, %32 ], [ %37, %35 ]
  %43 = getelementptr inbounds nuw i8, ptr %7, i64 56
  %44 = load ptr, ptr %43, align 8
  %45 = tail call ptr %44(ptr noundef %42, ptr noundef %1, i64 noundef %2, ptr noundef %3) #4
  br label %56

46:                                               ; preds = %35
  %47 = getelementptr inbounds nuw ptr, ptr %1, i64 %8
  %48 = tail call ptr %39(ptr noundef %47, ptr noundef nonnull %3) #4
  %49 = icmp eq ptr %48, null
  br i1 %49, label %56, label %50

50:                                               ; preds = %46
  %51 = getelementptr inbounds nuw i8, ptr %7, i64 56
  %52 = load ptr, ptr %51, align 8
  %53 = tail call ptr %52(ptr noundef %37, ptr noundef %1, i64 noundef %2, ptr noundef nonnull %48) #4
  %54 = getelementptr inbounds nuw i8, ptr %7, i64 120
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
  %10 = getelementptr inbounds nuw i8, ptr %9, i64 80
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
  %21 = getelementptr inbounds nuw i8, ptr %9, i64 72
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
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %8 = load i64, ptr %7, align 8
  %9 = add nsw i64 %8, 1
  %10 = alloca i64, i64 %9, align 16
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %12 = load i64, ptr %11, align 8
  %13 = add nsw i64 %12, 1
  %14 = alloca i64, i64 %13, align 16
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %17 = load i64, ptr %16, align 8
  %18 = icmp sgt i64 %17, 0
  br i1 %18, label %19, label %123

19:                                               ; preds = %2
  %20 = load i64, ptr %15, align 8
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 56
  br label %23

23:                                               ; preds = %19, %116
  %24 = phi i64 [ 0, %19 ], [ %121, %116 ]
  %25 = phi i64 [ %20, %19 ], [ %120, %116 ]
  %26 = load ptr, ptr %21, align 8
  %27 = load i64, ptr %22, align 8
  %28 = mul nsw i64 %27, %25
  %29 = getelementptr inbounds i64, ptr %26, i64 %28
  %30 = getelementptr inbounds nuw i8, ptr %29, i64 24
  %31 = call fastcc i32 @fits(ptr noundef nonnull %0, ptr noundef nonnull %30, ptr noundef %1, ptr noundef %10, ptr noundef %14) #3
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %116, label %33

33:                                               ; preds = %23
  store i64 %25, ptr %15, align 8
  %34 = load ptr, ptr %0, align 8
  %35 = load i64, ptr %29, align 8
  %36 = icmp eq i64 %35, 0
  br i1 %36, label %71, label %37

37:                                               ; preds = %33
  %38 = getelementptr inbounds nuw i8, ptr %29, i64 16
  %39 = load i64, ptr %38, align 8
  %40 = add nsw i64 %39, 1
  store i64 %40, ptr %38, align 8
  %41 = and i64 %40, 63
  %42 = icmp eq i64 %41, 0
  br i1 %42, label %46, label %43

43:                                               ; preds = %37
  %44 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %45 = load ptr, ptr %44, align 8
  call void %45(ptr noundef nonnull %10) #4
  br label %123

46:                                               ; preds = %37
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #5
  %47 = getelementptr inbounds nuw i8, ptr %34, i64 136
  %48 = load ptr, ptr %47, align 8
  %49 = getelementptr inbounds nuw i8, ptr %34, i64 144
  %50 = load i64, ptr %49, align 8
  %51 = trunc i64 %50 to i32
  %52 = call i32 %48(i32 noundef %51, ptr noundef nonnull %6) #4
  %53 = load i64, ptr %6, align 8
  %54 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %55 = load i64, ptr %54, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  %56 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %57 = load ptr, ptr %56, align 8
  call void %57(ptr noundef nonnull %10) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #5
  %58 = load ptr, ptr %47, align 8
  %59 = load i64, ptr %49, align 8
  %60 = trunc i64 %59 to i32
  %61 = call i32 %58(i32 noundef %60, ptr noundef nonnull %5) #4
  %62 = load i64, ptr %5, align 8
  %63 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %64 = load i64, ptr %63, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #5
  %65 = sub i64 %62, %53
  %66 = mul i64 %65, 1000000000
  %67 = sub i64 %64, %55
  %68 = add i64 %67, %66
  %69 = icmp sgt i64 %68, 20000
  br i1 %69, label %70, label %123

70:                                               ; preds = %46
  store i64 0, ptr %29, align 8
  br label %123

71:                                               ; preds = %33
  %72 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %73 = load i64, ptr %72, align 8
  %74 = icmp eq i64 %73, 0
  %75 = getelementptr inbounds nuw i8, ptr %29, i64 8
  %76 = load i64, ptr %75, align 8
  %77 = icmp slt i64 %76, 8
  %78 = select i1 %74, i1 %77, i1 false
  %79 = zext i1 %78 to i64
  %80 = add nsw i64 %76, %79
  store i64 %80, ptr %75, align 8
  %81 = getelementptr inbounds nuw i8, ptr %34, i64 88
  %82 = load ptr, ptr %81, align 8
  %83 = call ptr %82() #4
  br i1 %78, label %84, label %110

84:                                               ; preds = %71
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #5
  %85 = getelementptr inbounds nuw i8, ptr %34, i64 136
  %86 = load ptr, ptr %85, align 8
  %87 = getelementptr inbounds nuw i8, ptr %34, i64 144
  %88 = load i64, ptr %87, align 8
  %89 = trunc i64 %88 to i32
  %90 = call i32 %86(i32 noundef %89, ptr noundef nonnull %4) #4
  %91 = load i64, ptr %4, align 8
  %92 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %93 = load i64, ptr %92, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #5
  %94 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %95 = load ptr, ptr %94, align 8
  call void %95(ptr noundef nonnull %10) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #5
  %96 = load ptr, ptr %85, align 8
  %97 = load i64, ptr %87, align 8
  %98 = trunc i64 %97 to i32
  %99 = call i32 %96(i32 noundef %98, ptr noundef nonnull %3) #4
  %100 = load i64, ptr %3, align 8
  %101 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %102 = load i64, ptr %101, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #5
  %103 = sub i64 %100, %91
  %104 = mul i64 %103, 1000000000
  %105 = sub i64 %102, %93
  %106 = add i64 %105, %104
  %107 = icmp slt i64 %106, 20000
  %108 = getelementptr inbounds nuw i8, ptr %34, i64 96
  %109 = load ptr, ptr %108, align 8
  call void %109(ptr noundef %83) #4
  br i1 %107, label %115, label %123

110:                                              ; preds = %71
  %111 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %112 = load ptr, ptr %111, align 8
  call void %112(ptr noundef nonnull %10) #4
  %113 = getelementptr inbounds nuw i8, ptr %34, i64 96
  %114 = load ptr, ptr %113, align 8
  call void %114(ptr noundef %83) #4
  br label %123

115:                                              ; preds = %84
  store i64 1, ptr %29, align 8
  br label %123

116:                                              ; preds = %23
  %117 = add nsw i64 %25, 1
  %118 = load i64, ptr %16, align 8
  %119 = icmp slt i64 %117, %118
  %120 = select i1 %119, i64 %117, i64 0
  %121 = add nuw nsw i64 %24, 1
  %122 = icmp slt i64 %121, %118
  br i1 %122, label %23, label %123, !llvm.loop !10

123:                                              ; preds = %116, %2, %43, %46, %70, %84, %110, %115
  %124 = phi i32 [ 1, %115 ], [ 1, %43 ], [ 1, %46 ], [ 1, %70 ], [ 1, %84 ], [ 1, %110 ], [ 0, %2 ], [ 0, %116 ]
  ret i32 %124
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
  %9 = getelementptr inbounds nuw i8, ptr %4, i64 128
  %10 = load ptr, ptr %9, align 8
  tail call void %10(ptr noundef %0) #4
  %11 = getelementptr inbounds nuw i8, ptr %4, i64 120
  %12 = load ptr, ptr %11, align 8
  tail call void %12(ptr noundef %6) #4
  %13 = load ptr, ptr %11, align 8
  tail call void %13(ptr noundef %8) #4
  ret void
}

; Function Attrs: nounwind
define internal fastcc range(i32 0, 2) i32 @fits(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef readonly captures(none) %2, ptr noundef nonnull captures(none) %3, ptr noundef nonnull %4) unnamed_addr #0 {
  %6 = alloca i32, align 4
  %7 = load ptr, ptr %0, align 8
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %9 = load i64, ptr %8, align 8
  %10 = add nsw i64 %9, 1
  %11 = alloca %struct.reach, i64 %10, align 16
  %12 = icmp slt i64 %9, 1
  br i1 %12, label %231, label %13

13:                                               ; preds = %5
  %14 = getelementptr inbounds nuw %struct.reach, ptr %11, i64 %9
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %16 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %17 = getelementptr inbounds nuw i8, ptr %7, i64 112
  %18 = getelementptr inbounds nuw i8, ptr %7, i64 32
  %19 = getelementptr inbounds nuw i8, ptr %7, i64 40
  %20 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %21 = getelementptr inbounds nuw i8, ptr %7, i64 104
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 24
  br label %23

23:                                               ; preds = %13, %222
  %24 = phi ptr [ %1, %13 ], [ %227, %222 ]
  %25 = phi ptr [ %4, %13 ], [ %226, %222 ]
  %26 = phi ptr [ %14, %13 ], [ %225, %222 ]
  %27 = phi i64 [ 0, %13 ], [ %224, %222 ]
  %28 = phi i64 [ 0, %13 ], [ %223, %222 ]
  %29 = phi i64 [ 0, %13 ], [ %228, %222 ]
  %30 = getelementptr inbounds nuw %struct.param, ptr %15, i64 %29
  %31 = load i64, ptr %30, align 8
  %32 = icmp eq i64 %31, 0
  %33 = getelementptr inbounds nuw ptr, ptr %2, i64 %29
  %34 = load ptr, ptr %33, align 8
  br i1 %32, label %92, label %35

35:                                               ; preds = %23
  %36 = getelementptr inbounds nuw i64, ptr %3, i64 %29
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #5
  store i32 0, ptr %6, align 4
  switch i64 %31, label %62 [
    i64 5, label %37
    i64 3, label %43
    i64 4, label %43
  ]

37:                                               ; preds = %35
  %38 = load ptr, ptr %18, align 8
  %39 = icmp eq ptr %34, %38
  %40 = zext i1 %39 to i64
  store i64 %40, ptr %36, align 8
  %41 = load ptr, ptr %18, align 8
  %42 = icmp eq ptr %34, %41
  br i1 %42, label %80, label %81

43:                                               ; preds = %35, %35
  %44 = getelementptr inbounds nuw i8, ptr %34, i64 8
  %45 = load ptr, ptr %44, align 8
  %46 = load ptr, ptr %16, align 8
  %47 = icmp eq ptr %45, %46
  br i1 %47, label %48, label %79

48:                                               ; preds = %43
  %49 = load ptr, ptr %17, align 8
  %50 = call double %49(ptr noundef nonnull %34) #4
  %51 = load i64, ptr %30, align 8
  %52 = icmp eq i64 %51, 3
  %53 = fptrunc double %50 to float
  %54 = bitcast float %53 to i32
  %55 = bitcast double %50 to i64
  %56 = trunc i64 %55 to i32
  %57 = lshr i64 %55, 32
  %58 = trunc nuw i64 %57 to i32
  %59 = select i1 %52, i32 %54, i32 %56
  %60 = select i1 %52, i32 0, i32 %58
  store i32 %59, ptr %36, align 8
  %61 = getelementptr inbounds nuw i8, ptr %36, i64 4
  store i32 %60, ptr %61, align 4
  br label %80

62:                                               ; preds = %35
  %63 = getelementptr inbounds nuw i8, ptr %34, i64 8
  %64 = load ptr, ptr %63, align 8
  %65 = load ptr, ptr %20, align 8
  %66 = icmp eq ptr %64, %65
  br i1 %66, label %67, label %79

67:                                               ; preds = %62
  %68 = load ptr, ptr %21, align 8
  %69 = call i64 %68(ptr noundef nonnull %34, ptr noundef nonnull %6) #4
  store i64 %69, ptr %36, align 8
  %70 = load i32, ptr %6, align 4
  %71 = icmp eq i32 %70, 0
  br i1 %71, label %72, label %79

72:                                               ; preds = %67
  %73 = getelementptr inbounds nuw i8, ptr %30, i64 8
  %74 = load i64, ptr %73, align 8
  %75 = sub nsw i64 64, %74
  %76 = shl i64 %69, %75
  %77 = ashr exact i64 %76, %75
  %78 = icmp eq i64 %69, %77
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %78, label %84, label %231

79:                                               ; preds = %62, %43, %67
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br label %231

80:                                               ; preds = %37, %48
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br label %84

81:                                               ; preds = %37
  %82 = load ptr, ptr %19, align 8
  %83 = icmp eq ptr %34, %82
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %83, label %84, label %231

84:                                               ; preds = %72, %80, %81
  %85 = load i64, ptr %30, align 8
  %86 = icmp eq i64 %85, 1
  br i1 %86, label %87, label %222

87:                                               ; preds = %84
  %88 = load i64, ptr %36, align 8
  %89 = getelementptr inbounds nuw i8, ptr %24, i64 8
  %90 = load i64, ptr %24, align 8
  %91 = icmp eq i64 %88, %90
  br i1 %91, label %222, label %231

92:                                               ; preds = %23
  %93 = getelementptr inbounds nuw i8, ptr %30, i64 8
  %94 = load i64, ptr %93, align 8
  %95 = getelementptr inbounds nuw i8, ptr %24, i64 48
  %96 = getelementptr inbounds i64, ptr %95, i64 %94
  %97 = getelementptr inbounds nuw i8, ptr %34, i64 8
  %98 = load ptr, ptr %97, align 8
  %99 = load ptr, ptr %7, align 8
  %100 = icmp eq ptr %98, %99
  br i1 %100, label %101, label %231

101:                                              ; preds = %92
  %102 = getelementptr inbounds nuw i8, ptr %34, i64 56
  %103 = load i64, ptr %102, align 8
  %104 = load i64, ptr %24, align 8
  %105 = icmp eq i64 %103, %104
  br i1 %105, label %106, label %231

106:                                              ; preds = %101
  %107 = getelementptr inbounds nuw i8, ptr %34, i64 24
  %108 = load i32, ptr %107, align 8
  %109 = sext i32 %108 to i64
  %110 = icmp eq i64 %94, %109
  br i1 %110, label %111, label %231

111:                                              ; preds = %106
  %112 = getelementptr inbounds nuw i8, ptr %34, i64 32
  %113 = getelementptr inbounds nuw i8, ptr %34, i64 40
  %114 = call i64 @llvm.smax.i64(i64 %94, i64 0)
  br label %115

115:                                              ; preds = %111, %126
  %116 = phi i64 [ %122, %126 ], [ 0, %111 ]
  %117 = icmp eq i64 %116, %114
  br i1 %117, label %133, label %118

118:                                              ; preds = %115
  %119 = load ptr, ptr %112, align 8
  %120 = getelementptr inbounds nuw i64, ptr %119, i64 %116
  %121 = load i64, ptr %120, align 8
  %122 = add nuw i64 %116, 1
  %123 = getelementptr inbounds nuw i64, ptr %96, i64 %122
  %124 = load i64, ptr %123, align 8
  %125 = icmp eq i64 %121, %124
  br i1 %125, label %126, label %231

126:                                              ; preds = %118
  %127 = load ptr, ptr %113, align 8
  %128 = getelementptr inbounds nuw i64, ptr %127, i64 %116
  %129 = load i64, ptr %128, align 8
  %130 = getelementptr inbounds nuw i64, ptr %95, i64 %116
  %131 = load i64, ptr %130, align 8
  %132 = icmp eq i64 %129, %131
  br i1 %132, label %115, label %231, !llvm.loop !11

133:                                              ; preds = %115
  %134 = getelementptr inbounds nuw i8, ptr %34, i64 16
  %135 = load i64, ptr %134, align 8
  %136 = getelementptr inbounds nuw i8, ptr %24, i64 8
  %137 = load i64, ptr %136, align 8
  %138 = and i64 %137, %135
  %139 = icmp eq i64 %138, 0
  br i1 %139, label %140, label %231

140:                                              ; preds = %133
  %141 = getelementptr inbounds nuw i8, ptr %24, i64 16
  %142 = load i64, ptr %141, align 8
  %143 = icmp eq i64 %142, 0
  br i1 %143, label %149, label %144

144:                                              ; preds = %140
  %145 = getelementptr inbounds nuw i8, ptr %34, i64 64
  %146 = load i32, ptr %145, align 8
  %147 = and i32 %146, -2147482624
  %148 = icmp eq i32 %147, 1024
  br i1 %148, label %149, label %231

149:                                              ; preds = %144, %140
  %150 = load i64, ptr %22, align 8
  %151 = icmp eq i64 %150, 0
  br i1 %151, label %195, label %152

152:                                              ; preds = %149
  %153 = getelementptr inbounds nuw i8, ptr %24, i64 32
  %154 = load i64, ptr %153, align 8
  %155 = add i64 %154, %135
  %156 = getelementptr inbounds nuw i8, ptr %24, i64 40
  %157 = load i64, ptr %156, align 8
  %158 = add i64 %157, %135
  %159 = icmp sgt i64 %27, 0
  br i1 %159, label %160, label %172

160:                                              ; preds = %152, %169
  %161 = phi i64 [ %170, %169 ], [ 0, %152 ]
  %162 = getelementptr inbounds nuw %struct.reach, ptr %11, i64 %161
  %163 = getelementptr inbounds nuw i8, ptr %162, i64 8
  %164 = load i64, ptr %163, align 8
  %165 = icmp ugt i64 %164, %155
  br i1 %165, label %166, label %169

166:                                              ; preds = %160
  %167 = load i64, ptr %162, align 16
  %168 = icmp ugt i64 %158, %167
  br i1 %168, label %231, label %169

169:                                              ; preds = %166, %160
  %170 = add nuw nsw i64 %161, 1
  %171 = icmp eq i64 %170, %27
  br i1 %171, label %172, label %160, !llvm.loop !12

172:                                              ; preds = %169, %152
  br i1 %143, label %191, label %173

173:                                              ; preds = %172
  %174 = icmp sgt i64 %28, 0
  br i1 %174, label %175, label %187

175:                                              ; preds = %173, %184
  %176 = phi i64 [ %185, %184 ], [ 0, %173 ]
  %177 = getelementptr inbounds nuw %struct.reach, ptr %26, i64 %176
  %178 = getelementptr inbounds nuw i8, ptr %177, i64 8
  %179 = load i64, ptr %178, align 8
  %180 = icmp ugt i64 %179, %155
  br i1 %180, label %181, label %184

181:                                              ; preds = %175
  %182 = load i64, ptr %177, align 8
  %183 = icmp ugt i64 %158, %182
  br i1 %183, label %231, label %184

184:                                              ; preds = %181, %175
  %185 = add nuw nsw i64 %176, 1
  %186 = icmp eq i64 %185, %28
  br i1 %186, label %187, label %175, !llvm.loop !12

187:                                              ; preds = %184, %173
  %188 = add nsw i64 %27, 1
  %189 = getelementptr inbounds %struct.reach, ptr %11, i64 %27
  store i64 %155, ptr %189, align 16
  %190 = getelementptr inbounds nuw i8, ptr %189, i64 8
  store i64 %158, ptr %190, align 8
  br label %195

191:                                              ; preds = %172
  %192 = getelementptr inbounds i8, ptr %26, i64 -16
  store i64 %155, ptr %192, align 8
  %193 = getelementptr inbounds i8, ptr %26, i64 -8
  store i64 %158, ptr %193, align 8
  %194 = add nsw i64 %28, 1
  br label %195

195:                                              ; preds = %191, %187, %149
  %196 = phi i64 [ %28, %149 ], [ %28, %187 ], [ %194, %191 ]
  %197 = phi i64 [ %27, %149 ], [ %188, %187 ], [ %27, %191 ]
  %198 = phi ptr [ %26, %149 ], [ %26, %187 ], [ %192, %191 ]
  %199 = ptrtoint ptr %25 to i64
  %200 = getelementptr inbounds nuw i64, ptr %3, i64 %29
  store i64 %199, ptr %200, align 8
  %201 = getelementptr inbounds nuw i8, ptr %24, i64 24
  %202 = load i64, ptr %201, align 8
  %203 = sub i64 %135, %202
  %204 = getelementptr inbounds nuw i8, ptr %25, i64 8
  store i64 %203, ptr %25, align 8
  %205 = load i64, ptr %201, align 8
  %206 = sub i64 %135, %205
  %207 = getelementptr inbounds nuw i8, ptr %25, i64 16
  store i64 %206, ptr %204, align 8
  %208 = shl nsw i64 %94, 1
  %209 = icmp slt i64 %94, 0
  br i1 %209, label %210, label %214

210:                                              ; preds = %214, %195
  %211 = phi ptr [ %207, %195 ], [ %219, %214 ]
  %212 = getelementptr inbounds i64, ptr %96, i64 %208
  %213 = getelementptr inbounds nuw i8, ptr %212, i64 8
  br label %222

214:                                              ; preds = %195, %214
  %215 = phi i64 [ %220, %214 ], [ 0, %195 ]
  %216 = phi ptr [ %219, %214 ], [ %207, %195 ]
  %217 = getelementptr inbounds nuw i64, ptr %96, i64 %215
  %218 = load i64, ptr %217, align 8
  %219 = getelementptr inbounds nuw i8, ptr %216, i64 8
  store i64 %218, ptr %216, align 8
  %220 = add nuw nsw i64 %215, 1
  %221 = icmp eq i64 %215, %208
  br i1 %221, label %210, label %214, !llvm.loop !13

222:                                              ; preds = %87, %84, %210
  %223 = phi i64 [ %28, %84 ], [ %196, %210 ], [ %28, %87 ]
  %224 = phi i64 [ %27, %84 ], [ %197, %210 ], [ %27, %87 ]
  %225 = phi ptr [ %26, %84 ], [ %198, %210 ], [ %26, %87 ]
  %226 = phi ptr [ %25, %84 ], [ %211, %210 ], [ %25, %87 ]
  %227 = phi ptr [ %24, %84 ], [ %213, %210 ], [ %89, %87 ]
  %228 = add nuw nsw i64 %29, 1
  %229 = load i64, ptr %8, align 8
  %230 = icmp slt i64 %228, %229
  br i1 %230, label %23, label %231, !llvm.loop !14

231:                                              ; preds = %222, %81, %87, %144, %92, %106, %101, %133, %72, %126, %118, %166, %181, %5, %79
  %232 = phi i32 [ 1, %5 ], [ 0, %181 ], [ 0, %126 ], [ 0, %79 ], [ 0, %166 ], [ 0, %118 ], [ 0, %133 ], [ 1, %222 ], [ 0, %81 ], [ 0, %87 ], [ 0, %144 ], [ 0, %92 ], [ 0, %106 ], [ 0, %72 ], [ 0, %101 ]
  ret i32 %232
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
