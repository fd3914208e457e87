/* A library with the functions of NVIDIA's driver that the package calls: memory is main memory, a launch is recorded.

   It shows that arguments arrive as cuda.h declares them, and what happens when the driver refuses:
   fake_fail(name, status) makes every later call of a function fail, fake_devices(n) sets the number of GPUs. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int status;
typedef void *handle;

static char failing[64];
static status failure;
static int calls_before_failure;
static int devices = 1, depth;
static handle current;
static _Atomic int held; /* allocations */
static _Atomic int loads, links, unloads, launches;
static int arguments = 1, shared_of_function;
static char kernels[256][128]; /* each handle that was asked for */
static int asked;
static char log_of_launches[1 << 16]; /* the names of kernels, each with a newline */
static const char *kernel = "";
static uint64_t launched[9], words[16];

void fake_fail(const char *name, status with) {
  strncpy(failing, name, sizeof failing - 1), failure = with, calls_before_failure = 0;
}
void fake_fail_after(const char *name, status with, int calls) { fake_fail(name, with), calls_before_failure = calls; }
void fake_devices(int count) { devices = count; }
void fake_arguments(int count) { arguments = count; }
int fake_count(const char *what) {
  if (!strcmp(what, "loads")) return loads;
  if (!strcmp(what, "links")) return links;
  if (!strcmp(what, "unloads")) return unloads;
  if (!strcmp(what, "launches")) return launches;
  if (!strcmp(what, "held")) return held;
  if (!strcmp(what, "shared")) return shared_of_function;
  return -1;
}
const char *fake_kernel(void) { return kernel; }
const char *fake_log(void) { return log_of_launches; }
void fake_forget(void) { log_of_launches[0] = 0; }
uint64_t fake_launched(int n) { return launched[n]; } /* grid x y z, block x y z, shared bytes, stream, device */
uint64_t fake_word(int n) { return words[n]; }

#define MAY_FAIL if (failure && !strcmp(__func__, failing) && calls_before_failure-- <= 0) return failure

status cuInit(unsigned flags) { MAY_FAIL; return flags ? 1 : 0; }
status cuDriverGetVersion(int *version) { MAY_FAIL; *version = 12040; return 0; }
status cuDeviceGetCount(int *count) { MAY_FAIL; *count = devices; return 0; }
status cuDeviceGet(int *device, int number) { MAY_FAIL; *device = number; return 0; }
status cuDeviceGetName(char *name, int size, int device) { MAY_FAIL; snprintf(name, size, "fake GPU %d", device); return 0; }
status cuDeviceGetAttribute(int *value, int attribute, int device) {
  MAY_FAIL;
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 97 ? 232448 : 0;
  return device >= 0 && device < devices ? 0 : 101;
}
status cuDevicePrimaryCtxRetain(handle *context, int device) { MAY_FAIL; *context = (handle)(intptr_t)(0xc0 + device); return 0; }
status cuCtxGetCurrent(handle *context) { MAY_FAIL; *context = current; return 0; }
status cuCtxSetCurrent(handle context) { MAY_FAIL; current = context; return 0; }
status cuCtxGetDevice(int *device) {
  MAY_FAIL;
  if (!current) return 201;
  *device = (int)((intptr_t)current - 0xc0);
  return 0;
}

static char linked[1 << 16];
static char *error_log;
static size_t linked_size;
status cuLinkCreate_v2(unsigned count, const int *options, handle *values, handle *state) {
  MAY_FAIL;
  for (unsigned n = 0; n < count; ++n)
    if (options[n] == 5) error_log = values[n];
  *state = linked;
  return 0;
}
status cuLinkAddData_v2(handle state, int kind, void *data, size_t size, const char *name, unsigned count, int *options,
                        handle *values) {
  (void)name, (void)count, (void)options, (void)values;
  if (failure && !strcmp(__func__, failing)) {
    strcpy(error_log, "ptxas fatal: unresolved extern function 'f'");
    return failure;
  }
  if (state != linked || kind != 1 || size > sizeof linked || ((char *)data)[size - 1]) return 1;
  memcpy(linked, data, size), linked_size = size, ++links;
  return 0;
}
status cuLinkComplete(handle state, handle *cubin, size_t *size) { MAY_FAIL; *cubin = state, *size = linked_size; return 0; }
status cuLinkDestroy(handle state) { MAY_FAIL; return state == linked ? 0 : 1; }

static int takes_text = 0; /* whether cuModuleLoadData takes PTX itself, where the linker refused it */
void fake_takes_text(int takes) { takes_text = takes; }
status cuModuleLoadData(handle *module, const void *image) {
  MAY_FAIL;
  if (failure && strstr(failing, "cuLink") && !takes_text) return 218;
  (void)image, *module = (handle)(intptr_t)++loads;
  return 0;
}
static int is_kernel(handle function) { return function && (char *)function >= kernels[0] && (char *)function < kernels[256]; }
status cuModuleUnload(handle module) { MAY_FAIL; (void)module; ++unloads; return 0; }
status cuModuleGetFunction(handle *function, handle module, const char *name) {
  MAY_FAIL;
  if (!module) return 1;
  if (asked == 256) return 2;
  strncpy(kernels[asked], name, sizeof kernels[0] - 1), *function = kernels[asked++];
  return 0;
}
status cuFuncSetAttribute(handle function, int attribute, int value) {
  MAY_FAIL;
  if (!is_kernel(function) || attribute != 8) return 1;
  shared_of_function = value;
  return 0;
}
status cuLaunchKernel(handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, handle stream, handle *params, handle *extra) {
  MAY_FAIL;
  if (!is_kernel(function) || extra || !current) return 400;
  kernel = function;
  if (strlen(log_of_launches) + strlen(kernel) + 2 < sizeof log_of_launches) strcat(strcat(log_of_launches, kernel), "\n");
  const uint64_t how[] = {gx, gy, gz, bx, by, bz, shared, (uint64_t)(intptr_t)stream, (uint64_t)(intptr_t)current - 0xc0};
  memcpy(launched, how, sizeof how);
  for (int n = 0; n < arguments; ++n) words[n] = *(uint64_t *)params[n];
  ++launches;
  return 0;
}

status cuMemAlloc_v2(uint64_t *address, size_t size) { MAY_FAIL; *address = (uint64_t)(intptr_t)malloc(size), ++held; return 0; }
status cuMemFree_v2(uint64_t address) { MAY_FAIL; free((void *)(intptr_t)address), --held; return 0; }
status cuMemAllocAsync(uint64_t *address, size_t size, handle stream) { MAY_FAIL; (void)stream; return cuMemAlloc_v2(address, size); }
status cuMemFreeAsync(uint64_t address, handle stream) { MAY_FAIL; (void)stream; return cuMemFree_v2(address); }
status cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, handle stream) {
  MAY_FAIL;
  (void)stream, memcpy((void *)(intptr_t)to, from, size);
  return 0;
}
status cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, handle stream) {
  MAY_FAIL;
  (void)stream, memcpy(to, (void *)(intptr_t)from, size);
  return 0;
}
status cuStreamSynchronize(handle stream) { MAY_FAIL; (void)stream; return 0; }

status cuEventCreate(handle *event, unsigned flags) { MAY_FAIL; (void)flags; *event = calloc(1, 8); return 0; }
status cuEventRecord(handle event, handle stream) { MAY_FAIL; (void)stream; *(int *)event = depth++; return 0; }
status cuEventSynchronize(handle event) { MAY_FAIL; return event ? 0 : 1; }
status cuEventElapsedTime(float *milliseconds, handle first, handle second) {
  MAY_FAIL;
  *milliseconds = 2.0f * (*(int *)second - *(int *)first);
  return 0;
}
status cuEventDestroy_v2(handle event) { MAY_FAIL; free(event); return 0; }

status cuGetErrorName(status error, const char **text) {
  *text = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : error == 400 ? "CUDA_ERROR_INVALID_HANDLE" : 0;
  return *text ? 0 : 1;
}
status cuGetErrorString(status error, const char **text) {
  *text = error == 700 ? "an illegal memory access was encountered" : error == 400 ? "invalid resource handle" : 0;
  return *text ? 0 : 1;
}
