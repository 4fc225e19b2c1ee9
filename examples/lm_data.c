#include "lm_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lm_random.h"

/* Reads to the end of the file, which may be a pipe. False, with errno, on any failure. */
static bool read_all(FILE *file, struct lm_text *text)
{
    size_t room = 0, got;

    do {
        if (text->length == room) {
            room = room ? 2 * room : 1 << 16;
            uint8_t *larger = realloc(text->byte, room);

            if (!larger)
                return false;
            text->byte = larger;
        }
        got = fread(text->byte + text->length, 1, room - text->length, file);
        text->length += got;
    } while (got > 0);
    return !ferror(file);
}

bool lm_text_read(struct lm_text *text, const char *path, int context, char *message,
                  size_t message_size)
{
    FILE *file = fopen(path, "rb");

    *text = (struct lm_text){0};
    if (!file || !read_all(file, text)) {
        snprintf(message, message_size, "cannot read the text %s: %s; name another with --text",
                 path, strerror(errno));
        goto fail;
    }
    if (text->length < (size_t)context + 1) {
        snprintf(message, message_size,
                 "the text %s has %zu bytes; a context of %d needs at least %d", path, text->length,
                 context, context + 1);
        goto fail;
    }
    fclose(file);
    for (size_t i = 0; i < text->length; i++)
        text->digest = lm_random_bits(text->digest, 0, text->byte[i]);
    return true;

fail:
    if (file)
        fclose(file);
    lm_text_free(text);
    return false;
}

void lm_text_free(struct lm_text *text)
{
    free(text->byte);
    *text = (struct lm_text){0};
}

void lm_text_sample(const struct lm_text *text, const struct lm_shape *shape, uint64_t seed,
                    int step, int micro_batch, struct lm_slot *slot)
{
    /* No parameter's stream: those count up from 0. */
    const uint64_t stream = UINT64_MAX - micro_batch;
    size_t context = shape->context;

    for (int i = 0; i < shape->sequences; i++) {
        uint64_t index = (uint64_t)step * shape->sequences + i;
        size_t start = lm_random_bits(seed, stream, index) % (text->length - context);

        memcpy(slot->input + i * context, text->byte + start, context);
        memcpy(slot->target + i * context, text->byte + start + 1, context);
    }
}
