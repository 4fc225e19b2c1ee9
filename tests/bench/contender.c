/* What encodes tensors in codec_bench: memcpy, our codecs as rules name them, zfp and zstd. */
#include "config.h"

#include "tests/bench/bench.h"

#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZFP
#include <zfp.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

static const char message_key[TAH_KEY_BYTES] = "codec_bench key";

/* Whether a spec's first word is name. */
static bool is_named(const char *spec, const char *name)
{
    const size_t length = strcspn(spec, " ");
    return strlen(name) == length && strncmp(spec, name, length) == 0;
}

bool contender_built(const char *spec)
{
#ifndef HAVE_ZFP
    if (is_named(spec, "zfp"))
        return false;
#endif
#ifndef HAVE_ZSTD
    if (is_named(spec, "zstd") || is_named(spec, "lossless"))
        return false;
#endif
    return true;
}

/* The settings of one of our codecs, as a policy has them, with the tensor's channels. */
static bool rule_read(contender_t *contender, const tensor_t *tensor, char *why, size_t why_bytes)
{
    char text[512];
    int length = snprintf(text, sizeof text, "[rule bench]\ncodec = %s\n", contender->spec);
    if (length >= (int)sizeof text - 32) {
        snprintf(why, why_bytes, "\"%s\" is too long", contender->spec);
        return false;
    }
    for (char *blank = strchr(text + strlen("[rule bench]\ncodec = "), ' '); blank;
         blank = strchr(blank, ' '))
        *blank = '\n';
    if (!is_named(contender->spec, "lossless"))
        length += snprintf(text + length, sizeof text - (size_t)length, "channels = %u\n",
                           (unsigned)tensor->channels);
    policy_errors_t errors;
    policy_t *policy = policy_parse(text, (size_t)length, contender->spec, &errors);
    if (!policy) {
        snprintf(why, why_bytes, "%.*s", (int)strcspn(errors.text, "\n"), errors.text);
        return false;
    }
    contender->params = policy_rule(policy, 0)->params;
    contender->params.dtype = tensor->dtype;
    policy_free(policy);
    const bool encodes = contender->params.codec != TAH_CODEC_NONE;
    if (!encodes)
        snprintf(why, why_bytes, "codec none encodes nothing");
    return encodes;
}

/* The number of " key=NUMBER" behind the name of a spec; *number is unchanged without one. */
static bool number_read(const char *spec, const char *key, double least, double most,
                        double *number, char *why, size_t why_bytes)
{
    const char *rest = spec + strcspn(spec, " ");
    char *end;
    if (*rest == '\0')
        return true;
    rest++;
    if (strncmp(rest, key, strlen(key)) == 0 && rest[strlen(key)] == '=') {
        *number = strtod(rest + strlen(key) + 1, &end);
        if (*end == '\0' && *number >= least && *number <= most)
            return true;
    }
    snprintf(why, why_bytes, "\"%s\": all it may have is %s= and a number from %g to %g", spec, key,
             least, most);
    return false;
}

bool contender_init(contender_t *contender, const char *spec, const tensor_t *tensor, char *why,
                    size_t why_bytes)
{
    *contender = (contender_t){
        .spec = spec, .kernel = "-", .kind = CONTENDER_CODEC, .threads = 1, .rate = 4};
    if (is_named(spec, "memcpy")) {
        contender->kind = CONTENDER_MEMCPY;
        return true;
    }
    if (is_named(spec, "zfp")) {
        contender->kind = CONTENDER_ZFP;
        return number_read(spec, "rate", 1, 32, &contender->rate, why, why_bytes);
    }
    if (is_named(spec, "zstd")) {
        double level = 1;
        contender->kind = CONTENDER_ZSTD;
        const bool good = number_read(spec, "level", 1, 19, &level, why, why_bytes);
        contender->level = (int)level;
        return good;
    }
    return rule_read(contender, tensor, why, why_bytes);
}

bool contender_has_threads(const contender_t *contender)
{
    return contender->kind == CONTENDER_CODEC;
}

bool contender_has_kernels(const contender_t *contender)
{
    return contender_has_threads(contender) && contender->params.codec != TAH_CODEC_LOSSLESS;
}

static bool fail(result_t *result, const char *why)
{
    snprintf(result->fault, sizeof result->fault, "%s", why);
    return false;
}

static bool codec_encode(const contender_t *contender, const tensor_t *tensor, uint8_t *out,
                         size_t room, result_t *result)
{
    tah_encoded_t encoded;
    tah_message_t message = {.pool = contender->pool};
    memcpy(message.key, message_key, sizeof message.key);
    const tah_status_t status =
        tah_encode(&contender->params, &message, tensor->data, tensor->count, out, room, &encoded);
    if (status != TAH_OK)
        return fail(result, tah_status_string(status));
    result->bytes = encoded.frame_bytes;
    result->rotated = encoded.tiles ? (double)encoded.tiles_rotated / (double)encoded.tiles : 0;
    return true;
}

/* As a receiver does it: checksum and all. */
static bool codec_decode(const contender_t *contender, const tensor_t *tensor, const uint8_t *in,
                         uint8_t *dst, result_t *result)
{
    tah_frame_t info;
    tah_status_t status = tah_frame_read(in, result->bytes, (const uint8_t *)message_key, &info);
    if (status == TAH_OK)
        status = tah_decode(in, result->bytes, &info, contender->pool, dst, tensor->bytes);
    return status == TAH_OK || fail(result, tah_status_string(status));
}

#ifdef HAVE_ZFP
/* Encodes or decodes a tensor as a matrix of tokens by channels; the bytes of the stream, or 0. */
static size_t zfp_run(const contender_t *contender, const tensor_t *tensor, bool decode,
                      void *elements, void *stream_at, size_t room)
{
    const zfp_type type = tensor->dtype == TAH_FLOAT32 ? zfp_type_float : zfp_type_double;
    bitstream *bits = stream_open(stream_at, room);
    zfp_stream *stream = zfp_stream_open(bits);
    zfp_field *field =
        zfp_field_2d(elements, type, tensor->channels, tensor->count / tensor->channels);
    zfp_stream_set_rate(stream, contender->rate, type, 2, zfp_false);
    const size_t bytes = decode ? zfp_decompress(stream, field) : zfp_compress(stream, field);
    zfp_field_free(field);
    zfp_stream_close(stream);
    stream_close(bits);
    return bytes;
}
#endif

static bool zfp_encode(const contender_t *contender, const tensor_t *tensor, uint8_t *out,
                       size_t room, result_t *result)
{
    if (tensor->dtype != TAH_FLOAT32 && tensor->dtype != TAH_FLOAT64)
        return fail(result, "zfp takes float32 and float64 only");
#ifdef HAVE_ZFP
    result->bytes = zfp_run(contender, tensor, false, tensor->data, out, room);
    return result->bytes > 0 || fail(result, "zfp fails");
#else
    return fail(result, "zfp is not in this build");
#endif
}

static bool zfp_decode(const contender_t *contender, const tensor_t *tensor, const uint8_t *in,
                       uint8_t *dst, result_t *result)
{
#ifdef HAVE_ZFP
    if (zfp_run(contender, tensor, true, dst, (uint8_t *)in, result->bytes) > 0)
        return true;
#endif
    return fail(result, "zfp fails");
}

static bool zstd_run(const contender_t *contender, const tensor_t *tensor, bool decode,
                     const uint8_t *in, uint8_t *out, size_t room, result_t *result)
{
#ifdef HAVE_ZSTD
    const size_t bytes =
        decode ? ZSTD_decompress(out, room, in, result->bytes)
               : ZSTD_compress(out, room, tensor->data, tensor->bytes, contender->level);
    if (ZSTD_isError(bytes))
        return fail(result, ZSTD_getErrorName(bytes));
    if (!decode)
        result->bytes = bytes;
    return true;
#else
    return fail(result, "zstd is not in this build");
#endif
}

size_t contender_room(const contender_t *contender, const tensor_t *tensor)
{
#ifdef HAVE_ZSTD
    if (contender->kind == CONTENDER_ZSTD)
        return ZSTD_compressBound(tensor->bytes);
#endif
    /* A frame is never longer than its message; zfp adds what completes its last blocks. */
    return contender->kind == CONTENDER_ZFP ? 2 * tensor->bytes + 4096 : tensor->bytes;
}

bool contender_encode(const contender_t *contender, const tensor_t *tensor, uint8_t *out,
                      size_t room, result_t *result)
{
    switch (contender->kind) {
    case CONTENDER_MEMCPY:
        memcpy(out, tensor->data, tensor->bytes);
        result->bytes = tensor->bytes;
        return true;
    case CONTENDER_CODEC:
        return codec_encode(contender, tensor, out, room, result);
    case CONTENDER_ZFP:
        return zfp_encode(contender, tensor, out, room, result);
    case CONTENDER_ZSTD:
        return zstd_run(contender, tensor, false, NULL, out, room, result);
    }
    return false;
}

bool contender_decode(const contender_t *contender, const tensor_t *tensor, const uint8_t *in,
                      uint8_t *dst, result_t *result)
{
    switch (contender->kind) {
    case CONTENDER_MEMCPY:
        memcpy(dst, in, tensor->bytes);
        return true;
    case CONTENDER_CODEC:
        return codec_decode(contender, tensor, in, dst, result);
    case CONTENDER_ZFP:
        return zfp_decode(contender, tensor, in, dst, result);
    case CONTENDER_ZSTD:
        return zstd_run(contender, tensor, true, in, dst, tensor->bytes, result);
    }
    return false;
}
