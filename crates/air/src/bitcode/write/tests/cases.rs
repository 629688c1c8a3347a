//! Modules with every kind of instruction, constant, attribute and metadata, as LLVM 22 prints them.

/// A module that is written and read back unchanged. After it, lines that LLVM 14 prints for it.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) lines_of_14: &'static [&'static str],
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "arithmetic",
        text: "
define i32 @f(i32 %0, i32 %1) {
  %3 = add nuw nsw i32 %0, %1
  %4 = sub i32 %3, 7
  %5 = mul nsw i32 %4, -3
  %6 = udiv exact i32 %5, %1
  %7 = sdiv i32 %6, 5
  %8 = urem i32 %7, 9
  %9 = srem i32 %8, %0
  %10 = shl nuw i32 %9, 3
  %11 = lshr exact i32 %10, 1
  %12 = ashr i32 %11, 2
  %13 = and i32 %12, 255
  %14 = or i32 %13, %0
  %15 = xor i32 %14, -1
  %16 = freeze i32 %15
  ret i32 %16
}

define <4 x float> @g(<4 x float> %0, <4 x float> %1) {
  %3 = fadd fast <4 x float> %0, %1
  %4 = fsub nnan ninf <4 x float> %3, %0
  %5 = fmul reassoc nsz arcp contract afn <4 x float> %4, %1
  %6 = fdiv <4 x float> %5, splat (float 2.000000e+00)
  %7 = frem <4 x float> %6, %0
  %8 = fneg nsz <4 x float> %7
  ret <4 x float> %8
}
",
        lines_of_14: &["%9 = srem i32 %8, %0", "%3 = fadd fast <4 x float> %0, %1"],
    },
    Case {
        name: "comparisons and selection",
        text: "
define i1 @f(i32 %0, float %1, ptr addrspace(1) %2, ptr addrspace(1) %3) {
  %5 = icmp ugt i32 %0, 4
  %6 = icmp sle i32 %0, -4
  %7 = fcmp olt float %1, 5.000000e-01
  %8 = fcmp nnan une float %1, 0.000000e+00
  %9 = icmp eq ptr addrspace(1) %2, %3
  %10 = icmp ne ptr addrspace(1) null, %3
  %11 = select i1 %5, i1 %6, i1 %7
  %12 = select i1 %11, ptr addrspace(1) %2, ptr addrspace(1) %3
  %13 = select nnan i1 %8, float %1, float 0x7FF8000000000000
  store float %13, ptr addrspace(1) %12, align 4
  %14 = or i1 %9, %10
  ret i1 %14
}
",
        lines_of_14: &[
            "define i1 @f(i32 %0, float %1, float addrspace(1)* %2, float addrspace(1)* %3) {",
            "%12 = select i1 %11, float addrspace(1)* %2, float addrspace(1)* %3",
        ],
    },
    Case {
        name: "casts",
        text: "
define i64 @f(i32 %0, float %1, ptr addrspace(3) %2, half %3, bfloat %4) {
  %6 = trunc i32 %0 to i8
  %7 = zext i8 %6 to i64
  %8 = sext i8 %6 to i64
  %9 = fptoui float %1 to i64
  %10 = fptosi half %3 to i64
  %11 = uitofp i64 %9 to bfloat
  %12 = sitofp i64 %10 to half
  %13 = fpext half %12 to float
  %14 = fptrunc float %13 to bfloat
  %15 = bitcast bfloat %14 to i16
  %16 = ptrtoint ptr addrspace(3) %2 to i64
  %17 = inttoptr i64 %16 to ptr addrspace(1)
  %18 = addrspacecast ptr addrspace(3) %2 to ptr
  store i16 %15, ptr addrspace(1) %17, align 2
  store bfloat %11, ptr %18, align 2
  %19 = add i64 %7, %8
  ret i64 %19
}
",
        lines_of_14: &[
            "%17 = inttoptr i64 %16 to i16 addrspace(1)*",
            "%18 = addrspacecast bfloat addrspace(3)* %2 to bfloat*",
        ],
    },
    Case {
        name: "vectors and aggregates",
        text: "
%struct.pair = type { i32, [2 x float] }

define float @f(<4 x float> %0, <3 x i32> %1, i32 %2, ptr %3) {
  %5 = extractelement <4 x float> %0, i32 %2
  %6 = insertelement <4 x float> %0, float %5, i64 2
  %7 = insertelement <4 x float> poison, float %5, i64 0
  %8 = shufflevector <4 x float> %6, <4 x float> %7, <2 x i32> <i32 1, i32 poison>
  %9 = extractelement <2 x float> %8, i32 0
  %10 = insertvalue { i32, [2 x float] } undef, float %9, 1, 1
  %11 = extractvalue { i32, [2 x float] } %10, 1, 0
  %12 = getelementptr inbounds %struct.pair, ptr %3, i64 0, i32 1, i64 1
  %13 = load float, ptr %12, align 4
  %14 = fadd float %11, %13
  ret float %14
}
",
        lines_of_14: &[
            "define float @f(<4 x float> %0, <3 x i32> %1, i32 %2, %struct.pair* %3) {",
            "%12 = getelementptr inbounds %struct.pair, %struct.pair* %3, i64 0, i32 1, i64 1",
        ],
    },
    Case {
        name: "control flow",
        text: "
define i32 @f(i32 %0, ptr addrspace(1) %1) {
  switch i32 %0, label %8 [
    i32 1, label %3
    i32 -5, label %4
    i32 9, label %3
  ]

3:                                                ; preds = %2, %2
  br label %4

4:                                                ; preds = %4, %3, %2
  %5 = phi i32 [ 0, %2 ], [ 1, %3 ], [ %6, %4 ]
  %6 = add i32 %5, %0
  %7 = icmp slt i32 %6, 100
  br i1 %7, label %4, label %9

8:                                                ; preds = %2
  unreachable

9:                                                ; preds = %4
  %10 = phi fast float [ 1.000000e+00, %4 ]
  store float %10, ptr addrspace(1) %1, align 4
  ret i32 %6
}
",
        lines_of_14: &["i32 -5, label %4", "%10 = phi fast float [ 1.000000e+00, %4 ]"],
    },
    Case {
        name: "pointers that change their type in a phi",
        text: "
define void @f(ptr addrspace(1) %0, ptr addrspace(1) %1, i1 %2) {
  br i1 %2, label %4, label %6

4:                                                ; preds = %3
  %5 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 4
  br label %8

6:                                                ; preds = %3
  %7 = getelementptr inbounds half, ptr addrspace(1) %1, i64 4
  br label %8

8:                                                ; preds = %8, %6, %4
  %9 = phi ptr addrspace(1) [ %5, %4 ], [ %7, %6 ], [ %10, %8 ]
  %10 = getelementptr inbounds float, ptr addrspace(1) %9, i64 1
  %11 = load float, ptr addrspace(1) %10, align 4
  %12 = load float, ptr addrspace(1) %9, align 4
  %13 = fcmp olt float %11, %12
  br i1 %13, label %8, label %14

14:                                               ; preds = %8
  ret void
}
",
        lines_of_14: &[
            "define void @f(i32 addrspace(1)* %0, half addrspace(1)* %1, i1 %2) {",
            "%6 = bitcast i32 addrspace(1)* %5 to float addrspace(1)*",
            "%9 = bitcast half addrspace(1)* %8 to float addrspace(1)*",
            "%11 = phi float addrspace(1)* [ %6, %4 ], [ %9, %7 ], [ %12, %10 ]",
        ],
    },
    Case {
        name: "a value that is defined in a later block",
        text: "
define float @f(ptr %0) {
  br label %6

2:                                                ; preds = %6
  %3 = getelementptr inbounds i8, ptr %7, i64 4
  %4 = load float, ptr %3, align 4
  %5 = fadd float %4, %8
  ret float %5

6:                                                ; preds = %1
  %7 = getelementptr inbounds float, ptr %0, i64 1
  %8 = load float, ptr %7, align 4
  br label %2
}
",
        lines_of_14: &["%3 = bitcast float* %9 to i8*", "%5 = bitcast i8* %4 to float*", "%7 = fadd float %6, %10"],
    },
    Case {
        name: "memory",
        text: "
define void @f(ptr %0, ptr addrspace(1) %1) {
  %3 = alloca float, align 4
  %4 = alloca [4 x i32], i32 2, align 16
  %5 = alloca ptr addrspace(1), align 8
  store ptr addrspace(1) %1, ptr %5, align 8
  store volatile float 1.000000e+00, ptr %3, align 4
  %6 = load volatile i32, ptr %4, align 4
  %7 = load ptr addrspace(1), ptr %5, align 8
  %8 = getelementptr <2 x half>, ptr addrspace(1) %7, i64 3
  %9 = load <2 x half>, ptr addrspace(1) %8, align 2
  store <2 x half> %9, ptr %0, align 4
  store i32 %6, ptr %0, align 1
  ret void
}
",
        lines_of_14: &[
            "define void @f(<2 x half>* %0, <2 x half> addrspace(1)* %1) {",
            "%5 = alloca <2 x half> addrspace(1)*, align 8",
            "%8 = load <2 x half> addrspace(1)*, <2 x half> addrspace(1)** %5, align 8",
        ],
    },
    Case {
        name: "atomics",
        text: "
define void @f(ptr addrspace(1) %0, ptr %1) {
  %3 = load atomic i32, ptr addrspace(1) %0 acquire, align 4
  store atomic i32 %3, ptr addrspace(1) %0 syncscope(\"agent\") release, align 4
  fence syncscope(\"singlethread\") seq_cst
  %4 = cmpxchg weak volatile ptr addrspace(1) %0, i32 %3, i32 7 acq_rel monotonic, align 4
  %5 = extractvalue { i32, i1 } %4, 0
  %6 = atomicrmw add ptr addrspace(1) %0, i32 %5 monotonic, align 4
  %7 = atomicrmw volatile fsub ptr %1, float 1.000000e+00 seq_cst, align 8
  %8 = atomicrmw umin ptr addrspace(1) %0, i32 %6 syncscope(\"agent\") acquire, align 4
  ret void
}
",
        lines_of_14: &["%4 = cmpxchg weak volatile i32 addrspace(1)* %0, i32 %3, i32 7 acq_rel monotonic, align 4"],
    },
    Case {
        name: "calls",
        text: "
define internal float @g(ptr addrspace(1) %0, float %1) {
  %3 = load float, ptr addrspace(1) %0, align 4
  %4 = fmul float %3, %1
  ret float %4
}

define float @f(ptr addrspace(1) %0, ptr %1) {
  %3 = tail call fast float @g(ptr addrspace(1) %0, float 2.000000e+00)
  %4 = notail call float @air.atomic.global.add.f32(ptr addrspace(1) %0, float %3, i32 0, i32 2, i1 true)
  %5 = call float %1(ptr addrspace(1) %0, float %4)
  %6 = call float @llvm.fma.f32(float %3, float %4, float %5)
  call void @llvm.memcpy.p0.p1.i64(ptr align 4 %1, ptr addrspace(1) align 8 %0, i64 16, i1 false)
  call void @llvm.assume(i1 true) [ \"align\"(ptr addrspace(1) %0, i64 8) ]
  ret float %6
}

declare float @air.atomic.global.add.f32(ptr addrspace(1), float, i32, i32, i1)

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #0

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) #1

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p1.i64(ptr noalias writeonly captures(none), ptr addrspace(1) noalias readonly captures(none), i64, i1 immarg) #2

attributes #0 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }
attributes #2 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
",
        lines_of_14: &[
            "declare float @air.atomic.global.add.f32(float addrspace(1)*, float, i32, i32, i1)",
            "define internal float @g(float addrspace(1)* %0, float %1) {",
            "call void @llvm.assume(i1 true) [ \"align\"(float addrspace(1)* %0, i64 8) ]",
        ],
    },
    Case {
        name: "the lifetime of a variable",
        text: "
define void @f() {
  %1 = alloca [3 x <3 x float>], align 16
  call void @llvm.lifetime.start.p0(ptr %1)
  store i32 1, ptr %1, align 4
  call void @llvm.lifetime.end.p0(ptr %1)
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #0

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #0

attributes #0 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
",
        lines_of_14: &["call void @llvm.lifetime.start.p0i8(i64 48, i8* %2)"],
    },
    Case {
        name: "constants",
        text: "
@numbers = internal addrspace(2) constant [3 x i32] [i32 1, i32 -2, i32 3], align 4
@halves = internal addrspace(2) constant [2 x half] [half 0xH3C00, half 0xH8000], align 2
@brains = internal addrspace(2) constant <2 x bfloat> <bfloat 0xR3F80, bfloat 0xR0000>, align 4
@text = private unnamed_addr constant [4 x i8] c\"abc\\00\"
@bytes = private unnamed_addr constant [3 x i8] c\"\\FF\\00\\01\"
@zero = internal addrspace(3) global [16 x float] zeroinitializer, align 16
@wide = constant i128 -170141183460469231731687303715884105727
@double = constant double 1.000000e-01
@structure = global { i32, ptr, <{ i8, i16 }> } { i32 7, ptr @text, <{ i8, i16 }> <{ i8 1, i16 2 }> }
@addresses = global [2 x ptr] [ptr getelementptr inbounds (i8, ptr @text, i64 2), ptr getelementptr ([3 x i8], ptr @bytes, i64 0, i64 1)]
@unknown = global [2 x i32] [i32 undef, i32 poison]
@cast = global ptr addrspacecast (ptr addrspace(3) @zero to ptr)
@number = global i64 ptrtoint (ptr @text to i64)
@pointer = global ptr inttoptr (i64 16 to ptr)
@sum = global i64 add (i64 ptrtoint (ptr @text to i64), i64 4)
@outside = external addrspace(2) global float, align 4

define float @f(i64 %0) {
  %2 = load float, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @zero, i64 8), align 4
  %3 = load i32, ptr addrspace(3) @zero, align 4
  store ptr null, ptr @cast, align 8
  store ptr @f, ptr @cast, align 8
  store <2 x float> zeroinitializer, ptr addrspace(3) @zero, align 8
  store <2 x i16> <i16 undef, i16 5>, ptr addrspace(3) @zero, align 4
  ret float %2
}
",
        lines_of_14: &[
            "@structure = global { i32, i8*, <{ i8, i16 }> } { i32 7, i8* getelementptr inbounds ([4 x i8], [4 x i8]* @text, \
             i32 0, i32 0), <{ i8, i16 }> <{ i8 1, i16 2 }> }",
            "store i8* bitcast (float (i64)* @f to i8*), i8** @cast, align 8",
        ],
    },
    Case {
        name: "globals",
        text: "
@a.MTL_FC_INIT_0_j = internal unnamed_addr addrspace(2) externally_initialized constant i32 undef, section \"air.fc_initializer\", align 4
@b = weak_odr hidden local_unnamed_addr global i32 0, align 8
@c = thread_local global i32 0
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(2) @a.MTL_FC_INIT_0_j to ptr)], section \"llvm.metadata\"
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @init, ptr null }]

define internal void @init() section \"air.static_init\" {
  ret void
}

define linkonce_odr fastcc void @g() unnamed_addr align 16 {
  ret void
}
",
        lines_of_14: &[
            "@llvm.global_ctors = appending global [1 x { i32, void ()*, i8* }] [{ i32, void ()*, i8* } { i32 65535, void ()* \
             @init, i8* null }]",
        ],
    },
    Case {
        name: "attributes",
        text: "
; Function Attrs: convergent mustprogress nounwind memory(read)
define noundef float @f(ptr addrspace(1) noalias noundef nonnull readonly align 4 captures(none) dereferenceable(16) \"air-buffer-no-alias\" %0, i8 zeroext %1) local_unnamed_addr #0 {
  %3 = call float @g(ptr addrspace(1) nonnull %0) #3
  ret float %3
}

; Function Attrs: memory(none)
declare float @g(ptr addrspace(1)) #1

; Function Attrs: nofree memory(argmem: read)
declare void @h(ptr byval({ i32, float }) align 4) #2

attributes #0 = { convergent mustprogress nounwind memory(read) \"frame-pointer\"=\"all\" \"no-builtins\" }
attributes #1 = { memory(none) }
attributes #2 = { nofree memory(argmem: read) }
attributes #3 = { nounwind }
",
        lines_of_14: &[
            "attributes #0 = { convergent mustprogress nounwind readonly \"frame-pointer\"=\"all\" \"no-builtins\" }",
            "attributes #1 = { readnone }",
            "attributes #2 = { argmemonly nofree readonly }",
            "declare void @h({ i32, float }* byval({ i32, float }) align 4) #2",
        ],
    },
    Case {
        name: "metadata",
        text: "
@table = internal global i32 0, !name !0

define void @f(ptr addrspace(1) %0, i32 %1) !name !3 {
  br label %3

3:                                                ; preds = %3, %2
  %4 = load i32, ptr addrspace(1) %0, align 4, !tbaa !4, !range !7, !alias.scope !8, !noalias !8
  store i32 %4, ptr addrspace(1) %0, align 4, !tbaa !4
  %5 = icmp ult i32 %4, %1
  br i1 %5, label %3, label %6, !prof !11, !llvm.loop !12

6:                                                ; preds = %3
  ret void
}

!air.kernel = !{!1}
!some.values = !{!2}

!0 = !{!\"a name\", null, i64 -1}
!1 = !{ptr @f, !0, !0}
!2 = !{!\"Metalworks\", [2 x i32] [i32 14, i32 0], float 1.000000e+00, ptr addrspace(1) null}
!3 = distinct !{!3}
!4 = !{!5, !5, i64 0}
!5 = !{!\"int\", !6, i64 0}
!6 = !{!\"root\"}
!7 = !{i32 0, i32 100}
!8 = !{!9}
!9 = distinct !{!9, !10}
!10 = distinct !{!10}
!11 = !{!\"branch_weights\", i32 2000, i32 1}
!12 = distinct !{!12, !13}
!13 = !{!\"llvm.loop.mustprogress\"}
",
        lines_of_14: &["!1 = !{void (i32 addrspace(1)*, i32)* @f, !0, !0}"],
    },
    Case {
        name: "the types of a kernel's arguments",
        text: "
define void @k(ptr addrspace(1) %0, ptr addrspace(2) %1, ptr addrspace(1) %2) {
  %4 = getelementptr i8, ptr addrspace(1) %0, i64 16
  %5 = load <4 x float>, ptr addrspace(1) %4, align 16
  store <4 x float> %5, ptr addrspace(1) %0, align 16
  ret void
}

!air.kernel = !{!0}

!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5}
!3 = !{i32 0, !\"air.buffer\", !\"air.arg_type_name\", !\"float\", !\"air.arg_name\", !\"x\"}
!4 = !{i32 1, !\"air.buffer\", !\"air.arg_type_name\", !\"half4\", !\"air.arg_name\", !\"unused\"}
!5 = !{i32 2, !\"air.buffer\", !\"air.arg_type_name\", !\"block\", !\"air.arg_name\", !\"also\"}
",
        lines_of_14: &["define void @k(float addrspace(1)* %0, <4 x half> addrspace(2)* %1, i8 addrspace(1)* %2) {"],
    },
    Case {
        name: "vectors of pointers",
        text: "
define <2 x i32> @f(ptr %0, <2 x i64> %1) {
  %3 = getelementptr i32, ptr %0, <2 x i64> %1
  %4 = extractelement <2 x ptr> %3, i32 1
  %5 = load i32, ptr %4, align 4
  %6 = insertelement <2 x ptr> %3, ptr %0, i32 0
  %7 = getelementptr float, <2 x ptr> %6, i64 1
  %8 = ptrtoint <2 x ptr> %7 to <2 x i32>
  ret <2 x i32> %8
}
",
        lines_of_14: &["%3 = getelementptr i32, i32* %0, <2 x i64> %1"],
    },
    Case {
        name: "pointers in structures, results and variables",
        text: "
%struct.node = type { ptr, i32, ptr addrspace(1) }

@roots = internal global [2 x %struct.node] zeroinitializer, align 8

define internal ptr @next(ptr %0, i1 %1) {
  %3 = getelementptr inbounds %struct.node, ptr %0, i64 1
  %4 = load ptr, ptr %3, align 8
  %5 = freeze ptr %4
  %6 = select i1 %1, ptr %5, ptr null
  ret ptr %6
}

define { ptr, i32 } @f(i64 %0, ptr addrspace(1) %1) {
  %3 = alloca ptr, align 8
  %4 = getelementptr inbounds [2 x %struct.node], ptr @roots, i64 0, i64 %0
  %5 = call ptr @next(ptr %4, i1 true)
  store ptr %5, ptr %3, align 8
  store i64 0, ptr %3, align 8
  %6 = load ptr, ptr %3, align 8
  %7 = getelementptr inbounds %struct.node, ptr %6, i64 0, i32 2
  store ptr addrspace(1) %1, ptr %7, align 8
  %8 = cmpxchg ptr %3, ptr %5, ptr null seq_cst seq_cst, align 8
  %9 = extractvalue { ptr, i1 } %8, 0
  %10 = insertvalue { ptr, i32 } undef, ptr %9, 0
  %11 = insertvalue { ptr, i32 } %10, i32 1, 1
  ret { ptr, i32 } %11
}
",
        lines_of_14: &[
            "%struct.node = type { i8*, i32, i8 addrspace(1)* }",
            "define { i8*, i32 } @f(i64 %0, i8 addrspace(1)* %1) {",
            "%3 = alloca %struct.node*, align 8",
        ],
    },
    Case {
        name: "debug information",
        text: "
define void @f() !dbg !3 {
  %1 = alloca i32, align 4
  store i32 1, ptr %1, align 4, !dbg !6
  store i32 2, ptr %1, align 4, !dbg !6
  store i32 3, ptr %1, align 4, !dbg !7
  ret void, !dbg !10
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: \"Metalworks\", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false)
!1 = !DIFile(filename: \"f.metal\", directory: \"/tmp\", checksumkind: CSK_MD5, checksum: \"000102030405060708090a0b0c0d0e0f\")
!2 = !{i32 2, !\"Debug Info Version\", i32 3}
!3 = distinct !DISubprogram(name: \"f\", linkageName: \"_Z1fv\", scope: !1, file: !1, line: 3, type: !4, scopeLine: 4, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!6 = !DILocation(line: 5, column: 9, scope: !3)
!7 = !DILocation(line: 7, column: 2, scope: !8, inlinedAt: !6)
!8 = !DILexicalBlock(scope: !9, file: !1, line: 6, column: 1)
!9 = !DILexicalBlockFile(scope: !3, file: !1, discriminator: 2)
!10 = !DILocation(line: 8, column: 1, scope: !3)
",
        lines_of_14: &["!6 = !DILocation(line: 5, column: 9, scope: !3)"],
    },
];

/// Modules that cannot be written, and the reason.
pub(super) const REFUSED: &[(&str, &str)] = &[
    ("declare i32 @llvm.ucmp.i32.i32(i32, i32)", "LLVM 14 has no function 'llvm.ucmp.i32.i32'"),
    ("declare i1 @llvm.is.fpclass.f32(float, i32 immarg)", "LLVM 14 has no function 'llvm.is.fpclass.f32'"),
    ("@a = global i32 0\n@b = alias i32, ptr @a", "a record 14 of the module, such as an alias"),
    (
        "define void @f(ptr %0) {\n  %2 = atomicrmw fmax ptr %0, float 1.0 monotonic\n  ret void\n}",
        "an atomicrmw with an operation that LLVM 14 does not have",
    ),
    ("define void @f(<vscale x 4 x i32> %0) {\n  ret void\n}", "a scalable vector"),
    ("@a = global target(\"spirv.Image\") poison", "a type of kind 26"),
    (
        "define i64 @f(ptr %0) {\n  %2 = ptrtoaddr ptr %0 to i64\n  ret i64 %2\n}",
        "a cast that LLVM 14 does not have",
    ),
    ("define void @f(ptr %0) {\n  indirectbr ptr %0, []\n}", "an instruction of kind 31"),
];
