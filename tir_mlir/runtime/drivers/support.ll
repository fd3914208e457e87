
; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define hidden void @memrefCopy(i64 noundef %0, ptr noundef readonly captures(none) %1, ptr noundef readonly captures(none) %2) local_unnamed_addr #0 {
  %4 = alloca [16 x i64], align 16
  %5 = load i64, ptr %1, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #5
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(128) %4, i8 0, i64 128, i1 false)
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %9 = load ptr, ptr %8, align 8
  %10 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %11 = getelementptr inbounds i64, ptr %10, i64 %5
  %12 = getelementptr inbounds nuw i8, ptr %9, i64 24
  %13 = getelementptr inbounds i64, ptr %12, i64 %5
  %14 = icmp sgt i64 %5, 0
  br i1 %14, label %24, label %18

15:                                               ; preds = %24
  %16 = add nuw nsw i64 %25, 1
  %17 = icmp eq i64 %16, %5
  br i1 %17, label %18, label %24, !llvm.loop !5

18:                                               ; preds = %15, %3
  %19 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %20 = getelementptr inbounds nuw i8, ptr %9, i64 16
  %21 = icmp sgt i64 %0, 0
  %22 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %23 = getelementptr inbounds nuw i8, ptr %9, i64 8
  br label %29

24:                                               ; preds = %3, %15
  %25 = phi i64 [ %16, %15 ], [ 0, %3 ]
  %26 = getelementptr inbounds nuw i64, ptr %10, i64 %25
  %27 = load i64, ptr %26, align 8
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %77, label %15

29:                                               ; preds = %66, %18
  %30 = load i64, ptr %19, align 8
  %31 = load i64, ptr %20, align 8
  br i1 %14, label %38, label %32

32:                                               ; preds = %38, %29
  %33 = phi i64 [ %30, %29 ], [ %47, %38 ]
  %34 = phi i64 [ %31, %29 ], [ %51, %38 ]
  br i1 %21, label %35, label %54

35:                                               ; preds = %32
  %36 = mul nsw i64 %33, %0
  %37 = mul nsw i64 %34, %0
  br label %55

38:                                               ; preds = %29, %38
  %39 = phi i64 [ %52, %38 ], [ 0, %29 ]
  %40 = phi i64 [ %51, %38 ], [ %31, %29 ]
  %41 = phi i64 [ %47, %38 ], [ %30, %29 ]
  %42 = getelementptr inbounds nuw i64, ptr %4, i64 %39
  %43 = load i64, ptr %42, align 8
  %44 = getelementptr inbounds nuw i64, ptr %11, i64 %39
  %45 = load i64, ptr %44, align 8
  %46 = mul nsw i64 %45, %43
  %47 = add nsw i64 %46, %41
  %48 = getelementptr inbounds nuw i64, ptr %13, i64 %39
  %49 = load i64, ptr %48, align 8
  %50 = mul nsw i64 %49, %43
  %51 = add nsw i64 %50, %40
  %52 = add nuw nsw i64 %39, 1
  %53 = icmp eq i64 %52, %5
  br i1 %53, label %32, label %38, !llvm.loop !8

54:                                               ; preds = %55, %32
  br i1 %14, label %66, label %77

55:                                               ; preds = %35, %55
  %56 = phi i64 [ 0, %35 ], [ %64, %55 ]
  %57 = load ptr, ptr %22, align 8
  %58 = getelementptr i8, ptr %57, i64 %36
  %59 = getelementptr i8, ptr %58, i64 %56
  %60 = load i8, ptr %59, align 1
  %61 = load ptr, ptr %23, align 8
  %62 = getelementptr i8, ptr %61, i64 %37
  %63 = getelementptr i8, ptr %62, i64 %56
  store i8 %60, ptr %63, align 1
  %64 = add nuw nsw i64 %56, 1
  %65 = icmp eq i64 %64, %0
  br i1 %65, label %54, label %55, !llvm.loop !9

66:                                               ; preds = %54, %75
  %67 = phi i64 [ %68, %75 ], [ %5, %54 ]
  %68 = add nsw i64 %67, -1
  %69 = getelementptr inbounds nuw i64, ptr %4, i64 %68
  %70 = load i64, ptr %69, align 8
  %71 = add nsw i64 %70, 1
  store i64 %71, ptr %69, align 8
  %72 = getelementptr inbounds nuw i64, ptr %10, i64 %68
  %73 = load i64, ptr %72, align 8
  %74 = icmp eq i64 %71, %73
  br i1 %74, label %75, label %29, !llvm.loop !10

75:                                               ; preds = %66
  store i64 0, ptr %69, align 8
  %76 = icmp samesign ugt i64 %67, 1
  br i1 %76, label %66, label %77, !llvm.loop !11

77:                                               ; preds = %24, %54, %75
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #5
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden bfloat @__truncsfbf2(float noundef %0) local_unnamed_addr #3 {
  %2 = bitcast float %0 to i32
  %3 = tail call float @llvm.fabs.f32(float %0)
  %4 = bitcast float %3 to i32
  %5 = icmp samesign ugt i32 %4, 2139095040
  br i1 %5, label %6, label %10

6:                                                ; preds = %1
  %7 = lshr i32 %2, 16
  %8 = trunc nuw i32 %7 to i16
  %9 = or i16 %8, 64
  br label %17

10:                                               ; preds = %1
  %11 = add i32 %2, 32767
  %12 = lshr i32 %2, 16
  %13 = and i32 %12, 1
  %14 = add i32 %11, %13
  %15 = lshr i32 %14, 16
  %16 = trunc nuw i32 %15 to i16
  br label %17

17:                                               ; preds = %10, %6
  %18 = phi i16 [ %9, %6 ], [ %16, %10 ]
  %19 = bitcast i16 %18 to bfloat
  ret bfloat %19
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden bfloat @__truncdfbf2(double noundef %0) local_unnamed_addr #3 {
  %2 = fptrunc double %0 to float
  %3 = fpext float %2 to double
  %4 = fcmp une double %0, %3
  br i1 %4, label %5, label %18

5:                                                ; preds = %1
  %6 = bitcast float %2 to i32
  %7 = and i32 %6, 1
  %8 = icmp eq i32 %7, 0
  %9 = fcmp ord double %0, 0.000000e+00
  %10 = and i1 %9, %8
  br i1 %10, label %11, label %18

11:                                               ; preds = %5
  %12 = fcmp ogt double %0, %3
  %13 = fcmp ule double %0, 0.000000e+00
  %14 = xor i1 %13, %12
  %15 = select i1 %14, i32 1, i32 -1
  %16 = add i32 %15, %6
  %17 = bitcast i32 %16 to float
  br label %18

18:                                               ; preds = %11, %5, %1
  %19 = phi float [ %17, %11 ], [ %2, %1 ], [ %2, %5 ]
  %20 = bitcast float %19 to i32
  %21 = tail call float @llvm.fabs.f32(float %19)
  %22 = bitcast float %21 to i32
  %23 = icmp samesign ugt i32 %22, 2139095040
  br i1 %23, label %24, label %28

24:                                               ; preds = %18
  %25 = lshr i32 %20, 16
  %26 = trunc nuw i32 %25 to i16
  %27 = or i16 %26, 64
  br label %35

28:                                               ; preds = %18
  %29 = add i32 %20, 32767
  %30 = lshr i32 %20, 16
  %31 = and i32 %30, 1
  %32 = add i32 %29, %31
  %33 = lshr i32 %32, 16
  %34 = trunc nuw i32 %33 to i16
  br label %35

35:                                               ; preds = %24, %28
  %36 = phi i16 [ %27, %24 ], [ %34, %28 ]
  %37 = bitcast i16 %36 to bfloat
  ret bfloat %37
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fabs.f32(float) #4

attributes #0 = { nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #3 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "no-builtins" "no-trapping-math"="true" }
attributes #4 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
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
!10 = distinct !{!10, !7}
!11 = distinct !{!11, !6, !7}
