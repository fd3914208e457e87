
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
  br i1 %13, label %304, label %14

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

32:                                               ; preds = %14, %295
  %33 = phi ptr [ %1, %14 ], [ %296, %295 ]
  %34 = phi ptr [ %4, %14 ], [ %297, %295 ]
  %35 = phi ptr [ %15, %14 ], [ %298, %295 ]
  %36 = phi i64 [ 0, %14 ], [ %299, %295 ]
  %37 = phi i64 [ 0, %14 ], [ %300, %295 ]
  %38 = phi i64 [ 0, %14 ], [ %301, %295 ]
  %39 = getelementptr inbounds nuw %struct.param, ptr %16, i64 %38
  %40 = load i64, ptr %39, align 8
  %41 = icmp eq i64 %40, 0
  br i1 %41, label %101, label %42

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
  br i1 %51, label %89, label %90

52:                                               ; preds = %42, %42
  %53 = getelementptr inbounds nuw i8, ptr %44, i64 8
  %54 = load ptr, ptr %53, align 8
  %55 = load ptr, ptr %17, align 8
  %56 = icmp eq ptr %54, %55
  br i1 %56, label %57, label %88

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
  br label %89

71:                                               ; preds = %42
  %72 = getelementptr inbounds nuw i8, ptr %44, i64 8
  %73 = load ptr, ptr %72, align 8
  %74 = load ptr, ptr %8, align 8
  %75 = icmp eq ptr %73, %74
  br i1 %75, label %76, label %88

76:                                               ; preds = %71
  %77 = load ptr, ptr %21, align 8
  %78 = call i64 %77(ptr noundef nonnull %44, ptr noundef nonnull %6) #4
  store i64 %78, ptr %45, align 8
  %79 = load i32, ptr %6, align 4
  %80 = icmp eq i32 %79, 0
  br i1 %80, label %81, label %88

81:                                               ; preds = %76
  %82 = getelementptr inbounds nuw i8, ptr %39, i64 8
  %83 = load i64, ptr %82, align 8
  %84 = sub nsw i64 64, %83
  %85 = shl i64 %78, %84
  %86 = ashr exact i64 %85, %84
  %87 = icmp eq i64 %78, %86
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %87, label %93, label %304

88:                                               ; preds = %71, %52, %76
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br label %304

89:                                               ; preds = %46, %57
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br label %93

90:                                               ; preds = %46
  %91 = load ptr, ptr %20, align 8
  %92 = icmp eq ptr %44, %91
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #5
  br i1 %92, label %93, label %304

93:                                               ; preds = %81, %89, %90
  %94 = load i64, ptr %39, align 8
  %95 = icmp eq i64 %94, 1
  br i1 %95, label %96, label %295

96:                                               ; preds = %93
  %97 = load i64, ptr %45, align 8
  %98 = getelementptr inbounds nuw i8, ptr %33, i64 8
  %99 = load i64, ptr %33, align 8
  %100 = icmp eq i64 %97, %99
  br i1 %100, label %295, label %304

101:                                              ; preds = %32
  %102 = getelementptr inbounds nuw i8, ptr %39, i64 8
  %103 = load i64, ptr %102, align 8
  %104 = getelementptr inbounds nuw i8, ptr %33, i64 72
  %105 = getelementptr inbounds i64, ptr %104, i64 %103
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #5
  %106 = getelementptr inbounds nuw ptr, ptr %2, i64 %38
  %107 = load ptr, ptr %106, align 8
  %108 = getelementptr inbounds nuw i8, ptr %107, i64 8
  %109 = load ptr, ptr %108, align 8
  %110 = load ptr, ptr %33, align 8
  %111 = icmp eq ptr %109, %110
  br i1 %111, label %112, label %290

112:                                              ; preds = %101
  %113 = getelementptr inbounds nuw i8, ptr %33, i64 8
  %114 = load ptr, ptr %113, align 8
  %115 = icmp eq ptr %114, null
  br i1 %115, label %160, label %116

116:                                              ; preds = %112
  %117 = getelementptr inbounds nuw i8, ptr %33, i64 16
  %118 = load ptr, ptr %117, align 8
  %119 = icmp eq ptr %118, null
  br i1 %119, label %133, label %120

120:                                              ; preds = %116
  %121 = load ptr, ptr %22, align 8
  %122 = call ptr %121(ptr noundef nonnull %107, ptr noundef nonnull %118) #4
  %123 = icmp eq ptr %122, null
  br i1 %123, label %124, label %126

124:                                              ; preds = %120
  %125 = load ptr, ptr %24, align 8
  call void %125() #4
  br label %128

126:                                              ; preds = %120
  %127 = load ptr, ptr %23, align 8
  call void %127(ptr noundef nonnull %122) #4
  br label %128

128:                                              ; preds = %126, %124
  %129 = load ptr, ptr %20, align 8
  %130 = icmp eq ptr %122, %129
  br i1 %130, label %131, label %290

131:                                              ; preds = %128
  %132 = load ptr, ptr %113, align 8
  br label %133

133:                                              ; preds = %131, %116
  %134 = phi ptr [ %132, %131 ], [ %114, %116 ]
  %135 = call i32 %134(ptr noundef nonnull %107, ptr noundef nonnull %7) #4
  %136 = icmp eq i32 %135, 0
  br i1 %136, label %139, label %137

137:                                              ; preds = %133
  %138 = load ptr, ptr %24, align 8
  call void %138() #4
  br label %290

139:                                              ; preds = %133
  %140 = load i64, ptr %25, align 8
  %141 = load i64, ptr %7, align 8
  %142 = add i64 %141, %140
  store i64 %142, ptr %7, align 8
  %143 = load i32, ptr %26, align 8
  %144 = icmp eq i32 %143, 1
  br i1 %144, label %145, label %290

145:                                              ; preds = %139
  %146 = load i32, ptr %27, align 4
  %147 = zext i32 %146 to i64
  %148 = getelementptr inbounds nuw i8, ptr %33, i64 24
  %149 = load i64, ptr %148, align 8
  %150 = icmp eq i64 %149, %147
  %151 = load i32, ptr %28, align 8
  %152 = sext i32 %151 to i64
  %153 = icmp eq i64 %103, %152
  %154 = select i1 %150, i1 %153, i1 false
  br i1 %154, label %155, label %290

155:                                              ; preds = %145
  %156 = load ptr, ptr %29, align 8
  %157 = icmp ne ptr %156, null
  %158 = icmp eq i64 %103, 0
  %159 = or i1 %158, %157
  br i1 %159, label %186, label %290

160:                                              ; preds = %112
  %161 = getelementptr inbounds nuw i8, ptr %107, i64 16
  %162 = load i64, ptr %161, align 8
  store i64 %162, ptr %7, align 8
  %163 = getelementptr inbounds nuw i8, ptr %107, i64 32
  %164 = load ptr, ptr %163, align 8
  store ptr %164, ptr %30, align 8
  %165 = getelementptr inbounds nuw i8, ptr %107, i64 40
  %166 = load ptr, ptr %165, align 8
  store ptr %166, ptr %29, align 8
  %167 = getelementptr inbounds nuw i8, ptr %107, i64 56
  %168 = load i64, ptr %167, align 8
  %169 = getelementptr inbounds nuw i8, ptr %33, i64 24
  %170 = load i64, ptr %169, align 8
  %171 = icmp eq i64 %168, %170
  br i1 %171, label %172, label %290

172:                                              ; preds = %160
  %173 = getelementptr inbounds nuw i8, ptr %107, i64 24
  %174 = load i32, ptr %173, align 8
  %175 = sext i32 %174 to i64
  %176 = icmp eq i64 %103, %175
  br i1 %176, label %177, label %290

177:                                              ; preds = %172
  %178 = getelementptr inbounds nuw i8, ptr %33, i64 40
  %179 = load i64, ptr %178, align 8
  %180 = icmp eq i64 %179, 0
  br i1 %180, label %190, label %181

181:                                              ; preds = %177
  %182 = getelementptr inbounds nuw i8, ptr %107, i64 64
  %183 = load i32, ptr %182, align 8
  %184 = and i32 %183, -2147482624
  %185 = icmp eq i32 %184, 1024
  br i1 %185, label %186, label %290

186:                                              ; preds = %155, %181
  %187 = phi ptr [ %156, %155 ], [ %166, %181 ]
  %188 = phi i64 [ %142, %155 ], [ %162, %181 ]
  %189 = load ptr, ptr %30, align 8
  br label %190

190:                                              ; preds = %186, %177
  %191 = phi i64 [ %188, %186 ], [ %162, %177 ]
  %192 = phi ptr [ %187, %186 ], [ %166, %177 ]
  %193 = phi ptr [ %189, %186 ], [ %164, %177 ]
  %194 = call i64 @llvm.smax.i64(i64 %103, i64 0)
  br label %195

195:                                              ; preds = %190, %205
  %196 = phi i64 [ %201, %205 ], [ 0, %190 ]
  %197 = icmp eq i64 %196, %194
  br i1 %197, label %211, label %198

198:                                              ; preds = %195
  %199 = getelementptr inbounds nuw i64, ptr %193, i64 %196
  %200 = load i64, ptr %199, align 8
  %201 = add nuw i64 %196, 1
  %202 = getelementptr inbounds nuw i64, ptr %105, i64 %201
  %203 = load i64, ptr %202, align 8
  %204 = icmp eq i64 %200, %203
  br i1 %204, label %205, label %290

205:                                              ; preds = %198
  %206 = getelementptr inbounds nuw i64, ptr %192, i64 %196
  %207 = load i64, ptr %206, align 8
  %208 = getelementptr inbounds nuw i64, ptr %104, i64 %196
  %209 = load i64, ptr %208, align 8
  %210 = icmp eq i64 %207, %209
  br i1 %210, label %195, label %290, !llvm.loop !11

211:                                              ; preds = %195
  %212 = getelementptr inbounds nuw i8, ptr %33, i64 32
  %213 = load i64, ptr %212, align 8
  %214 = and i64 %213, %191
  %215 = icmp eq i64 %214, 0
  br i1 %215, label %216, label %290

216:                                              ; preds = %211
  %217 = load i64, ptr %31, align 8
  %218 = icmp eq i64 %217, 0
  br i1 %218, label %265, label %219

219:                                              ; preds = %216
  %220 = getelementptr inbounds nuw i8, ptr %33, i64 56
  %221 = load i64, ptr %220, align 8
  %222 = add i64 %221, %191
  %223 = getelementptr inbounds nuw i8, ptr %33, i64 64
  %224 = load i64, ptr %223, align 8
  %225 = add i64 %224, %191
  %226 = icmp sgt i64 %36, 0
  br i1 %226, label %227, label %239

227:                                              ; preds = %219, %236
  %228 = phi i64 [ %237, %236 ], [ 0, %219 ]
  %229 = getelementptr inbounds nuw %struct.reach, ptr %12, i64 %228
  %230 = getelementptr inbounds nuw i8, ptr %229, i64 8
  %231 = load i64, ptr %230, align 8
  %232 = icmp ugt i64 %231, %222
  br i1 %232, label %233, label %236

233:                                              ; preds = %227
  %234 = load i64, ptr %229, align 16
  %235 = icmp ugt i64 %225, %234
  br i1 %235, label %290, label %236

236:                                              ; preds = %233, %227
  %237 = add nuw nsw i64 %228, 1
  %238 = icmp eq i64 %237, %36
  br i1 %238, label %239, label %227, !llvm.loop !12

239:                                              ; preds = %236, %219
  %240 = getelementptr inbounds nuw i8, ptr %33, i64 40
  %241 = load i64, ptr %240, align 8
  %242 = icmp eq i64 %241, 0
  br i1 %242, label %261, label %243

243:                                              ; preds = %239
  %244 = icmp sgt i64 %37, 0
  br i1 %244, label %245, label %257

245:                                              ; preds = %243, %254
  %246 = phi i64 [ %255, %254 ], [ 0, %243 ]
  %247 = getelementptr inbounds nuw %struct.reach, ptr %35, i64 %246
  %248 = getelementptr inbounds nuw i8, ptr %247, i64 8
  %249 = load i64, ptr %248, align 8
  %250 = icmp ugt i64 %249, %222
  br i1 %250, label %251, label %254

251:                                              ; preds = %245
  %252 = load i64, ptr %247, align 8
  %253 = icmp ugt i64 %225, %252
  br i1 %253, label %290, label %254

254:                                              ; preds = %251, %245
  %255 = add nuw nsw i64 %246, 1
  %256 = icmp eq i64 %255, %37
  br i1 %256, label %257, label %245, !llvm.loop !12

257:                                              ; preds = %254, %243
  %258 = add nsw i64 %36, 1
  %259 = getelementptr inbounds %struct.reach, ptr %12, i64 %36
  store i64 %222, ptr %259, align 16
  %260 = getelementptr inbounds nuw i8, ptr %259, i64 8
  store i64 %225, ptr %260, align 8
  br label %265

261:                                              ; preds = %239
  %262 = getelementptr inbounds i8, ptr %35, i64 -16
  store i64 %222, ptr %262, align 8
  %263 = getelementptr inbounds i8, ptr %35, i64 -8
  store i64 %225, ptr %263, align 8
  %264 = add nsw i64 %37, 1
  br label %265

265:                                              ; preds = %261, %257, %216
  %266 = phi i64 [ %37, %216 ], [ %37, %257 ], [ %264, %261 ]
  %267 = phi i64 [ %36, %216 ], [ %258, %257 ], [ %36, %261 ]
  %268 = phi ptr [ %35, %216 ], [ %35, %257 ], [ %262, %261 ]
  %269 = ptrtoint ptr %34 to i64
  %270 = getelementptr inbounds nuw i64, ptr %3, i64 %38
  store i64 %269, ptr %270, align 8
  %271 = getelementptr inbounds nuw i8, ptr %33, i64 48
  %272 = load i64, ptr %271, align 8
  %273 = sub i64 %191, %272
  %274 = getelementptr inbounds nuw i8, ptr %34, i64 8
  store i64 %273, ptr %34, align 8
  %275 = load i64, ptr %271, align 8
  %276 = sub i64 %191, %275
  %277 = getelementptr inbounds nuw i8, ptr %34, i64 16
  store i64 %276, ptr %274, align 8
  %278 = shl i64 %103, 1
  %279 = icmp slt i64 %103, 0
  br i1 %279, label %291, label %280

280:                                              ; preds = %265
  %281 = call i64 @llvm.smax.i64(i64 %278, i64 0)
  br label %282

282:                                              ; preds = %280, %282
  %283 = phi i64 [ %288, %282 ], [ 0, %280 ]
  %284 = phi ptr [ %287, %282 ], [ %277, %280 ]
  %285 = getelementptr inbounds nuw i64, ptr %105, i64 %283
  %286 = load i64, ptr %285, align 8
  %287 = getelementptr inbounds nuw i8, ptr %284, i64 8
  store i64 %286, ptr %284, align 8
  %288 = add nuw nsw i64 %283, 1
  %289 = icmp eq i64 %283, %281
  br i1 %289, label %291, label %282, !llvm.loop !13

290:                                              ; preds = %181, %211, %101, %172, %160, %128, %145, %139, %155, %198, %205, %233, %251, %137
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #5
  br label %304

291:                                              ; preds = %282, %265
  %292 = phi ptr [ %277, %265 ], [ %287, %282 ]
  %293 = getelementptr inbounds i64, ptr %105, i64 %278
  %294 = getelementptr inbounds nuw i8, ptr %293, i64 8
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #5
  br label %295

295:                                              ; preds = %96, %93, %291
  %296 = phi ptr [ %294, %291 ], [ %33, %93 ], [ %98, %96 ]
  %297 = phi ptr [ %292, %291 ], [ %34, %93 ], [ %34, %96 ]
  %298 = phi ptr [ %268, %291 ], [ %35, %93 ], [ %35, %96 ]
  %299 = phi i64 [ %267, %291 ], [ %36, %93 ], [ %36, %96 ]
  %300 = phi i64 [ %266, %291 ], [ %37, %93 ], [ %37, %96 ]
  %301 = add nuw nsw i64 %38, 1
  %302 = load i64, ptr %9, align 8
  %303 = icmp slt i64 %301, %302
  br i1 %303, label %32, label %304, !llvm.loop !14

304:                                              ; preds = %295, %90, %96, %81, %5, %88, %290
  %305 = phi i32 [ 0, %290 ], [ 0, %88 ], [ 1, %5 ], [ 0, %81 ], [ 1, %295 ], [ 0, %90 ], [ 0, %96 ]
  ret i32 %305
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
