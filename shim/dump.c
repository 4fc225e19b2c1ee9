#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/buffers.h"
#include "shim/device.h"
#include "shim/dump.h"
#include "shim/log.h"
#include "shim/shim.h"

#define DUMP_KINDS 64                       /* rules and tags of which one rank writes samples */
#define DUMP_MOST_BYTES (UINT64_C(1) << 30) /* of one rank's files */
#define DUMP_LEAST_BYTES 4096               /* without rules: as a rule's min-bytes by default */

/* Messages that are sampled together. */
typedef struct dump_kind {
    int rule; /* -1: without rules */
    tah_dtype_t dtype;
    int tag;
    uint64_t seen, next; /* messages so far; the number of the next one to write */
    uint32_t written;
} dump_kind_t;

static pthread_mutex_t dump_mutex = PTHREAD_MUTEX_INITIALIZER;
static dump_kind_t dump_kinds[DUMP_KINDS];
static int dump_kind_count;
static uint64_t dump_bytes;
static bool dump_ended;

bool dump_start(void)
{
    const char *folder = shim.settings.dump;
    if (folder[0] == '\0')
        return false;
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return true;
    log_error("TAHMPI_DUMP=%s: the folder cannot be made: %s", folder, strerror(errno));
    return false;
}

/* The element type of a message that may be in the sample; TAH_BYTES: none of them. */
static tah_dtype_t dump_dtype(const watched_t *seen)
{
    if (!seen->carrier_known || device_memory(seen->buf))
        return TAH_BYTES;
    if (policy_rule_count(shim.policy) == 0) {
        bool wanted = seen->peer <= WATCH_PEER_NODE && seen->message.bytes >= DUMP_LEAST_BYTES;
        return wanted ? policy_carrier_dtype(seen->message.carrier) : TAH_BYTES;
    }
    if (seen->rule < 0 || policy_rule(shim.policy, seen->rule)->params.codec == TAH_CODEC_NONE)
        return TAH_BYTES;
    return policy_rule_dtype(shim.policy, seen->rule, seen->message.carrier);
}

/* Whether the message is one of the sample, under dump_mutex. */
static bool dump_chooses(const watched_t *seen, tah_dtype_t dtype, dump_kind_t **kind)
{
    int i = 0;
    while (i < dump_kind_count &&
           (dump_kinds[i].rule != seen->rule || dump_kinds[i].tag != seen->message.tag ||
            dump_kinds[i].dtype != dtype))
        i++;
    if (i == DUMP_KINDS)
        return false;
    *kind = &dump_kinds[i];
    if (i == dump_kind_count) {
        dump_kind_count++;
        **kind = (dump_kind_t){.rule = seen->rule, .dtype = dtype, .tag = seen->message.tag,
                               .next = 1};
    }
    if (++(*kind)->seen != (*kind)->next || (*kind)->written == shim.settings.dump_count)
        return false;
    if (dump_bytes + seen->message.bytes > DUMP_MOST_BYTES)
        return false;
    (*kind)->next *= 4;
    (*kind)->written++;
    dump_bytes += seen->message.bytes;
    return true;
}

/* The head of a .npy file, version 1.0: a Python dictionary, padded to a multiple of 64 bytes. */
static void dump_head(FILE *file, const watched_t *seen, tah_dtype_t dtype)
{
    static const char *const types[TAH_DTYPE_COUNT] = {
        [TAH_FLOAT32] = "<f4", [TAH_BFLOAT16] = "<u2", [TAH_FLOAT16] = "<f2", [TAH_FLOAT64] = "<f8",
    };
    uint64_t count = seen->message.bytes / tah_dtype_bytes(dtype);
    uint32_t channels = seen->rule < 0 ? 0 : policy_rule(shim.policy, seen->rule)->params.channels;
    char shape[64], text[128];
    if (channels > 0 && count % channels == 0)
        snprintf(shape, sizeof shape, "(%" PRIu64 ", %" PRIu32 ")", count / channels, channels);
    else
        snprintf(shape, sizeof shape, "(%" PRIu64 ",)", count);
    int length = snprintf(text, sizeof text,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", types[dtype],
                          shape);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    fputc(padded & 255, file);
    fputc(padded >> 8, file);
    fprintf(file, "%-*s\n", padded - 1, text);
}

static bool dump_data(FILE *file, const watched_t *seen)
{
    size_t bytes = seen->message.bytes;
    if (seen->type->dense)
        return fwrite(seen->buf, 1, bytes, file) == bytes;
    buffer_t *packed = buffers_take(bytes);
    errno = ENOMEM;
    bool good = packed != NULL &&
                types_pack(seen->buf, seen->type->handle, seen->type->bytes, bytes,
                           packed->data) == MPI_SUCCESS &&
                fwrite(packed->data, 1, bytes, file) == bytes;
    buffers_give(packed);
    return good;
}

/* NULL with errno; also where that is no regular file: a FIFO would keep the message waiting. */
static FILE *dump_open(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    struct stat status;
    FILE *file = NULL;
    if (fd < 0)
        return NULL;
    errno = EEXIST;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        file = fdopen(fd, "w");
    int error = errno;
    if (file == NULL)
        close(fd);
    errno = error;
    return file;
}

/* FOLDER/RULE-tagTAG-rankRANK-NUMBER.npy; bfloat16, which .npy does not know, is in the name. */
static void dump_write(const watched_t *seen, const dump_kind_t *kind)
{
    char path[SETTINGS_PATH_BYTES + 128];
    bool named = seen->rule >= 0;
    snprintf(path, sizeof path, "%s/%s%s%s-tag%d-rank%d-%08" PRIu64 ".npy", shim.settings.dump,
             named ? policy_rule(shim.policy, seen->rule)->name : tah_dtype_name(kind->dtype),
             named && kind->dtype == TAH_BFLOAT16 ? "-" : "",
             named && kind->dtype == TAH_BFLOAT16 ? "bfloat16" : "", kind->tag, shim.rank,
             kind->seen);
    FILE *file = dump_open(path);
    int error = errno;
    bool good = file != NULL, opened = good;
    if (opened) {
        dump_head(file, seen, kind->dtype);
        good = dump_data(file, seen);
        error = errno;
        if (fclose(file) != 0 && good) {
            good = false;
            error = errno;
        }
    }
    if (good)
        return;
    log_error("TAHMPI_DUMP: %s cannot be written: %s; no more samples are written", path,
              strerror(error));
    if (opened) /* part of a sample; what could not be opened is somebody else's */
        unlink(path);
    dump_ended = true;
}

void dump_message(const watched_t *seen)
{
    dump_kind_t *kind;
    tah_dtype_t dtype = dump_dtype(seen);
    if (dtype == TAH_BYTES || seen->message.bytes == 0 || seen->buf == MPI_BOTTOM ||
        seen->message.bytes % tah_dtype_bytes(dtype) != 0)
        return;
    shim_lock(&dump_mutex);
    if (!dump_ended && dump_chooses(seen, dtype, &kind))
        dump_write(seen, kind);
    shim_unlock(&dump_mutex);
}
