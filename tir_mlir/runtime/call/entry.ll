
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
  %47 = getelementptr inbounds nuw i8, ptr %34, i64 144
  %48 = load ptr, ptr %47, align 8
  %49 = getelementptr inbounds nuw i8, ptr %34, i64 152
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
  %81 = getelementptr inbounds nuw i8, ptr %34, i64 80
  %82 = load ptr, ptr %81, align 8
  %83 = call ptr %82() #4
  br i1 %78, label %84, label %110

84:                                               ; preds = %71
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #5
  %85 = getelementptr inbounds nuw i8, ptr %34, i64 144
  %86 = load ptr, ptr %85, align 8
  %87 = getelementptr inbounds nuw i8, ptr %34, i64 152
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
  %108 = getelementptr inbounds nuw i8, ptr %34, i64 88
  %109 = load ptr, ptr %108, align 8
  call void %109(ptr noundef %83) #4
  br i1 %107, label %115, label %123

110:                                              ; preds = %71
  %111 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %112 = load ptr, ptr %111, align 8
  call void %112(ptr noundef nonnull %10) #4
  %113 = getelementptr inbounds nuw i8, ptr %34, i64 88
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
  br i1 %13, label %317, label %14

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
  %27 = getelementptr inbounds nuw i8, ptr %7, i64 20
  %28 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %29 = getelementptr inbounds nuw i8, ptr %7, i64 32
  %30 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 24
  br label %32

32:                                               ; preds = %14, %308
  %33 = phi ptr [ %1, %14 ], [ %309, %308 ]
  %34 = phi ptr [ %4, %14 ], [ %310, %308 ]
  %35 = phi ptr [ %15, %14 ], [ %311, %308 ]
  %36 = phi i64 [ 0, %14 ], [ %312, %308 ]
  %37 = phi i64 [ 0, %14 ], [ %313, %308 ]
  %38 = phi i64 [ 0, %14 ], [ %314, %308 ]
  %39 = getelementptr inbounds nuw %struct.param, ptr %16, i64 %38
  %40 = load i64, ptr %39, align 8
  %41 = icmp eq i64 %40, 0
  br i1 %41, label %114, label %42

42:                                               ; preds = %32
  %43 = getelementptr inbounds nuw ptr, ptr %2, i64 %38
  %44 = load ptr, ptr %43, align 8
  %45 = getelementptr inbounds nuw i64, ptr %3, i64 %38
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #5
  store i32 0, ptr %6, align 4
  switch i64 %40, label %71 [
    i64 5, label %46
    i64 3, label %52
    i64 4, label %52
  ]

46:                                               ; preds = %42
  %47 = load ptr, ptr %19, align 8
  %48 = icmp eq ptr %44, %47
  %49 = zext i1 %48 to i64
  store i64 %49, ptr %45, align 8
  %50 = load ptr, ptr %19, align 8
  %51 = icmp eq ptr %44, %50
  br i1 %51, label %102, label %103

52:                                               ; preds = %42, %42
  %53 = getelementptr inbounds nuw i8, ptr %44, i64 8
  %54 = load ptr, ptr %53, align 8
  %55 = load ptr, ptr %17, align 8
  %56 = icmp eq ptr %54, %55
  br i1 %56, label %57, label %101

57:                                               ; preds = %52
  %58 = load ptr, ptr %18, align 8
  %59 = call double %58(ptr noundef nonnull %44) #4
  %60 = load i64, ptr %39, align 8
  %61 = icmp eq i64 %60, 3
  %62 = fptrunc double %59 to float
  %63 = bitcast float %62 to i32
  %64 = bitcast double %59 to i64
  %65 = trunc i64 %64 to i32
  %66 = lshr i64 %64, 32
  %67 = trunc nuw i64 %66 to i32
  %68 = select i1 %61, i32 %63, i32 %65
  %69 = select i1 %61, i32 0, i32 %67
  store i32 %68, ptr %45, align 8
  %70 = getelementptr inbounds nuw i8, ptr %45, i64 4
  store i32 %69, ptr %70, align 4
  br label %102

71:                                               ; preds = %42
  %72 = getelementptr inbounds nuw i8, ptr %44, i64 8
  %73 = load ptr, ptr %72, align 8
  %74 = load ptr, ptr %8, align 8
  %75 = icmp eq ptr %73, %74
  br i1 %75, label %76, label %101

76:                                               ; preds = %71
  %77 = load ptr, ptr %21, align 8
  %78 = call i64 %77(ptr noundef nonnull %44, ptr noundef nonnull %6) #4
  store i64 %78, ptr %45, align 8
  %79 = load i64, ptr %39, align 8
  %80 = icmp eq i64 %79, 6
  %81 = load i32, ptr %6, align 4
  %82 = icmp eq i32 %81, 0
  br i1 %80, label %83, label %93

83:                                               ; preds = %76
  %84 = icmp sgt i64 %78, -1
  %85 = select i1 %82, i1 %84, i1 false
  br i1 %85, label %86, label %101

86:                                               ; preds = %83
  %87 = getelementptr inbounds nuw i8, ptr %39, i64 8
  %88 = load i64, ptr %87, align 8
  %89 = icmp eq i64 %88, 64
  br i1 %89, label %102, label %90

90:                                               ; preds = %86
  %91 = lshr i64 %78, %88
  %92 = icmp eq i64 %91, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %92, label %106, label %317

93:                                               ; preds = %76
  br i1 %82, label %94, label %101

94:                                               ; preds = %93
  %95 = getelementptr inbounds nuw i8, ptr %39, i64 8
  %96 = load i64, ptr %95, align 8
  %97 = sub nsw i64 64, %96
  %98 = shl i64 %78, %97
  %99 = ashr exact i64 %98, %97
  %100 = icmp eq i64 %78, %99
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %100, label %106, label %317

101:                                              ; preds = %71, %52, %83, %93
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br label %317

102:                                              ; preds = %57, %86, %46
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br label %106

103:                                              ; preds = %46
  %104 = load ptr, ptr %20, align 8
  %105 = icmp eq ptr %44, %104
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %105, label %106, label %317

106:                                              ; preds = %90, %94, %102, %103
  %107 = load i64, ptr %39, align 8
  %108 = icmp eq i64 %107, 1
  br i1 %108, label %109, label %308

109:                                              ; preds = %106
  %110 = load i64, ptr %45, align 8
  %111 = getelementptr inbounds nuw i8, ptr %33, i64 8
  %112 = load i64, ptr %33, align 8
  %113 = icmp eq i64 %110, %112
  br i1 %113, label %308, label %317

114:                                              ; preds = %32
  %115 = getelementptr inbounds nuw i8, ptr %39, i64 8
  %116 = load i64, ptr %115, align 8
  %117 = getelementptr inbounds nuw i8, ptr %33, i64 72
  %118 = getelementptr inbounds i64, ptr %117, i64 %116
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #5
  %119 = getelementptr inbounds nuw ptr, ptr %2, i64 %38
  %120 = load ptr, ptr %119, align 8
  %121 = getelementptr inbounds nuw i8, ptr %120, i64 8
  %122 = load ptr, ptr %121, align 8
  %123 = load ptr, ptr %33, align 8
  %124 = icmp eq ptr %122, %123
  br i1 %124, label %125, label %303

125:                                              ; preds = %114
  %126 = getelementptr inbounds nuw i8, ptr %33, i64 8
  %127 = load ptr, ptr %126, align 8
  %128 = icmp eq ptr %127, null
  br i1 %128, label %173, label %129

129:                                              ; preds = %125
  %130 = getelementptr inbounds nuw i8, ptr %33, i64 16
  %131 = load ptr, ptr %130, align 8
  %132 = icmp eq ptr %131, null
  br i1 %132, label %146, label %133

133:                                              ; preds = %129
  %134 = load ptr, ptr %22, align 8
  %135 = call ptr %134(ptr noundef nonnull %120, ptr noundef nonnull %131) #4
  %136 = icmp eq ptr %135, null
  br i1 %136, label %137, label %139

137:                                              ; preds = %133
  %138 = load ptr, ptr %24, align 8
  call void %138() #4
  br label %141

139:                                              ; preds = %133
  %140 = load ptr, ptr %23, align 8
  call void %140(ptr noundef nonnull %135) #4
  br label %141

141:                                              ; preds = %139, %137
  %142 = load ptr, ptr %20, align 8
  %143 = icmp eq ptr %135, %142
  br i1 %143, label %144, label %303

144:                                              ; preds = %141
  %145 = load ptr, ptr %126, align 8
  br label %146

146:                                              ; preds = %144, %129
  %147 = phi ptr [ %145, %144 ], [ %127, %129 ]
  %148 = call i32 %147(ptr noundef nonnull %120, ptr noundef nonnull %7) #4
  %149 = icmp eq i32 %148, 0
  br i1 %149, label %152, label %150

150:                                              ; preds = %146
  %151 = load ptr, ptr %24, align 8
  call void %151() #4
  br label %303

152:                                              ; preds = %146
  %153 = load i64, ptr %25, align 8
  %154 = load i64, ptr %7, align 8
  %155 = add i64 %154, %153
  store i64 %155, ptr %7, align 8
  %156 = load i32, ptr %26, align 8
  %157 = icmp eq i32 %156, 1
  br i1 %157, label %158, label %303

158:                                              ; preds = %152
  %159 = load i32, ptr %27, align 4
  %160 = zext i32 %159 to i64
  %161 = getelementptr inbounds nuw i8, ptr %33, i64 24
  %162 = load i64, ptr %161, align 8
  %163 = icmp eq i64 %162, %160
  %164 = load i32, ptr %28, align 8
  %165 = sext i32 %164 to i64
  %166 = icmp eq i64 %116, %165
  %167 = select i1 %163, i1 %166, i1 false
  br i1 %167, label %168, label %303

168:                                              ; preds = %158
  %169 = load ptr, ptr %29, align 8
  %170 = icmp ne ptr %169, null
  %171 = icmp eq i64 %116, 0
  %172 = or i1 %171, %170
  br i1 %172, label %199, label %303

173:                                              ; preds = %125
  %174 = getelementptr inbounds nuw i8, ptr %120, i64 16
  %175 = load i64, ptr %174, align 8
  store i64 %175, ptr %7, align 8
  %176 = getelementptr inbounds nuw i8, ptr %120, i64 32
  %177 = load ptr, ptr %176, align 8
  store ptr %177, ptr %30, align 8
  %178 = getelementptr inbounds nuw i8, ptr %120, i64 40
  %179 = load ptr, ptr %178, align 8
  store ptr %179, ptr %29, align 8
  %180 = getelementptr inbounds nuw i8, ptr %120, i64 56
  %181 = load i64, ptr %180, align 8
  %182 = getelementptr inbounds nuw i8, ptr %33, i64 24
  %183 = load i64, ptr %182, align 8
  %184 = icmp eq i64 %181, %183
  br i1 %184, label %185, label %303

185:                                              ; preds = %173
  %186 = getelementptr inbounds nuw i8, ptr %120, i64 24
  %187 = load i32, ptr %186, align 8
  %188 = sext i32 %187 to i64
  %189 = icmp eq i64 %116, %188
  br i1 %189, label %190, label %303

190:                                              ; preds = %185
  %191 = getelementptr inbounds nuw i8, ptr %33, i64 40
  %192 = load i64, ptr %191, align 8
  %193 = icmp eq i64 %192, 0
  br i1 %193, label %203, label %194

194:                                              ; preds = %190
  %195 = getelementptr inbounds nuw i8, ptr %120, i64 64
  %196 = load i32, ptr %195, align 8
  %197 = and i32 %196, -2147482624
  %198 = icmp eq i32 %197, 1024
  br i1 %198, label %199, label %303

199:                                              ; preds = %168, %194
  %200 = phi ptr [ %169, %168 ], [ %179, %194 ]
  %201 = phi i64 [ %155, %168 ], [ %175, %194 ]
  %202 = load ptr, ptr %30, align 8
  br label %203

203:                                              ; preds = %199, %190
  %204 = phi i64 [ %201, %199 ], [ %175, %190 ]
  %205 = phi ptr [ %200, %199 ], [ %179, %190 ]
  %206 = phi ptr [ %202, %199 ], [ %177, %190 ]
  %207 = call i64 @llvm.smax.i64(i64 %116, i64 0)
  br label %208

208:                                              ; preds = %203, %218
  %209 = phi i64 [ %214, %218 ], [ 0, %203 ]
  %210 = icmp eq i64 %209, %207
  br i1 %210, label %224, label %211

211:                                              ; preds = %208
  %212 = getelementptr inbounds nuw i64, ptr %206, i64 %209
  %213 = load i64, ptr %212, align 8
  %214 = add nuw i64 %209, 1
  %215 = getelementptr inbounds nuw i64, ptr %118, i64 %214
  %216 = load i64, ptr %215, align 8
  %217 = icmp eq i64 %213, %216
  br i1 %217, label %218, label %303

218:                                              ; preds = %211
  %219 = getelementptr inbounds nuw i64, ptr %205, i64 %209
  %220 = load i64, ptr %219, align 8
  %221 = getelementptr inbounds nuw i64, ptr %117, i64 %209
  %222 = load i64, ptr %221, align 8
  %223 = icmp eq i64 %220, %222
  br i1 %223, label %208, label %303, !llvm.loop !11

224:                                              ; preds = %208
  %225 = getelementptr inbounds nuw i8, ptr %33, i64 32
  %226 = load i64, ptr %225, align 8
  %227 = and i64 %226, %204
  %228 = icmp eq i64 %227, 0
  br i1 %228, label %229, label %303

229:                                              ; preds = %224
  %230 = load i64, ptr %31, align 8
  %231 = icmp eq i64 %230, 0
  br i1 %231, label %278, label %232

232:                                              ; preds = %229
  %233 = getelementptr inbounds nuw i8, ptr %33, i64 56
  %234 = load i64, ptr %233, align 8
  %235 = add i64 %234, %204
  %236 = getelementptr inbounds nuw i8, ptr %33, i64 64
  %237 = load i64, ptr %236, align 8
  %238 = add i64 %237, %204
  %239 = icmp sgt i64 %36, 0
  br i1 %239, label %240, label %252

240:                                              ; preds = %232, %249
  %241 = phi i64 [ %250, %249 ], [ 0, %232 ]
  %242 = getelementptr inbounds nuw %struct.reach, ptr %12, i64 %241
  %243 = getelementptr inbounds nuw i8, ptr %242, i64 8
  %244 = load i64, ptr %243, align 8
  %245 = icmp ugt i64 %244, %235
  br i1 %245, label %246, label %249

246:                                              ; preds = %240
  %247 = load i64, ptr %242, align 16
  %248 = icmp ugt i64 %238, %247
  br i1 %248, label %303, label %249

249:                                              ; preds = %246, %240
  %250 = add nuw nsw i64 %241, 1
  %251 = icmp eq i64 %250, %36
  br i1 %251, label %252, label %240, !llvm.loop !12

252:                                              ; preds = %249, %232
  %253 = getelementptr inbounds nuw i8, ptr %33, i64 40
  %254 = load i64, ptr %253, align 8
  %255 = icmp eq i64 %254, 0
  br i1 %255, label %274, label %256

256:                                              ; preds = %252
  %257 = icmp sgt i64 %37, 0
  br i1 %257, label %258, label %270

258:                                              ; preds = %256, %267
  %259 = phi i64 [ %268, %267 ], [ 0, %256 ]
  %260 = getelementptr inbounds nuw %struct.reach, ptr %35, i64 %259
  %261 = getelementptr inbounds nuw i8, ptr %260, i64 8
  %262 = load i64, ptr %261, align 8
  %263 = icmp ugt i64 %262, %235
  br i1 %263, label %264, label %267

264:                                              ; preds = %258
  %265 = load i64, ptr %260, align 8
  %266 = icmp ugt i64 %238, %265
  br i1 %266, label %303, label %267

267:                                              ; preds = %264, %258
  %268 = add nuw nsw i64 %259, 1
  %269 = icmp eq i64 %268, %37
  br i1 %269, label %270, label %258, !llvm.loop !12

270:                                              ; preds = %267, %256
  %271 = add nsw i64 %36, 1
  %272 = getelementptr inbounds %struct.reach, ptr %12, i64 %36
  store i64 %235, ptr %272, align 16
  %273 = getelementptr inbounds nuw i8, ptr %272, i64 8
  store i64 %238, ptr %273, align 8
  br label %278

274:                                              ; preds = %252
  %275 = getelementptr inbounds i8, ptr %35, i64 -16
  store i64 %235, ptr %275, align 8
  %276 = getelementptr inbounds i8, ptr %35, i64 -8
  store i64 %238, ptr %276, align 8
  %277 = add nsw i64 %37, 1
  br label %278

278:                                              ; preds = %274, %270, %229
  %279 = phi i64 [ %37, %229 ], [ %37, %270 ], [ %277, %274 ]
  %280 = phi i64 [ %36, %229 ], [ %271, %270 ], [ %36, %274 ]
  %281 = phi ptr [ %35, %229 ], [ %35, %270 ], [ %275, %274 ]
  %282 = ptrtoint ptr %34 to i64
  %283 = getelementptr inbounds nuw i64, ptr %3, i64 %38
  store i64 %282, ptr %283, align 8
  %284 = getelementptr inbounds nuw i8, ptr %33, i64 48
  %285 = load i64, ptr %284, align 8
  %286 = sub i64 %204, %285
  %287 = getelementptr inbounds nuw i8, ptr %34, i64 8
  store i64 %286, ptr %34, align 8
  %288 = load i64, ptr %284, align 8
  %289 = sub i64 %204, %288
  %290 = getelementptr inbounds nuw i8, ptr %34, i64 16
  store i64 %289, ptr %287, align 8
  %291 = shl i64 %116, 1
  %292 = icmp slt i64 %116, 0
  br i1 %292, label %304, label %293

293:                                              ; preds = %278
  %294 = call i64 @llvm.smax.i64(i64 %291, i64 0)
  br label %295

295:                                              ; preds = %293, %295
  %296 = phi i64 [ %301, %295 ], [ 0, %293 ]
  %297 = phi ptr [ %300, %295 ], [ %290, %293 ]
  %298 = getelementptr inbounds nuw i64, ptr %118, i64 %296
  %299 = load i64, ptr %298, align 8
  %300 = getelementptr inbounds nuw i8, ptr %297, i64 8
  store i64 %299, ptr %297, align 8
  %301 = add nuw nsw i64 %296, 1
  %302 = icmp eq i64 %296, %294
  br i1 %302, label %304, label %295, !llvm.loop !13

303:                                              ; preds = %194, %224, %114, %185, %173, %141, %158, %152, %168, %211, %218, %246, %264, %150
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #5
  br label %317

304:                                              ; preds = %295, %278
  %305 = phi ptr [ %290, %278 ], [ %300, %295 ]
  %306 = getelementptr inbounds i64, ptr %118, i64 %291
  %307 = getelementptr inbounds nuw i8, ptr %306, i64 8
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #5
  br label %308

308:                                              ; preds = %109, %106, %304
  %309 = phi ptr [ %307, %304 ], [ %33, %106 ], [ %111, %109 ]
  %310 = phi ptr [ %305, %304 ], [ %34, %106 ], [ %34, %109 ]
  %311 = phi ptr [ %281, %304 ], [ %35, %106 ], [ %35, %109 ]
  %312 = phi i64 [ %280, %304 ], [ %36, %106 ], [ %36, %109 ]
  %313 = phi i64 [ %279, %304 ], [ %37, %106 ], [ %37, %109 ]
  %314 = add nuw nsw i64 %38, 1
  %315 = load i64, ptr %9, align 8
  %316 = icmp slt i64 %314, %315
  br i1 %316, label %32, label %317, !llvm.loop !14

317:                                              ; preds = %308, %103, %109, %94, %90, %5, %101, %303
  %318 = phi i32 [ 0, %303 ], [ 0, %101 ], [ 1, %5 ], [ 0, %90 ], [ 0, %94 ], [ 1, %308 ], [ 0, %103 ], [ 0, %109 ]
  ret i32 %318
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
