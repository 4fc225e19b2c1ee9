#include "config.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "shim/caller.h"
#include "shim/calls.h"
#include "shim/shim.h"

/* Objects that call PMPI: the Fortran bindings, MPI, a few more. Beyond this they are looked up. */
#define CALLER_OBJECTS_MOST 32

/*
 * A loaded object. Entries are never removed: that an object which called MPI is unloaded, and
 * another that calls PMPI comes to lie where it was, would at worst leave the messages of one raw.
 */
typedef struct caller_object {
    uintptr_t from, to;
    bool beneath;
} caller_object_t;

static pthread_mutex_t caller_mutex = PTHREAD_MUTEX_INITIALIZER;
static caller_object_t caller_objects[CALLER_OBJECTS_MOST];
static atomic_int caller_count;

static bool caller_holds(const caller_object_t *object, uintptr_t code)
{
    return code >= object->from && code < object->to;
}

/* Open MPI's parts that it loads at run time, among them its MPI-IO. */
static bool caller_is_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return strncmp(name, "mca_", 4) == 0;
}

/*
 * MPI, and the profilers below us; and this library: it makes no PMPI_ call by name, but what it
 * has called may do so as the last thing, and then the call returns to here. (That our own calls
 * return to us is why the library is built with -fno-optimize-sibling-calls.)
 */
static bool caller_defines_calls(const caller_object_t *object)
{
    if (caller_holds(object, (uintptr_t)caller_is_beneath))
        return true;
#define EACH(kind, name, base, large, body, formals, ...)                                          \
    if (caller_holds(object, (uintptr_t)next.name) ||                                              \
        caller_holds(object, (uintptr_t)beneath.name))                                             \
        return true;
#include "shim/calls_each.h"
    return false;
}

typedef struct caller_search {
    uintptr_t code;
    caller_object_t found;
} caller_search_t;

static int caller_search_object(struct dl_phdr_info *info, size_t bytes, void *context)
{
    caller_search_t *search = context;
    caller_object_t object = {.from = UINTPTR_MAX, .to = 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        if (from < object.from)
            object.from = from;
        if (from + part->p_memsz > object.to)
            object.to = from + part->p_memsz;
    }
    if (!caller_holds(&object, search->code))
        return 0;
    object.beneath = caller_is_component(info->dlpi_name);
    search->found = object;
    return 1;
}

static bool caller_look_up(uintptr_t code)
{
    caller_search_t search = {.code = code};
    if (dl_iterate_phdr(caller_search_object, &search) == 0)
        return false; /* code that was made at run time: the program's */
    search.found.beneath = search.found.beneath || caller_defines_calls(&search.found);
    pthread_mutex_lock(&caller_mutex);
    int count = atomic_load(&caller_count);
    if (count < CALLER_OBJECTS_MOST) {
        caller_objects[count] = search.found;
        atomic_store_explicit(&caller_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&caller_mutex);
    return search.found.beneath;
}

bool caller_is_beneath(const void *code)
{
    int count = atomic_load_explicit(&caller_count, memory_order_acquire);
    for (int i = 0; i < count; i++)
        if (caller_holds(&caller_objects[i], (uintptr_t)code))
            return caller_objects[i].beneath;
    return caller_look_up((uintptr_t)code);
}
