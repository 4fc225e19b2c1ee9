#include "config.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/device/driver.h"

#define DEVICE_BYTES ((size_t)4 << 20)
#define INVALID_VALUE 1
#define INVALID_CONTEXT 201

/* The same pages twice: at addresses that the program is given, and where they can be touched. */
static char *device, *reachable;
static size_t used;
static int context;
static __thread void *current;

static void __attribute__((constructor)) map_memory(void)
{
    int file = memfd_create("device", 0);
    if (file < 0 || ftruncate(file, (off_t)DEVICE_BYTES) != 0)
        return;
    device = mmap(NULL, DEVICE_BYTES, PROT_NONE, MAP_SHARED, file, 0);
    reachable = mmap(NULL, DEVICE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
}

static int on_device(uintptr_t address)
{
    return address >= (uintptr_t)device && address < (uintptr_t)device + DEVICE_BYTES;
}

void *standin_allocate(size_t bytes)
{
    void *memory = device + used;
    used += (bytes + 255) & ~(size_t)255;
    return used <= DEVICE_BYTES ? memory : NULL;
}

void *standin_context(void)
{
    return &context;
}

void *standin_reach(const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    return on_device(address) ? reachable + (address - (uintptr_t)device) : (void *)address;
}

int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer)
{
    if (!on_device((uintptr_t)pointer))
        return INVALID_VALUE;
    switch (attribute) {
    case 1:
        *(void **)data = &context;
        return 0;
    case 2:
        *(unsigned *)data = 2; /* device memory */
        return 0;
    case 8:
        *(unsigned *)data = 0; /* not managed */
        return 0;
    default:
        return INVALID_VALUE;
    }
}

int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes)
{
    if (current != &context)
        return INVALID_CONTEXT;
    memcpy(standin_reach((void *)(uintptr_t)to), standin_reach((void *)(uintptr_t)from), bytes);
    return 0;
}

int cuStreamSynchronize(void *stream)
{
    return current == &context ? 0 : INVALID_CONTEXT;
}

int cuCtxPushCurrent_v2(void *wanted)
{
    current = wanted;
    return 0;
}

int cuCtxPopCurrent_v2(void **popped)
{
    *popped = current;
    current = NULL;
    return 0;
}
