
; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__extendhfsf2(half noundef %0) local_unnamed_addr #0 {
  %2 = tail call half @llvm.fabs.f16(half %0)
  %3 = bitcast half %2 to i16
  %4 = zext nneg i16 %3 to i32
  %5 = shl nuw nsw i32 %4, 13
  %6 = bitcast i32 %5 to float
  %7 = fmul float %6, 0x46F0000000000000
  %8 = bitcast float %7 to i32
  %9 = icmp samesign ugt i16 %3, 31743
  %10 = icmp eq i16 %3, 31744
  %11 = select i1 %10, i32 2139095040, i32 2143289344
  %12 = or i32 %11, %5
  %13 = select i1 %9, i32 %12, i32 %8
  %14 = bitcast half %0 to i16
  %15 = sext i16 %14 to i32
  %16 = and i32 %15, -2147483648
  %17 = or i32 %13, %16
  %18 = bitcast i32 %17 to float
  ret float %18
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden half @__truncdfhf2(double noundef %0) local_unnamed_addr #0 {
  %2 = bitcast double %0 to i64
  %3 = lshr i64 %2, 48
  %4 = trunc nuw i64 %3 to i16
  %5 = and i16 %4, -32768
  %6 = tail call double @llvm.fabs.f64(double %0)
  %7 = bitcast double %6 to i64
  %8 = icmp samesign ugt i64 %7, 9218868437227405312
  br i1 %8, label %9, label %15

9:                                                ; preds = %1
  %10 = lshr i64 %7, 42
  %11 = trunc i64 %10 to i16
  %12 = and i16 %11, 511
  %13 = or disjoint i16 %5, %12
  %14 = or disjoint i16 %13, 32256
  br label %41

15:                                               ; preds = %1
  %16 = fcmp ult double %6, 6.552000e+04
  br i1 %16, label %19, label %17

17:                                               ; preds = %15
  %18 = or disjoint i16 %5, 31744
  br label %41

19:                                               ; preds = %15
  %20 = fcmp olt double %6, 0x3F10000000000000
  br i1 %20, label %21, label %27

21:                                               ; preds = %19
  %22 = fadd double %6, 0x41B0000000000000
  %23 = bitcast double %22 to i64
  %24 = trunc i64 %23 to i16
  %25 = and i16 %24, 2047
  %26 = or disjoint i16 %25, %5
  br label %41

27:                                               ; preds = %19
  %28 = lshr i64 %7, 42
  %29 = and i64 %7, 4398046511103
  %30 = icmp samesign ugt i64 %29, 2199023255552
  br i1 %30, label %35, label %31

31:                                               ; preds = %27
  %32 = add nsw i64 %28, -1032192
  %33 = and i64 %7, 8796093022207
  %34 = icmp eq i64 %33, 6597069766656
  br i1 %34, label %35, label %37

35:                                               ; preds = %31, %27
  %36 = add nsw i64 %28, -1032191
  br label %37

37:                                               ; preds = %35, %31
  %38 = phi i64 [ %36, %35 ], [ %32, %31 ]
  %39 = trunc i64 %38 to i16
  %40 = or i16 %5, %39
  br label %41

41:                                               ; preds = %9, %17, %21, %37
  %42 = phi i16 [ %14, %9 ], [ %18, %17 ], [ %26, %21 ], [ %40, %37 ]
  %43 = bitcast i16 %42 to half
  ret half %43
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden half @__truncsfhf2(float noundef %0) local_unnamed_addr #0 {
  %2 = fpext float %0 to double
  %3 = bitcast double %2 to i64
  %4 = lshr i64 %3, 48
  %5 = trunc nuw i64 %4 to i16
  %6 = and i16 %5, -32768
  %7 = tail call double @llvm.fabs.f64(double %2)
  %8 = bitcast double %7 to i64
  %9 = icmp samesign ugt i64 %8, 9218868437227405312
  br i1 %9, label %10, label %16

10:                                               ; preds = %1
  %11 = lshr i64 %8, 42
  %12 = trunc i64 %11 to i16
  %13 = and i16 %12, 511
  %14 = or disjoint i16 %6, %13
  %15 = or disjoint i16 %14, 32256
  br label %42

16:                                               ; preds = %1
  %17 = fcmp ult double %7, 6.552000e+04
  br i1 %17, label %20, label %18

18:                                               ; preds = %16
  %19 = or disjoint i16 %6, 31744
  br label %42

20:                                               ; preds = %16
  %21 = fcmp olt double %7, 0x3F10000000000000
  br i1 %21, label %22, label %28

22:                                               ; preds = %20
  %23 = fadd double %7, 0x41B0000000000000
  %24 = bitcast double %23 to i64
  %25 = trunc i64 %24 to i16
  %26 = and i16 %25, 2047
  %27 = or disjoint i16 %26, %6
  br label %42

28:                                               ; preds = %20
  %29 = lshr i64 %8, 42
  %30 = and i64 %8, 4398046511103
  %31 = icmp samesign ugt i64 %30, 2199023255552
  br i1 %31, label %36, label %32

32:                                               ; preds = %28
  %33 = add nsw i64 %29, -1032192
  %34 = and i64 %8, 8796093022207
  %35 = icmp eq i64 %34, 6597069766656
  br i1 %35, label %36, label %38

36:                                               ; preds = %32, %28
  %37 = add nsw i64 %29, -1032191
  br label %38

38:                                               ; preds = %36, %32
  %39 = phi i64 [ %37, %36 ], [ %33, %32 ]
  %40 = trunc i64 %39 to i16
  %41 = or i16 %6, %40
  br label %42

42:                                               ; preds = %10, %18, %22, %38
  %43 = phi i16 [ %15, %10 ], [ %19, %18 ], [ %27, %22 ], [ %41, %38 ]
  %44 = bitcast i16 %43 to half
  ret half %44
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare half @llvm.fabs.f16(half) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #1

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "no-builtins" "no-trapping-math"="true" }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 7, !"Dwarf Version", i32 4}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{i32 8, !"PIC Level", i32 2}
!3 = !{i32 7, !"frame-pointer", i32 2}
!4 = !{!"clang version 22.1.8"}
