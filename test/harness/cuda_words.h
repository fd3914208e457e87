// The words of CUDA C that kernels use, for clang without NVIDIA's headers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __shfl_xor_sync(mask, value, offset, width) __nvvm_shfl_sync_bfly_f32(mask, value, offset, 0x1f)
#define __int_as_float(x) __builtin_bit_cast(float, x)
#define expf(x) __nvvm_ex2_approx_f((x) * 1.44269504f)
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))

struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };

#define WORD(axis, kind) \
  __declspec(property(get = get_##axis)) unsigned axis; \
  static __device__ unsigned get_##axis() { return __nvvm_read_ptx_sreg_##kind##_##axis(); }
struct Thread { WORD(x, tid) WORD(y, tid) WORD(z, tid) };
struct Block { WORD(x, ctaid) WORD(y, ctaid) WORD(z, ctaid) };
__device__ Thread threadIdx;
__device__ Block blockIdx;
