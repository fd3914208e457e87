/* made by tir_mlir */
#include "wren.h"

void wren_wren_product_5x12x20(const float *X, float *Y, const float *W_pad);
void wren_wren_product_5x4x12(const float *X, float *Y, const float *W_pad);
void wren_nn_relu(const float *x0, float *T_relu);
void wren_nn_softmax(const float *x0, float *T_softmax_norm);
extern const float wren_lv_W_pad[384];
extern const float wren_lv_2_W_pad[128];

#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#else
#define ALIGNED
#endif

/* the tensors between calls */
static uint8_t arena[512] ALIGNED;

void wren_run(const float *x, float *out)
{
  float *const lv = (float *)(void *)(arena + 0); /* 5 x 12 of float32 */
  float *const lv_1 = (float *)(void *)(arena + 256); /* 5 x 12 of float32 */
  float *const lv_2 = (float *)(void *)(arena + 0); /* 5 x 4 of float32 */
  wren_wren_product_5x12x20(x, lv, wren_lv_W_pad);
  wren_nn_relu(lv, lv_1);
  wren_wren_product_5x4x12(lv_1, lv_2, wren_lv_2_W_pad);
  wren_nn_softmax(lv_2, out);
}
