/*
 * The choice of a vector kernel of tahx among its decoders of a run, one for each type and usual
 * tile. To be included where decode_run is defined, which takes both as constants.
 */

INLINE size_t decode_type(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                          size_t room, uint8_t *dst, tah_dtype_t dtype, unsigned element)
{
    const bool vectors = run->scale != NULL;
    if (run->shape->tile == 32 && vectors)
        return decode_run(run, bytes, in, room, dst, dtype, element, 32, true);
    if (run->shape->tile == 32)
        return decode_run(run, bytes, in, room, dst, dtype, element, 32, false);
    if (run->shape->tile == 64)
        return decode_run(run, bytes, in, room, dst, dtype, element, 64, vectors);
    return decode_run(run, bytes, in, room, dst, dtype, element, run->shape->tile, vectors);
}

/* What no vector code is for is left to the reference. */
INLINE size_t decode_any(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                         size_t room, uint8_t *dst)
{
    if (tahx_run_plain(run)) {
        if (run->dtype == TAH_FLOAT32)
            return decode_type(run, bytes, in, room, dst, TAH_FLOAT32, 4);
        if (run->dtype == TAH_BFLOAT16)
            return decode_type(run, bytes, in, room, dst, TAH_BFLOAT16, 2);
        if (run->dtype == TAH_FLOAT16)
            return decode_type(run, bytes, in, room, dst, TAH_FLOAT16, 2);
    }
    return tahx_kernel_scalar.decode(run, bytes, in, room, dst);
}
