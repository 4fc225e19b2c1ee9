#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/device.h"
#include "shim/log.h"
#include "shim/shim.h"

/* From the CUDA driver's ABI, which does not change: what cuPointerGetAttribute takes and says. */
#define DEVICE_ATTRIBUTE_CONTEXT 1
#define DEVICE_ATTRIBUTE_MEMORY_TYPE 2
#define DEVICE_ATTRIBUTE_IS_MANAGED 8
#define DEVICE_MEMORY_TYPE_DEVICE 2

typedef unsigned long long device_address_t;

/* All calls return 0, or an error of the driver's. */
typedef struct device_driver {
    int (*pointer_attribute)(void *data, int attribute, device_address_t pointer);
    int (*copy)(device_address_t to, device_address_t from, size_t bytes);
    int (*synchronize)(void *stream);
    int (*push_context)(void *context);
    int (*pop_context)(void **context);
} device_driver_t;

static pthread_mutex_t device_mutex = PTHREAD_MUTEX_INITIALIZER;
static device_driver_t device_found;
static _Atomic(const device_driver_t *) device_driver; /* NULL: the process does not have it */
static atomic_ullong device_objects_seen; /* shared objects ever loaded when last looked */

static int device_first_object(struct dl_phdr_info *info, size_t bytes, void *count)
{
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

static const device_driver_t *device_bind(void *library)
{
    *(void **)&device_found.pointer_attribute = dlsym(library, "cuPointerGetAttribute");
    *(void **)&device_found.copy = dlsym(library, "cuMemcpy");
    *(void **)&device_found.synchronize = dlsym(library, "cuStreamSynchronize");
    *(void **)&device_found.push_context = dlsym(library, "cuCtxPushCurrent_v2");
    *(void **)&device_found.pop_context = dlsym(library, "cuCtxPopCurrent_v2");
    bool whole = device_found.pointer_attribute != NULL && device_found.copy != NULL &&
                 device_found.synchronize != NULL && device_found.push_context != NULL &&
                 device_found.pop_context != NULL;
    return whole ? &device_found : NULL;
}

/*
 * Finds the driver if the process has it. A program may load it at any time, so the number of
 * objects loaded so far is compared: no look-up by name unless something new has come.
 */
static const device_driver_t *device_look(void)
{
    const device_driver_t *driver = atomic_load(&device_driver);
    unsigned long long objects = 0;
    if (driver != NULL)
        return driver;
    dl_iterate_phdr(device_first_object, &objects);
    if (LIKELY(objects == atomic_load(&device_objects_seen)))
        return NULL;
    pthread_mutex_lock(&device_mutex);
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    driver = atomic_load(&device_driver);
    if (library != NULL && driver == NULL)
        atomic_store(&device_driver, driver = device_bind(library));
    atomic_store(&device_objects_seen, objects);
    pthread_mutex_unlock(&device_mutex);
    return driver;
}

static bool device_holds(const device_driver_t *driver, const void *pointer)
{
    unsigned kind = 0, managed = 0;
    device_address_t address = (uintptr_t)pointer;
    if (driver->pointer_attribute(&kind, DEVICE_ATTRIBUTE_MEMORY_TYPE, address) != 0)
        return false; /* memory that the driver does not know */
    if (driver->pointer_attribute(&managed, DEVICE_ATTRIBUTE_IS_MANAGED, address) != 0)
        managed = 0;
    return kind == DEVICE_MEMORY_TYPE_DEVICE && !managed;
}

bool device_memory(const void *pointer)
{
    const device_driver_t *driver = device_look();
    return UNLIKELY(driver != NULL) && device_holds(driver, pointer);
}

/*
 * In the context that the memory belongs to: the thread that completes a receive need not have it
 * current. A copy to the device has only reached the driver's own memory when cuMemcpy returns.
 */
static int device_copy_within(const device_driver_t *driver, void *to, const void *from,
                              size_t bytes, const void *on_device)
{
    void *context = NULL;
    int rc = driver->pointer_attribute(&context, DEVICE_ATTRIBUTE_CONTEXT, (uintptr_t)on_device);
    if (rc == 0)
        rc = driver->push_context(context);
    if (rc != 0)
        return rc;
    rc = driver->copy((uintptr_t)to, (uintptr_t)from, bytes);
    if (rc == 0)
        rc = driver->synchronize(NULL);
    driver->pop_context(&context);
    return rc;
}

bool device_copy(void *to, const void *from, size_t bytes)
{
    const device_driver_t *driver = device_look();
    const void *on_device = NULL;
    if (UNLIKELY(driver != NULL))
        on_device = device_holds(driver, to) ? to : device_holds(driver, from) ? from : NULL;
    if (LIKELY(on_device == NULL)) {
        memcpy(to, from, bytes);
        return true;
    }
    int rc = device_copy_within(driver, to, from, bytes, on_device);
    if (rc != 0)
        log_error("the CUDA driver could not copy %zu bytes (error %d)", bytes, rc);
    return rc == 0;
}
