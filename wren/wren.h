/* made by tir_mlir */
#ifndef WREN_H
#define WREN_H
#include <stdbool.h>
#include <stdint.h>

/* Row-major arrays:
   in  x: 5 x 20 of float32
   out out: 5 x 4 of float32
*/
void wren_run(const float *x, float *out);
#endif
