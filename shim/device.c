#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/device.h"
#include "shim/log.h"
#include "shim/shim.h"

/* From the CUDA driver's ABI, which does not change: what cuPointerGetAttribute takes and says. */
#define DEVICE_ATTRIBUTE_MEMORY_TYPE 2
#define DEVICE_ATTRIBUTE_IS_MANAGED 8
#define DEVICE_MEMORY_TYPE_DEVICE 2

typedef int device_attribute_fn(void *data, int attribute, unsigned long long pointer);
typedef int device_copy_fn(unsigned long long to, unsigned long long from, size_t bytes);

static pthread_mutex_t device_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(device_attribute_fn *) device_attribute;
static _Atomic(device_copy_fn *) device_copier;
static atomic_ullong device_objects_seen; /* shared objects ever loaded when last looked */

static int device_first_object(struct dl_phdr_info *info, size_t bytes, void *count)
{
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

/*
 * Finds the driver if the process has it. A program may load it at any time, so the number of
 * objects loaded so far is compared: no look-up by name unless something new has come.
 */
static void device_look(void)
{
    unsigned long long objects = 0;
    dl_iterate_phdr(device_first_object, &objects);
    if (LIKELY(objects == atomic_load(&device_objects_seen)))
        return;
    pthread_mutex_lock(&device_mutex);
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver != NULL) {
        atomic_store(&device_copier, (device_copy_fn *)dlsym(driver, "cuMemcpy"));
        atomic_store(&device_attribute,
                     (device_attribute_fn *)dlsym(driver, "cuPointerGetAttribute"));
    }
    atomic_store(&device_objects_seen, objects);
    pthread_mutex_unlock(&device_mutex);
}

bool device_memory(const void *pointer)
{
    if (atomic_load(&device_attribute) == NULL)
        device_look();
    device_attribute_fn *attribute = atomic_load(&device_attribute);
    if (LIKELY(attribute == NULL))
        return false;
    unsigned kind = 0, managed = 0;
    unsigned long long address = (unsigned long long)(uintptr_t)pointer;
    if (attribute(&kind, DEVICE_ATTRIBUTE_MEMORY_TYPE, address) != 0)
        return false; /* memory that the driver does not know */
    if (attribute(&managed, DEVICE_ATTRIBUTE_IS_MANAGED, address) != 0)
        managed = 0;
    return kind == DEVICE_MEMORY_TYPE_DEVICE && !managed;
}

void device_copy(void *to, const void *from, size_t bytes)
{
    if (LIKELY(!device_memory(to) && !device_memory(from))) {
        memcpy(to, from, bytes);
        return;
    }
    device_copy_fn *copier = atomic_load(&device_copier);
    int rc = copier == NULL ? -1
                            : copier((unsigned long long)(uintptr_t)to,
                                     (unsigned long long)(uintptr_t)from, bytes);
    if (rc != 0)
        log_error("the CUDA driver could not copy %zu bytes (error %d)", bytes, rc);
}
