// RUN: tir-opt %s -p tir-lower-thread-conditions | FileCheck %s

module attributes {tir.thread_work = 42000 : i64} {
// A loop of constant bounds has its threads; no condition asks for them.
// CHECK-LABEL: func.func @constant
// CHECK: omp.parallel {
func.func @constant(%A: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 0.0 : f32
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%c8) step (%c1) {
        memref.store %x, %A[%i] : memref<?xf32>
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// One that calls decide on starts threads for several iterations with as much work as the module says. The bound of the
// inner loop, which an iteration computes, is that of the middle one.
// CHECK-LABEL: func.func @symbolic
// CHECK: %[[middle:.*]] = arith.shrsi
// CHECK: arith.minsi %[[middle]], %arg1
// CHECK: %[[several:.*]] = arith.cmpf ogt, %[[iterations:.*]], %{{.*}} : f64
// CHECK: %[[least:.*]] = arith.constant 4.200000e+04 : f64
// CHECK: %[[enough:.*]] = arith.cmpf oge, %{{.*}}, %[[least]] : f64
// CHECK: %[[both:.*]] = arith.andi %[[several]], %[[enough]] : i1
// CHECK: omp.parallel if(%[[both]]) {
func.func @symbolic(%A: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 0.0 : f32
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        %end = arith.minsi %i, %n : index
        scf.for %j = %c0 to %end step %c1 {
          memref.store %x, %A[%j] : memref<?xf32>
        }
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// A branch compares an element with a constant: what the constant is makes no difference.
// CHECK-LABEL: func.func @branch
// CHECK: omp.parallel {
func.func @branch(%A: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 0.0 : f32
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%c8) step (%c1) {
        %a = memref.load %A[%i] : memref<?xf32>
        %p = arith.cmpf ogt, %a, %x : f32
        scf.if %p {
          memref.store %x, %A[%i] : memref<?xf32>
        }
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// The tail of a constant extent is a loop whose bound an iteration computes of constants: what scheduled it has decided.
// CHECK-LABEL: func.func @tail
// CHECK: omp.parallel {
func.func @tail(%A: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 0.0 : f32
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%c8) step (%c1) {
        scf.for %j = %c0 to %i step %c1 {
          memref.store %x, %A[%j] : memref<?xf32>
        }
        omp.yield
      }
    }
    omp.terminator
  }
  return
}
}
