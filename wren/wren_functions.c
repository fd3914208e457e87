/* made by tir_mlir */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* no loop becomes a call of memset */
#endif
#include <stdbool.h>
#include <stdint.h>
#include "wren.h"
static inline float as_f32(int32_t x) {
  union { int32_t old; float made; } same = { x };
  return same.made;
}
static inline int32_t as_i32(float x) {
  union { float old; int32_t made; } same = { x };
  return same.made;
}
static inline float maximum_f32(float a, float b) {
  union { float value; uint32_t bits; } zero = { a }, other = { b };
  if (a != a) return a;
  if (b != b) return b;
  if (a > b || a < b) return a > b ? a : b;
  zero.bits &= other.bits; /* of 0 and -0 */
  return zero.value;
}
#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#else
#define ALIGNED
#endif

/* temporaries of the CPU; the functions run one after the other */
static float float32_temporaries[320] ALIGNED;

/* X: 5 x 20 of float32 */
/* Y: 5 x 12 of float32 */
/* W_pad: 24 x 16 of float32 */
void wren_wren_product_5x12x20(const float *X, float *Y, const float *W_pad);
void wren_wren_product_5x12x20(const float *X, float *Y, const float *W_pad)
{
  enum { X_PAD_GLOBAL_V = 32 }; /* rows 32 to 47 of V: 2 x 1 x 8 x 8 */
  enum { W_PAD_GLOBAL_V = 0 }; /* rows 0 to 31 of V: 2 x 2 x 8 x 8 */
  enum { Y_PAD_GLOBAL_S = 0 }; /* rows 0 to 15 of S: 2 x 8 x 8 */
  float *const X_pad = float32_temporaries; /* 8 x 24 */
  float *const Y_pad = float32_temporaries + 192; /* 8 x 16 */
  /* on the CPU: X -> X_pad */
  for (int32_t i0 = 0; i0 < 8; ++i0) {
    for (int32_t i1 = 0; i1 < 24; ++i1) {
      float chosen;
      if (i0 < 5 && i1 < 20) {
        chosen = X[i0 * 20 + i1];
      } else {
        chosen = 0.0f;
      }
      X_pad[i0 * 24 + i1] = chosen;
    }
  }
  for (int32_t i_0_init = 0; i_0_init < 1; ++i_0_init) { /* -> Y_pad_global_S */
    for (int32_t j_0_init = 0; j_0_init < 2; ++j_0_init) {
      CLR(Y_PAD_GLOBAL_S + j_0_init * 8);
    }
  }
  for (int32_t k_0 = 0; k_0 < 4; ++k_0) { /* X_pad, W_pad -> X_pad_global_V, W_pad_global_V, Y_pad_global_S */
    SETS(24);
    for (int32_t ax0_0 = 0; ax0_0 < 1; ++ax0_0) { /* X_pad -> X_pad_global_V */
      for (int32_t ax1_0 = 0; ax1_0 < 1; ++ax1_0) {
        if (k_0 <= 2) {
          LDV(X_PAD_GLOBAL_V + (k_0 % 2) * 8, X_pad + k_0 * 8 + ax1_0 * 8, 8);
        }
      }
    }
    SETS(16);
    for (int32_t ax0_0_ = 0; ax0_0_ < 1; ++ax0_0_) { /* W_pad -> W_pad_global_V */
      for (int32_t ax1_0_ = 0; ax1_0_ < 2; ++ax1_0_) {
        if (k_0 <= 2) {
          LDV(W_PAD_GLOBAL_V + (k_0 % 2) * 16 + ax1_0_ * 8, W_pad + k_0 * 128 + ax0_0_ * 128 + ax1_0_ * 8, 8);
        }
      }
    }
    for (int32_t i_0 = 0; i_0 < 1; ++i_0) { /* X_pad_global_V, W_pad_global_V -> Y_pad_global_S */
      for (int32_t j_0 = 0; j_0 < 2; ++j_0) {
        if (k_0 >= 1) {
          MUL(Y_PAD_GLOBAL_S + j_0 * 8, X_PAD_GLOBAL_V + ((k_0 + 1) % 2) * 8, W_PAD_GLOBAL_V + ((k_0 + 1) % 2) * 16 + j_0 * 8);
        }
      }
    }
  }
  SETS(16);
  for (int32_t ax0_0__ = 0; ax0_0__ < 1; ++ax0_0__) { /* Y_pad_global_S -> Y_pad */
    for (int32_t ax1_0__ = 0; ax1_0__ < 2; ++ax1_0__) {
      STV(Y_pad + ax1_0__ * 8, Y_PAD_GLOBAL_S + ax1_0__ * 8);
    }
  }
  /* on the CPU: Y_pad -> Y */
  for (int32_t i0 = 0; i0 < 5; ++i0) {
    for (int32_t i1 = 0; i1 < 12; ++i1) {
      Y[i0 * 12 + i1] = Y_pad[i0 * 16 + i1];
    }
  }
}

/* X: 5 x 12 of float32 */
/* Y: 5 x 4 of float32 */
/* W_pad: 16 x 8 of float32 */
void wren_wren_product_5x4x12(const float *X, float *Y, const float *W_pad);
void wren_wren_product_5x4x12(const float *X, float *Y, const float *W_pad)
{
  enum { X_PAD_GLOBAL_V = 0 }; /* rows 0 to 15 of V: 2 x 8 x 8 */
  enum { W_PAD_GLOBAL_V = 16 }; /* rows 16 to 31 of V: 1 x 16 x 8 */
  enum { Y_PAD_GLOBAL_S = 0 }; /* rows 0 to 7 of S: 1 x 8 x 8 */
  float *const X_pad = float32_temporaries; /* 8 x 16 */
  float *const Y_pad = float32_temporaries + 128; /* 8 x 8 */
  /* on the CPU: X -> X_pad */
  for (int32_t i0 = 0; i0 < 8; ++i0) {
    for (int32_t i1 = 0; i1 < 16; ++i1) {
      float chosen;
      if (i0 < 5 && i1 < 12) {
        chosen = X[i0 * 12 + i1];
      } else {
        chosen = 0.0f;
      }
      X_pad[i0 * 16 + i1] = chosen;
    }
  }
  SETS(16);
  for (int32_t ax0_0 = 0; ax0_0 < 1; ++ax0_0) { /* X_pad -> X_pad_global_V */
    for (int32_t ax1_0 = 0; ax1_0 < 2; ++ax1_0) {
      LDV(X_PAD_GLOBAL_V + ax1_0 * 8, X_pad + ax1_0 * 8, 8);
    }
  }
  SETS(8);
  for (int32_t ax0_0_ = 0; ax0_0_ < 2; ++ax0_0_) { /* W_pad -> W_pad_global_V */
    for (int32_t ax1_0_ = 0; ax1_0_ < 1; ++ax1_0_) {
      LDV(W_PAD_GLOBAL_V + ax0_0_ * 8, W_pad + ax0_0_ * 64, 8);
    }
  }
  for (int32_t i_0_init = 0; i_0_init < 1; ++i_0_init) { /* -> Y_pad_global_S */
    for (int32_t j_0_init = 0; j_0_init < 1; ++j_0_init) {
      CLR(Y_PAD_GLOBAL_S);
    }
  }
  for (int32_t k_0 = 0; k_0 < 2; ++k_0) { /* X_pad_global_V, W_pad_global_V -> Y_pad_global_S */
    for (int32_t i_0 = 0; i_0 < 1; ++i_0) {
      for (int32_t j_0 = 0; j_0 < 1; ++j_0) {
        MUL(Y_PAD_GLOBAL_S, X_PAD_GLOBAL_V + k_0 * 8, W_PAD_GLOBAL_V + k_0 * 8);
      }
    }
  }
  for (int32_t ax0_0__ = 0; ax0_0__ < 1; ++ax0_0__) { /* Y_pad_global_S -> Y_pad */
    for (int32_t ax1_0__ = 0; ax1_0__ < 1; ++ax1_0__) {
      STV(Y_pad, Y_PAD_GLOBAL_S);
    }
  }
  /* on the CPU: Y_pad -> Y */
  for (int32_t i0 = 0; i0 < 5; ++i0) {
    for (int32_t i1 = 0; i1 < 4; ++i1) {
      Y[i0 * 4 + i1] = Y_pad[i0 * 8 + i1];
    }
  }
}

/* x0: 5 x 12 of float32 */
/* T_relu: 5 x 12 of float32 */
void wren_nn_relu(const float *x0, float *T_relu);
void wren_nn_relu(const float *x0, float *T_relu)
{
  /* on the CPU: x0 -> T_relu */
  for (int32_t i0_i1_fused = 0; i0_i1_fused < 60; ++i0_i1_fused) {
    T_relu[i0_i1_fused] = maximum_f32(x0[i0_i1_fused], 0.0f);
  }
}

/* x0: 5 x 4 of float32 */
/* T_softmax_norm: 5 x 4 of float32 */
void wren_nn_softmax(const float *x0, float *T_softmax_norm);
void wren_nn_softmax(const float *x0, float *T_softmax_norm)
{
  float *const T_softmax_expsum = float32_temporaries + 16; /* 1 */
  float *const T_softmax_exp = float32_temporaries; /* 1 x 4 */
  float *const T_softmax_maxelem = float32_temporaries + 32; /* 1 */
  /* on the CPU: x0 -> T_softmax_norm, T_softmax_expsum, T_softmax_exp, T_softmax_maxelem */
  for (int32_t i0 = 0; i0 < 5; ++i0) {
    for (int32_t ax0 = 0; ax0 < 1; ++ax0) {
      for (int32_t ax1 = 0; ax1 < 4; ++ax1) {
        if (ax1 == 0) {
          T_softmax_maxelem[ax0] = -3.4028235e+38f;
        }
        T_softmax_maxelem[ax0] = maximum_f32(T_softmax_maxelem[ax0], x0[(i0 + ax0) * 4 + ax1]);
      }
    }
    for (int32_t ax0 = 0; ax0 < 1; ++ax0) {
      for (int32_t ax1 = 0; ax1 < 4; ++ax1) {
        const float v0 = x0[(i0 + ax0) * 4 + ax1] - T_softmax_maxelem[ax0];
        const float v1 = 100.0f < v0 ? 100.0f : v0;
        const float v2 = -110.0f > v1 ? -110.0f : v1;
        const float v3 = v2 * 1.442695f + 1.2583166e+07f;
        const float v4 = v3 - 1.2583166e+07f;
        const float v5 = v2 - v4 * 0.6933594f - v4 * -0.00021219444f;
        const float v6 = v5 * v5;
        const int32_t v7 = as_i32(v3);
        const int32_t v8 = (int32_t)((uint32_t)v7 >> (uint32_t)1);
        T_softmax_exp[ax0 * 4 + ax1] = (((v6 * 0.0013814585f + (v5 * 0.008368724f + 0.04166839f)) * v6 + (v5 * 0.16666521f + 0.49999994f)) * v6 + v5 + 1.0f) * as_f32((int32_t)((uint32_t)v8 << (uint32_t)23)) * as_f32((int32_t)((uint32_t)(int32_t)((uint32_t)v7 - (uint32_t)v8) << (uint32_t)23));
      }
    }
    for (int32_t ax0 = 0; ax0 < 1; ++ax0) {
      for (int32_t ax1 = 0; ax1 < 4; ++ax1) {
        if (ax1 == 0) {
          T_softmax_expsum[ax0] = 0.0f;
        }
        T_softmax_expsum[ax0] = T_softmax_expsum[ax0] + T_softmax_exp[ax0 * 4 + ax1];
      }
    }
    for (int32_t i1 = 0; i1 < 4; ++i1) {
      T_softmax_norm[i0 * 4 + i1] = T_softmax_exp[i1] / T_softmax_expsum[0];
    }
  }
}
