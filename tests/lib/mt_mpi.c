/* Statuses, errors and requests, written down. */
#include "tests/lib/mt.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/mt_internal.h"

void mt_status_clear(MPI_Status *status)
{
    memset(status, 0, sizeof *status);
    status->MPI_SOURCE = MT_UNSET;
    status->MPI_TAG = MT_UNSET;
    status->MPI_ERROR = MT_UNSET;
}

/* A count as text; "undefined" for MPI_UNDEFINED. Static storage of one call's depth. */
static const char *count_text(int count, char *text, size_t bytes)
{
    if (count == MPI_UNDEFINED)
        return "undefined";
    snprintf(text, bytes, "%d", count);
    return text;
}

static const char *error_text(const MPI_Status *status)
{
    return status->MPI_ERROR == MT_UNSET ? "untouched" : mt_class(status->MPI_ERROR);
}

void mt_status_brief(const char *label, const MPI_Status *status)
{
    mt_say("%s: source %d tag %d error %s", label, status->MPI_SOURCE, status->MPI_TAG,
           error_text(status));
}

void mt_status(const char *label, const MPI_Status *status, MPI_Datatype type)
{
    int count, elements, bytes;
    char text[3][16];
    MPI_Get_count(status, type, &count);
    MPI_Get_elements(status, type, &elements);
    MPI_Get_count(status, MPI_BYTE, &bytes);
    mt_say("%s: source %d tag %d error %s count %s elements %s bytes %s", label, status->MPI_SOURCE,
           status->MPI_TAG, error_text(status), count_text(count, text[0], sizeof text[0]),
           count_text(elements, text[1], sizeof text[1]),
           count_text(bytes, text[2], sizeof text[2]));
}

const char *mt_class(int code)
{
    static const struct {
        int class;
        const char *name;
    } names[] = {
        {MPI_SUCCESS, "SUCCESS"},     {MPI_ERR_BUFFER, "BUFFER"},
        {MPI_ERR_COUNT, "COUNT"},     {MPI_ERR_TYPE, "TYPE"},
        {MPI_ERR_TAG, "TAG"},         {MPI_ERR_COMM, "COMM"},
        {MPI_ERR_RANK, "RANK"},       {MPI_ERR_REQUEST, "REQUEST"},
        {MPI_ERR_ARG, "ARG"},         {MPI_ERR_TRUNCATE, "TRUNCATE"},
        {MPI_ERR_OTHER, "OTHER"},     {MPI_ERR_IN_STATUS, "IN_STATUS"},
        {MPI_ERR_PENDING, "PENDING"}, {MPI_ERR_INTERN, "INTERN"},
    };
    static __thread char text[32];
    int class;
    MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].class == class)
            return names[i].name;
    snprintf(text, sizeof text, "class %d", class);
    return text;
}

/*
 * Which handler ran is told by the function, not by the communicator it is given, because a library
 * may raise an error on a communicator other than the one the program named.
 */
enum { HANDLERS = 8 };
static const char *handler_names[HANDLERS];
static int handler_count;
static char handler_calls[512];

static void handler_ran(int index, int code)
{
    size_t used = strlen(handler_calls);
    snprintf(handler_calls + used, sizeof handler_calls - used, " by %s (%s)", handler_names[index],
             mt_class(code));
}

#define HANDLER(N)                                          \
    static void handler_##N(MPI_Comm *comm, int *code, ...) \
    {                                                       \
        handler_ran(N, *code);                              \
    }
HANDLER(0)
HANDLER(1)
HANDLER(2)
HANDLER(3)
HANDLER(4)
HANDLER(5)
HANDLER(6)
HANDLER(7)

void mt_handler(MPI_Comm comm, const char *name)
{
    static MPI_Comm_errhandler_function *const functions[HANDLERS] = {
        handler_0, handler_1, handler_2, handler_3, handler_4, handler_5, handler_6, handler_7};
    if (handler_count == HANDLERS)
        mt_die("too many error handlers");
    handler_names[handler_count] = name;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(functions[handler_count++], &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
}

void mt_result(const char *label, int code)
{
    mt_say("%s: %s%s", label, mt_class(code), handler_calls);
    handler_calls[0] = '\0';
}

void mt_request(const char *label, MPI_Request request)
{
    mt_say("%s: request %s", label, request == MPI_REQUEST_NULL ? "null" : "kept");
}
