/*
 * Device memory: pointers that only an accelerator's driver may follow. The CUDA driver is asked,
 * and only if the process has it loaded already.
 */
#ifndef SHIM_DEVICE_H
#define SHIM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the host must not touch this pointer. Managed and pinned host memory: it may. */
bool device_memory(const void *pointer);

/*
 * memcpy, by way of the driver where either side is device memory; complete when it returns.
 * False, with a message, where the driver fails.
 */
bool device_copy(void *to, const void *from, size_t bytes);

#endif
