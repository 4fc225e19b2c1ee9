/* Names and sizes of the public enumerations. */
#include "codec/tah.h"

size_t tah_dtype_bytes(tah_dtype_t dtype)
{
    switch (dtype) {
    case TAH_BYTES:
        return 1;
    case TAH_BFLOAT16:
    case TAH_FLOAT16:
        return 2;
    case TAH_FLOAT32:
        return 4;
    case TAH_FLOAT64:
        return 8;
    case TAH_DTYPE_COUNT:
        break;
    }
    return 0;
}

const char *tah_dtype_name(tah_dtype_t dtype)
{
    static const char *const names[TAH_DTYPE_COUNT] = {
        [TAH_BYTES] = "bytes",     [TAH_FLOAT32] = "float32", [TAH_BFLOAT16] = "bfloat16",
        [TAH_FLOAT16] = "float16", [TAH_FLOAT64] = "float64",
    };
    return (unsigned)dtype < TAH_DTYPE_COUNT ? names[dtype] : NULL;
}

const char *tah_codec_name(tah_codec_t codec)
{
    static const char *const names[TAH_CODEC_COUNT] = {
        [TAH_CODEC_NONE] = "none",       [TAH_CODEC_TAH] = "tah",
        [TAH_CODEC_UNIFORM] = "uniform", [TAH_CODEC_TAHX] = "tahx",
        [TAH_CODEC_LOSSLESS] = "lossless",
    };
    return (unsigned)codec < TAH_CODEC_COUNT ? names[codec] : NULL;
}

const char *tah_status_string(tah_status_t status)
{
    switch (status) {
    case TAH_OK:
        return "no error";
    case TAH_ERR_PARAM:
        return "a codec parameter is out of range";
    case TAH_ERR_DTYPE:
        return "the codec does not take this element type";
    case TAH_ERR_SPACE:
        return "the frame would be longer than the message";
    case TAH_ERR_SQNR:
        return "no setting reaches the wanted signal-to-noise ratio";
    case TAH_ERR_MEMORY:
        return "out of memory";
    case TAH_NOT_A_FRAME:
        return "not a frame";
    case TAH_ERR_VERSION:
        return "a frame of another wire version";
    case TAH_ERR_HEADER:
        return "a frame header with a value that is not allowed";
    case TAH_ERR_CHECKSUM:
        return "a damaged frame: the checksum does not match";
    case TAH_ERR_PAYLOAD:
        return "a frame whose payload contradicts its header";
    case TAH_ERR_UNSUPPORTED:
        return "a frame of a codec that this build leaves out";
    case TAH_ERR_TRUNCATE:
        return "the tensor is longer than the buffer";
    }
    return "an unknown status";
}
