/*
 * Messages from and into device memory. First without a driver; then the driver is loaded, as a
 * program does that finds a device late. With the argument "host" it is never loaded.
 */
#include <dlfcn.h>
#include <string.h>

#include "tests/device/driver.h"
#include "tests/lib/mt.h"

#define COUNT 6000
#define BYTES (COUNT * sizeof(float))

static __typeof__(standin_allocate) *allocate;
static __typeof__(standin_context) *context_of;
static __typeof__(cuMemcpy) *copy;
static __typeof__(cuCtxPushCurrent_v2) *push;
static __typeof__(cuCtxPopCurrent_v2) *pop;

static bool device_wanted;
static int device_sends;
static void *out, *in;             /* host */
static void *device_out, *device_in;

static bool driver_is_loaded(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver != NULL)
        dlclose(driver);
    return driver != NULL;
}

static void driver_load(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL)
        MPI_Abort(MPI_COMM_WORLD, 99);
    *(void **)&allocate = dlsym(driver, "standin_allocate");
    *(void **)&context_of = dlsym(driver, "standin_context");
    *(void **)&copy = dlsym(driver, "cuMemcpy");
    *(void **)&push = dlsym(driver, "cuCtxPushCurrent_v2");
    *(void **)&pop = dlsym(driver, "cuCtxPopCurrent_v2");
    device_out = allocate(BYTES);
    device_in = allocate(BYTES);
}

static void driver_copy(void *to, const void *from, size_t bytes)
{
    void *context;
    push(context_of());
    copy((uintptr_t)to, (uintptr_t)from, bytes);
    pop(&context);
}

static void device_wipe(void)
{
    mt_wipe(in);
    driver_copy(device_in, in, BYTES);
}

static void received(const char *label, const void *to, size_t count)
{
    if (to == device_in)
        driver_copy(in, device_in, BYTES);
    mt_check(label, in, count, MT_FLOAT, (unsigned)mt_left);
    mt_untouched(label, in, count * sizeof(float), BYTES);
}

/* Sends from one memory, receives into the other, by each call. */
static void exchange(const char *label, const void *from, void *to)
{
    MPI_Request request;
    MPI_Status status;
    device_sends += from == device_out ? MPI_VERSION >= 4 ? 4 : 3 : 0;
    mt_status_clear(&status);
    device_wipe();
    MPI_Isend(from, COUNT, MPI_FLOAT, mt_right, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(to, COUNT, MPI_FLOAT, mt_left, 1, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mt_status(label, &status, MPI_FLOAT);
    received(label, to, COUNT);
    device_wipe();
    MPI_Irecv(to, COUNT, MPI_FLOAT, mt_left, 2, MPI_COMM_WORLD, &request);
    MPI_Send(from, COUNT - 500, MPI_FLOAT, mt_right, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    mt_status(label, &status, MPI_FLOAT);
    received(label, to, COUNT - 500);
    device_wipe();
    MPI_Sendrecv(from, COUNT, MPI_FLOAT, mt_right, 3, to, COUNT, MPI_FLOAT, mt_left, 3,
                 MPI_COMM_WORLD, &status);
    mt_status(label, &status, MPI_FLOAT);
    received(label, to, COUNT);
#if MPI_VERSION >= 4
    device_wipe();
    MPI_Isendrecv(from, COUNT, MPI_FLOAT, mt_right, 4, to, COUNT, MPI_FLOAT, mt_left, 4,
                  MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    received(label, to, COUNT);
#endif
}

static void truncated(void)
{
    MPI_Request request;
    device_wipe();
    MPI_Isend(out, COUNT, MPI_FLOAT, mt_right, 5, MPI_COMM_WORLD, &request);
    mt_result("truncated",
              MPI_Recv(device_in, COUNT / 2, MPI_FLOAT, mt_left, 5, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    driver_copy(in, device_in, BYTES);
    mt_untouched("truncated", in, BYTES / 2, BYTES);
}

static void run(void)
{
    out = mt_alloc_sealed(COUNT, MT_FLOAT, (unsigned)mt_rank);
    in = mt_alloc(BYTES);
    mt_handler(MPI_COMM_WORLD, "the world's handler");
    MPI_Sendrecv(out, COUNT, MPI_FLOAT, mt_right, 1, in, COUNT, MPI_FLOAT, mt_left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mt_check("without a driver", in, COUNT, MT_FLOAT, (unsigned)mt_left);
    mt_say("driver loaded: %s", driver_is_loaded() ? "yes" : "no");
    if (device_wanted) {
        driver_load();
        driver_copy(device_out, out, BYTES);
        exchange("host to host", out, in);
        exchange("device to host", device_out, in);
        exchange("host to device", out, device_in);
        exchange("device to device", device_out, device_in);
        truncated();
        mt_say("sends from device memory: %d", device_sends);
    }
    mt_free(in);
    mt_free(out);
}

int main(int argc, char **argv)
{
    device_wanted = argc < 2 || strcmp(argv[1], "host") != 0;
    return mt_main(argc, argv, "device", run);
}
