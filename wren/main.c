/* made by tir_mlir */
#include "wren.h"

#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#else
#define ALIGNED
#endif

extern float wren_x[100];
float wren_x[100] ALIGNED;
extern float wren_out[20];
float wren_out[20] ALIGNED;

int main(void)
{
  wren_run(wren_x, wren_out);
  return 0;
}
