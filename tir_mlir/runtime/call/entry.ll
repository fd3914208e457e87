
%struct.param = type { i64, i64, ptr }
%struct.moment = type { i64, i64 }
%struct.tensor = type { i64, i32, i32, i32, i32, ptr, ptr, i64 }
%struct.reach = type { i64, i64 }

; Function Attrs: nounwind
define i32 @tir_start(ptr noundef %0, ptr noundef %1, ptr noundef %2) local_unnamed_addr #0 {
  %4 = alloca ptr, align 8
  %5 = alloca i32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #3
  store ptr null, ptr %4, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #3
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %7 = load ptr, ptr %6, align 8
  %8 = call i32 %7(ptr noundef nonnull %4) #4
  store i32 %8, ptr %5, align 4
  %9 = icmp eq i32 %8, 0
  br i1 %9, label %10, label %23

10:                                               ; preds = %3
  %11 = load ptr, ptr %4, align 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %13 = load ptr, ptr %12, align 8
  %14 = icmp eq ptr %11, %13
  br i1 %14, label %20, label %15

15:                                               ; preds = %10
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %17 = load ptr, ptr %16, align 8
  %18 = call i32 %17(ptr noundef %13) #4
  store i32 %18, ptr %5, align 4
  %19 = icmp eq i32 %18, 0
  br i1 %19, label %20, label %23

20:                                               ; preds = %10, %15
  %21 = call fastcc i64 @start_all(ptr noundef nonnull %0, ptr noundef %1, ptr noundef %2, ptr noundef %5) #5
  %22 = icmp ne i64 %21, 0
  br label %23

23:                                               ; preds = %3, %15, %20
  %24 = phi i1 [ %22, %20 ], [ false, %15 ], [ false, %3 ]
  %25 = load ptr, ptr %4, align 8
  %26 = icmp eq ptr %25, null
  br i1 %26, label %35, label %27

27:                                               ; preds = %23
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %29 = load ptr, ptr %28, align 8
  %30 = icmp eq ptr %25, %29
  br i1 %30, label %35, label %31

31:                                               ; preds = %27
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %33 = load ptr, ptr %32, align 8
  %34 = call i32 %33(ptr noundef nonnull %25) #4
  br label %35

35:                                               ; preds = %31, %27, %23
  %36 = load i32, ptr %5, align 4
  %37 = icmp ne i32 %36, 0
  %38 = select i1 %37, i1 %24, i1 false
  br i1 %38, label %39, label %41

39:                                               ; preds = %35
  %40 = sext i32 %36 to i64
  store i64 %40, ptr %0, align 8
  br label %41

41:                                               ; preds = %39, %35
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #3
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #3
  ret i32 %36
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: nounwind
define internal fastcc i64 @start_all(ptr noundef %0, ptr noundef %1, ptr noundef %2, ptr noundef nonnull captures(none) %3) unnamed_addr #0 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %7 = load i64, ptr %6, align 8
  %8 = add nsw i64 %7, 1
  %9 = alloca i64, i64 %8, align 16
  %10 = getelementptr inbounds i64, ptr %5, i64 %7
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %12 = icmp sgt i64 %7, 0
  br i1 %12, label %13, label %25

13:                                               ; preds = %4, %21
  %14 = phi i64 [ %22, %21 ], [ 0, %4 ]
  %15 = load ptr, ptr %11, align 8
  %16 = getelementptr inbounds nuw i64, ptr %9, i64 %14
  %17 = getelementptr inbounds nuw i64, ptr %5, i64 %14
  %18 = load i64, ptr %17, align 8
  %19 = call i32 %15(ptr noundef nonnull %16, i64 noundef %18, ptr noundef %2) #4
  store i32 %19, ptr %3, align 4
  %20 = icmp eq i32 %19, 0
  br i1 %20, label %21, label %46

21:                                               ; preds = %13
  %22 = add nuw nsw i64 %14, 1
  %23 = load i64, ptr %6, align 8
  %24 = icmp slt i64 %22, %23
  br i1 %24, label %13, label %28, !llvm.loop !5

25:                                               ; preds = %4
  %26 = load i32, ptr %3, align 4
  %27 = icmp eq i32 %26, 0
  br i1 %27, label %28, label %60

28:                                               ; preds = %21, %25
  %29 = phi i64 [ 0, %25 ], [ %22, %21 ]
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 120
  br label %31

31:                                               ; preds = %28, %36
  %32 = phi ptr [ %42, %36 ], [ %10, %28 ]
  %33 = phi i64 [ %45, %36 ], [ 0, %28 ]
  %34 = load i64, ptr %30, align 8
  %35 = icmp slt i64 %33, %34
  br i1 %35, label %36, label %46

36:                                               ; preds = %31
  %37 = call fastcc i32 @start_one(ptr noundef nonnull %0, ptr noundef %32, ptr noundef %1, ptr noundef %9, ptr noundef %2) #5
  store i32 %37, ptr %3, align 4
  %38 = getelementptr inbounds nuw i8, ptr %32, i64 64
  %39 = load i64, ptr %38, align 8
  %40 = shl i64 %39, 4
  %41 = getelementptr i8, ptr %32, i64 %40
  %42 = getelementptr i8, ptr %41, i64 72
  %43 = icmp eq i32 %37, 0
  %44 = zext i1 %43 to i64
  %45 = add nuw nsw i64 %33, %44
  br i1 %43, label %31, label %46, !llvm.loop !8

46:                                               ; preds = %13, %31, %36
  %47 = phi i64 [ %29, %31 ], [ %29, %36 ], [ %14, %13 ]
  %48 = phi i64 [ %33, %31 ], [ %45, %36 ], [ 0, %13 ]
  %49 = icmp eq i64 %47, 0
  br i1 %49, label %60, label %50

50:                                               ; preds = %46
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 104
  br label %52

52:                                               ; preds = %50, %52
  %53 = phi i64 [ %47, %50 ], [ %55, %52 ]
  %54 = load ptr, ptr %51, align 8
  %55 = add nsw i64 %53, -1
  %56 = getelementptr inbounds i64, ptr %9, i64 %55
  %57 = load i64, ptr %56, align 8
  %58 = call i32 %54(i64 noundef %57, ptr noundef %2) #4
  %59 = icmp eq i64 %55, 0
  br i1 %59, label %60, label %52, !llvm.loop !9

60:                                               ; preds = %52, %25, %46
  %61 = phi i64 [ 0, %25 ], [ %48, %46 ], [ %48, %52 ]
  ret i64 %61
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: nounwind
define ptr @tir_vectorcall(ptr noundef readonly captures(none) %0, ptr noundef %1, i64 noundef %2, ptr noundef %3) local_unnamed_addr #0 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %6 = load ptr, ptr %5, align 8
  %7 = load ptr, ptr %6, align 8
  %8 = and i64 %2, 9223372036854775807
  %9 = icmp eq ptr %3, null
  br i1 %9, label %13, label %10

10:                                               ; preds = %4
  %11 = tail call fastcc i32 @run_named(ptr noundef nonnull %6, ptr noundef %1, i64 noundef %8, ptr noundef %3) #5
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %35, label %20

13:                                               ; preds = %4
  %14 = getelementptr inbounds nuw i8, ptr %6, i64 16
  %15 = load i64, ptr %14, align 8
  %16 = icmp eq i64 %8, %15
  br i1 %16, label %17, label %32

17:                                               ; preds = %13
  %18 = tail call fastcc i32 @run_known(ptr noundef nonnull %6, ptr noundef %1) #5
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
  br i1 %32, label %18, label %22, !llvm.loop !10

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
  br i1 %53, label %72, label %41, !llvm.loop !11

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
  br i1 %69, label %33, label %70, !llvm.loop !12

70:                                               ; preds = %62, %18, %16
  %71 = call fastcc i32 @run_known(ptr noundef nonnull %0, ptr noundef nonnull %8) #5
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
  %8 = alloca i32, align 4
  %9 = alloca ptr, align 8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %11 = load i64, ptr %10, align 8
  %12 = add nsw i64 %11, 1
  %13 = alloca i64, i64 %12, align 16
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %15 = load i64, ptr %14, align 8
  %16 = add nsw i64 %15, 1
  %17 = alloca i64, i64 %16, align 16
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %20 = load i64, ptr %19, align 8
  %21 = icmp sgt i64 %20, 0
  br i1 %21, label %22, label %214

22:                                               ; preds = %2
  %23 = load i64, ptr %18, align 8
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 56
  br label %26

26:                                               ; preds = %22, %207
  %27 = phi i64 [ %23, %22 ], [ %211, %207 ]
  %28 = phi i64 [ 0, %22 ], [ %212, %207 ]
  %29 = load ptr, ptr %24, align 8
  %30 = load i64, ptr %25, align 8
  %31 = mul nsw i64 %30, %27
  %32 = getelementptr inbounds i64, ptr %29, i64 %31
  %33 = getelementptr inbounds nuw i8, ptr %32, i64 32
  %34 = call fastcc i32 @fits(ptr noundef nonnull %0, ptr noundef nonnull %33, ptr noundef %1, ptr noundef %13, ptr noundef %17) #5
  %35 = icmp eq i32 %34, 0
  br i1 %35, label %207, label %36

36:                                               ; preds = %26
  store i64 %27, ptr %18, align 8
  %37 = getelementptr inbounds nuw i8, ptr %32, i64 24
  %38 = load ptr, ptr %37, align 8
  %39 = icmp eq ptr %38, null
  br i1 %39, label %124, label %40

40:                                               ; preds = %36
  call void @llvm.lifetime.start.p0(ptr nonnull %9) #3
  store ptr null, ptr %9, align 8
  %41 = getelementptr inbounds nuw i8, ptr %38, i64 16
  %42 = load ptr, ptr %41, align 8
  %43 = call i32 %42() #4
  %44 = sext i32 %43 to i64
  %45 = getelementptr inbounds nuw i8, ptr %38, i64 8
  %46 = load i64, ptr %45, align 8
  %47 = icmp eq i64 %46, %44
  br i1 %47, label %48, label %122

48:                                               ; preds = %40
  %49 = load i64, ptr %38, align 8
  %50 = icmp eq i64 %49, 0
  br i1 %50, label %51, label %122

51:                                               ; preds = %48
  %52 = getelementptr inbounds nuw i8, ptr %38, i64 48
  %53 = load ptr, ptr %52, align 8
  %54 = getelementptr inbounds nuw i8, ptr %38, i64 72
  %55 = load i64, ptr %54, align 8
  %56 = trunc i64 %55 to i32
  %57 = getelementptr inbounds nuw i8, ptr %38, i64 80
  %58 = load i64, ptr %57, align 8
  %59 = trunc i64 %58 to i32
  %60 = call i32 %53(i32 noundef %56, i32 noundef %59, ptr noundef nonnull %9) #4
  %61 = icmp eq i32 %60, 0
  br i1 %61, label %66, label %62

62:                                               ; preds = %51
  %63 = load ptr, ptr %0, align 8
  %64 = getelementptr inbounds nuw i8, ptr %63, i64 120
  %65 = load ptr, ptr %64, align 8
  call void %65() #4
  br label %122

66:                                               ; preds = %51
  %67 = getelementptr inbounds nuw i8, ptr %38, i64 56
  %68 = load i64, ptr %67, align 8
  %69 = icmp eq i64 %68, 0
  br i1 %69, label %75, label %70

70:                                               ; preds = %66
  %71 = load ptr, ptr %9, align 8
  %72 = getelementptr inbounds nuw i8, ptr %38, i64 64
  %73 = load ptr, ptr %72, align 8
  %74 = icmp eq ptr %71, %73
  br i1 %74, label %75, label %122

75:                                               ; preds = %70, %66
  %76 = load ptr, ptr %0, align 8
  %77 = getelementptr inbounds nuw i8, ptr %76, i64 80
  %78 = load ptr, ptr %77, align 8
  %79 = call ptr %78() #4
  %80 = load ptr, ptr %9, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #3
  store ptr null, ptr %7, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %8) #3
  %81 = getelementptr inbounds nuw i8, ptr %38, i64 24
  %82 = load ptr, ptr %81, align 8
  %83 = call i32 %82(ptr noundef nonnull %7) #4
  store i32 %83, ptr %8, align 4
  %84 = icmp eq i32 %83, 0
  br i1 %84, label %85, label %98

85:                                               ; preds = %75
  %86 = load ptr, ptr %7, align 8
  %87 = getelementptr inbounds nuw i8, ptr %38, i64 40
  %88 = load ptr, ptr %87, align 8
  %89 = icmp eq ptr %86, %88
  br i1 %89, label %95, label %90

90:                                               ; preds = %85
  %91 = getelementptr inbounds nuw i8, ptr %38, i64 32
  %92 = load ptr, ptr %91, align 8
  %93 = call i32 %92(ptr noundef %88) #4
  store i32 %93, ptr %8, align 4
  %94 = icmp eq i32 %93, 0
  br i1 %94, label %95, label %98

95:                                               ; preds = %90, %85
  %96 = call fastcc i64 @start_all(ptr noundef nonnull %38, ptr noundef nonnull %13, ptr noundef %80, ptr noundef %8) #5
  %97 = icmp ne i64 %96, 0
  br label %98

98:                                               ; preds = %95, %90, %75
  %99 = phi i1 [ %97, %95 ], [ false, %90 ], [ false, %75 ]
  %100 = load ptr, ptr %7, align 8
  %101 = icmp eq ptr %100, null
  br i1 %101, label %110, label %102

102:                                              ; preds = %98
  %103 = getelementptr inbounds nuw i8, ptr %38, i64 40
  %104 = load ptr, ptr %103, align 8
  %105 = icmp eq ptr %100, %104
  br i1 %105, label %110, label %106

106:                                              ; preds = %102
  %107 = getelementptr inbounds nuw i8, ptr %38, i64 32
  %108 = load ptr, ptr %107, align 8
  %109 = call i32 %108(ptr noundef nonnull %100) #4
  br label %110

110:                                              ; preds = %106, %102, %98
  %111 = load i32, ptr %8, align 4
  %112 = icmp ne i32 %111, 0
  %113 = select i1 %112, i1 %99, i1 false
  br i1 %113, label %114, label %116

114:                                              ; preds = %110
  %115 = sext i32 %111 to i64
  store i64 %115, ptr %38, align 8
  br label %116

116:                                              ; preds = %114, %110
  call void @llvm.lifetime.end.p0(ptr nonnull %8) #3
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #3
  %117 = load ptr, ptr %0, align 8
  %118 = getelementptr inbounds nuw i8, ptr %117, i64 88
  %119 = load ptr, ptr %118, align 8
  call void %119(ptr noundef %79) #4
  %120 = icmp eq i32 %111, 0
  %121 = zext i1 %120 to i32
  br label %122

122:                                              ; preds = %40, %48, %62, %70, %116
  %123 = phi i32 [ %121, %116 ], [ 0, %62 ], [ 0, %40 ], [ 0, %48 ], [ 0, %70 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %9) #3
  br label %214

124:                                              ; preds = %36
  %125 = load ptr, ptr %0, align 8
  %126 = load i64, ptr %32, align 8
  %127 = icmp eq i64 %126, 0
  br i1 %127, label %162, label %128

128:                                              ; preds = %124
  %129 = getelementptr inbounds nuw i8, ptr %32, i64 16
  %130 = load i64, ptr %129, align 8
  %131 = add nsw i64 %130, 1
  store i64 %131, ptr %129, align 8
  %132 = and i64 %131, 63
  %133 = icmp eq i64 %132, 0
  br i1 %133, label %137, label %134

134:                                              ; preds = %128
  %135 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %136 = load ptr, ptr %135, align 8
  call void %136(ptr noundef nonnull %13) #4
  br label %214

137:                                              ; preds = %128
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #3
  %138 = getelementptr inbounds nuw i8, ptr %125, i64 144
  %139 = load ptr, ptr %138, align 8
  %140 = getelementptr inbounds nuw i8, ptr %125, i64 152
  %141 = load i64, ptr %140, align 8
  %142 = trunc i64 %141 to i32
  %143 = call i32 %139(i32 noundef %142, ptr noundef nonnull %6) #4
  %144 = load i64, ptr %6, align 8
  %145 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %146 = load i64, ptr %145, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #3
  %147 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %148 = load ptr, ptr %147, align 8
  call void %148(ptr noundef nonnull %13) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %5) #3
  %149 = load ptr, ptr %138, align 8
  %150 = load i64, ptr %140, align 8
  %151 = trunc i64 %150 to i32
  %152 = call i32 %149(i32 noundef %151, ptr noundef nonnull %5) #4
  %153 = load i64, ptr %5, align 8
  %154 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %155 = load i64, ptr %154, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %5) #3
  %156 = sub i64 %153, %144
  %157 = mul i64 %156, 1000000000
  %158 = sub i64 %155, %146
  %159 = add i64 %158, %157
  %160 = icmp sgt i64 %159, 20000
  br i1 %160, label %161, label %214

161:                                              ; preds = %137
  store i64 0, ptr %32, align 8
  br label %214

162:                                              ; preds = %124
  %163 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %164 = load i64, ptr %163, align 8
  %165 = icmp eq i64 %164, 0
  %166 = getelementptr inbounds nuw i8, ptr %32, i64 8
  %167 = load i64, ptr %166, align 8
  %168 = icmp slt i64 %167, 8
  %169 = select i1 %165, i1 %168, i1 false
  %170 = zext i1 %169 to i64
  %171 = add nsw i64 %167, %170
  store i64 %171, ptr %166, align 8
  %172 = getelementptr inbounds nuw i8, ptr %125, i64 80
  %173 = load ptr, ptr %172, align 8
  %174 = call ptr %173() #4
  br i1 %169, label %175, label %201

175:                                              ; preds = %162
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #3
  %176 = getelementptr inbounds nuw i8, ptr %125, i64 144
  %177 = load ptr, ptr %176, align 8
  %178 = getelementptr inbounds nuw i8, ptr %125, i64 152
  %179 = load i64, ptr %178, align 8
  %180 = trunc i64 %179 to i32
  %181 = call i32 %177(i32 noundef %180, ptr noundef nonnull %4) #4
  %182 = load i64, ptr %4, align 8
  %183 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %184 = load i64, ptr %183, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #3
  %185 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %186 = load ptr, ptr %185, align 8
  call void %186(ptr noundef nonnull %13) #4
  call void @llvm.lifetime.start.p0(ptr nonnull %3) #3
  %187 = load ptr, ptr %176, align 8
  %188 = load i64, ptr %178, align 8
  %189 = trunc i64 %188 to i32
  %190 = call i32 %187(i32 noundef %189, ptr noundef nonnull %3) #4
  %191 = load i64, ptr %3, align 8
  %192 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %193 = load i64, ptr %192, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %3) #3
  %194 = sub i64 %191, %182
  %195 = mul i64 %194, 1000000000
  %196 = sub i64 %193, %184
  %197 = add i64 %196, %195
  %198 = icmp slt i64 %197, 20000
  %199 = getelementptr inbounds nuw i8, ptr %125, i64 88
  %200 = load ptr, ptr %199, align 8
  call void %200(ptr noundef %174) #4
  br i1 %198, label %206, label %214

201:                                              ; preds = %162
  %202 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %203 = load ptr, ptr %202, align 8
  call void %203(ptr noundef nonnull %13) #4
  %204 = getelementptr inbounds nuw i8, ptr %125, i64 88
  %205 = load ptr, ptr %204, align 8
  call void %205(ptr noundef %174) #4
  br label %214

206:                                              ; preds = %175
  store i64 1, ptr %32, align 8
  br label %214

207:                                              ; preds = %26
  %208 = add nsw i64 %27, 1
  %209 = load i64, ptr %19, align 8
  %210 = icmp slt i64 %208, %209
  %211 = select i1 %210, i64 %208, i64 0
  %212 = add nuw nsw i64 %28, 1
  %213 = icmp slt i64 %212, %209
  br i1 %213, label %26, label %214, !llvm.loop !13

214:                                              ; preds = %207, %2, %122, %134, %137, %161, %175, %201, %206
  %215 = phi i32 [ %123, %122 ], [ 1, %206 ], [ 1, %201 ], [ 1, %175 ], [ 1, %161 ], [ 1, %137 ], [ 1, %134 ], [ 0, %2 ], [ 0, %207 ]
  ret i32 %215
}

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
define internal fastcc i32 @start_one(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef %2, ptr noundef nonnull %3, ptr noundef %4) unnamed_addr #0 {
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %7 = load i64, ptr %6, align 8
  %8 = add nsw i64 %7, 1
  %9 = alloca ptr, i64 %8, align 16
  %10 = icmp sgt i64 %7, 0
  br i1 %10, label %11, label %13

11:                                               ; preds = %5
  %12 = getelementptr inbounds nuw i8, ptr %1, i64 72
  br label %40

13:                                               ; preds = %57, %5
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %15 = load ptr, ptr %14, align 8
  %16 = load i64, ptr %1, align 8
  %17 = inttoptr i64 %16 to ptr
  %18 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %19 = load i64, ptr %18, align 8
  %20 = trunc i64 %19 to i32
  %21 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %22 = load i64, ptr %21, align 8
  %23 = trunc i64 %22 to i32
  %24 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %25 = load i64, ptr %24, align 8
  %26 = trunc i64 %25 to i32
  %27 = getelementptr inbounds nuw i8, ptr %1, i64 32
  %28 = load i64, ptr %27, align 8
  %29 = trunc i64 %28 to i32
  %30 = getelementptr inbounds nuw i8, ptr %1, i64 40
  %31 = load i64, ptr %30, align 8
  %32 = trunc i64 %31 to i32
  %33 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %34 = load i64, ptr %33, align 8
  %35 = trunc i64 %34 to i32
  %36 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %37 = load i64, ptr %36, align 8
  %38 = trunc i64 %37 to i32
  %39 = call i32 %15(ptr noundef %17, i32 noundef %20, i32 noundef %23, i32 noundef %26, i32 noundef %29, i32 noundef %32, i32 noundef %35, i32 noundef %38, ptr noundef %4, ptr noundef nonnull %9, ptr noundef null) #4
  ret i32 %39

40:                                               ; preds = %11, %57
  %41 = phi i64 [ %60, %57 ], [ 0, %11 ]
  %42 = phi ptr [ %61, %57 ], [ %12, %11 ]
  %43 = load i64, ptr %42, align 8
  %44 = getelementptr inbounds nuw i8, ptr %42, i64 8
  switch i64 %43, label %54 [
    i64 2, label %57
    i64 0, label %45
    i64 3, label %51
  ]

45:                                               ; preds = %40
  %46 = load i64, ptr %44, align 8
  %47 = getelementptr inbounds i64, ptr %2, i64 %46
  %48 = load i64, ptr %47, align 8
  %49 = inttoptr i64 %48 to ptr
  %50 = getelementptr inbounds nuw i8, ptr %49, i64 8
  br label %57

51:                                               ; preds = %40
  %52 = load i64, ptr %44, align 8
  %53 = getelementptr inbounds i64, ptr %3, i64 %52
  br label %57

54:                                               ; preds = %40
  %55 = load i64, ptr %44, align 8
  %56 = getelementptr inbounds i64, ptr %2, i64 %55
  br label %57

57:                                               ; preds = %40, %45, %54, %51
  %58 = phi ptr [ %56, %54 ], [ %50, %45 ], [ %53, %51 ], [ %44, %40 ]
  %59 = getelementptr inbounds nuw ptr, ptr %9, i64 %41
  store ptr %58, ptr %59, align 8
  %60 = add nuw nsw i64 %41, 1
  %61 = getelementptr inbounds nuw i8, ptr %42, i64 16
  %62 = icmp eq i64 %60, %7
  br i1 %62, label %13, label %40, !llvm.loop !14
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
  call void @llvm.lifetime.start.p0(ptr nonnull %6) #3
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
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #3
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
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #3
  br i1 %101, label %107, label %329

102:                                              ; preds = %72, %53, %84, %94
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #3
  br label %329

103:                                              ; preds = %58, %87, %47
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #3
  br label %107

104:                                              ; preds = %47
  %105 = load ptr, ptr %20, align 8
  %106 = icmp eq ptr %45, %105
  call void @llvm.lifetime.end.p0(ptr nonnull %6) #3
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
  call void @llvm.lifetime.start.p0(ptr nonnull %7) #3
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
  br i1 %235, label %220, label %315, !llvm.loop !15

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
  br i1 %263, label %264, label %252, !llvm.loop !16

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
  br i1 %281, label %282, label %270, !llvm.loop !16

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
  br i1 %314, label %316, label %307, !llvm.loop !17

315:                                              ; preds = %206, %236, %115, %197, %185, %142, %153, %164, %170, %180, %223, %230, %258, %276, %151
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #3
  br label %329

316:                                              ; preds = %307, %290
  %317 = phi ptr [ %302, %290 ], [ %312, %307 ]
  %318 = getelementptr inbounds i64, ptr %119, i64 %303
  %319 = getelementptr inbounds nuw i8, ptr %318, i64 8
  call void @llvm.lifetime.end.p0(ptr nonnull %7) #3
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
  br i1 %328, label %33, label %329, !llvm.loop !18

329:                                              ; preds = %320, %104, %110, %95, %91, %5, %102, %315
  %330 = phi i32 [ 0, %315 ], [ 0, %102 ], [ 1, %5 ], [ 0, %91 ], [ 0, %95 ], [ 1, %320 ], [ 0, %104 ], [ 0, %110 ]
  ret i32 %330
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #2

attributes #0 = { nounwind "no-builtins" "no-trapping-math"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { nounwind }
attributes #4 = { nobuiltin nounwind "no-builtins" }
attributes #5 = { nobuiltin "no-builtins" }

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
