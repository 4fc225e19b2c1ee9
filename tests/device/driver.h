/*
 * A stand-in for the CUDA driver: "device memory" is memory whose addresses the host may not
 * touch, which only the driver can read and write, in the context that it belongs to.
 */
#ifndef DEVICE_DRIVER_H
#define DEVICE_DRIVER_H

#include <stddef.h>

/* Of the real driver, as far as the library uses it. */
int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer);
int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes);
int cuStreamSynchronize(void *stream);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);

/* Of the stand-in alone: memory, its context, and where the host can reach an address. */
void *standin_allocate(size_t bytes);
void *standin_context(void);
void *standin_reach(const void *pointer);

#endif
