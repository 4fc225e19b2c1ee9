/* Which kernel is used: chosen once, at run time, by what the processor has. */
#include "config.h"

#include "codec/kernels.h"

#ifdef HAVE_KERNEL_AVX2
#include <cpuid.h>
#endif
#include <stdatomic.h>
#include <string.h>

typedef struct kernel_choice {
    const char *name;
    const kernel_t *kernel;  /* NULL: not in this build */
    bool (*supported)(void); /* whether this processor can run it */
} kernel_choice_t;

static bool always(void)
{
    return true;
}

#ifdef HAVE_KERNEL_AVX2
/* Asked of the processor, as not every Clang has the name; AVX2 says that the system is ready. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() &&
           __builtin_cpu_supports("bmi2");
}
#endif

#ifdef HAVE_KERNEL_AVX512
static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni") &&
           __builtin_cpu_supports("gfni");
}
#endif

/* Best last. */
static const kernel_choice_t choices[] = {
    {"scalar", &kernel_scalar, always},
#ifdef HAVE_KERNEL_AVX2
    {"avx2", &kernel_avx2, has_avx2},
#else
    {"avx2", NULL, NULL},
#endif
#ifdef HAVE_KERNEL_AVX512
    {"avx512", &kernel_avx512, has_avx512},
#else
    {"avx512", NULL, NULL},
#endif
};
enum { CHOICES = sizeof choices / sizeof *choices };

static _Atomic(const kernel_t *) chosen;

static const kernel_t *kernel_best(void)
{
    const kernel_t *best = NULL;
    for (int i = 0; i < CHOICES; i++)
        if (choices[i].kernel && choices[i].supported())
            best = choices[i].kernel;
    return best;
}

const kernel_t *kernel_get(void)
{
    const kernel_t *kernel = atomic_load_explicit(&chosen, memory_order_acquire);
    if (!kernel) {
        /* Threads that come here together choose the same. */
        kernel = kernel_best();
        atomic_store_explicit(&chosen, kernel, memory_order_release);
    }
    return kernel;
}

const char *tah_kernel_name(void)
{
    return kernel_get()->name;
}

tah_status_t tah_kernel_select(const char *name)
{
    if (!name || strcmp(name, "auto") == 0) {
        atomic_store(&chosen, kernel_best());
        return TAH_OK;
    }
    for (int i = 0; i < CHOICES; i++) {
        if (strcmp(name, choices[i].name) != 0)
            continue;
        if (!choices[i].kernel || !choices[i].supported())
            return TAH_ERR_UNSUPPORTED;
        atomic_store(&chosen, choices[i].kernel);
        return TAH_OK;
    }
    return TAH_ERR_PARAM;
}
