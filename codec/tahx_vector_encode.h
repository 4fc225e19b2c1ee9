/*
 * Encoding of runs by a vector kernel of tahx. To be included where the stages are defined:
 * tile_errors, batch_search and batch_store, which take types and usual tiles as constants.
 */

/* Encodes n elements from number at of a run on; there is room for all of them and a vector. */
INLINE size_t batch_encode(const setup_t *setup, batch_t *batch, const uint8_t *src, unsigned at,
                           unsigned n, uint8_t *bytes, uint8_t *out, tah_dtype_t dtype,
                           unsigned element, unsigned tile)
{
    const unsigned whole = n / tile, rest = n % tile;
    batch->tiles = whole + (rest > 0);
    batch->last = rest ? rest : tile;
    batch_plan(setup, bytes, batch);
    for (unsigned t = 0; t < whole; t++)
        tile_errors(setup, batch, t, src, at + t * tile, tile, bytes[t], dtype, element, tile);
    if (rest)
        tile_errors(setup, batch, whole, src, at + whole * tile, rest, bytes[whole], dtype, element,
                    tile);
    batch_search(batch, bytes);
    return batch_store(setup, batch, src + (size_t)at * element, bytes, out, element, tile);
}

INLINE size_t encode_run(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                         size_t room, tah_dtype_t dtype, unsigned element, unsigned tile,
                         bool vectors)
{
    const setup_t setup = {
        .widths = run->widths,
        .book = run->shape->book,
        .inverse = run->inverse,
        .offset = run->offset,
        .weight = run->weight,
        .unit = float_power(-run->exponent),
        .scaled = run->exponent != 0,
        .vectors = vectors,
    };
    const unsigned end = run->n;
    batch_t batch;
    uint8_t spare[BATCH * sizeof(float) + VECTOR_BYTES];
    size_t used = 0;
    batch.number = run->first;
    for (unsigned at = 0; at < end; at += BATCH) {
        const unsigned n = end - at < BATCH ? end - at : BATCH;
        const bool enough = room - used >= (size_t)n * element + VECTOR_BYTES;
        uint8_t *own = enough ? out + used : spare;
        const size_t taken =
            batch_encode(&setup, &batch, src, at, n, bytes, own, dtype, element, tile);
        if (taken > room - used)
            return SIZE_MAX;
        if (!enough)
            memcpy(out + used, spare, taken);
        used += taken;
        bytes += batch.tiles;
        batch.number += batch.tiles;
    }
    return used;
}

/* Of the tile sizes, the common ones have code of their own. */
INLINE size_t encode_type(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                          size_t room, tah_dtype_t dtype, unsigned element)
{
    const bool vectors = run->inverse != NULL;
    const unsigned tile = run->shape->tile;
    if (tile == 32 && vectors)
        return encode_run(run, src, bytes, out, room, dtype, element, 32, true);
    if (tile == 32)
        return encode_run(run, src, bytes, out, room, dtype, element, 32, false);
    if (tile == 64)
        return encode_run(run, src, bytes, out, room, dtype, element, 64, vectors);
    return encode_run(run, src, bytes, out, room, dtype, element, tile, vectors);
}

/* What no vector code is for is left to the reference. */
INLINE size_t encode_any(const tahx_run_t *run, const uint8_t *src, uint8_t *bytes, uint8_t *out,
                         size_t room)
{
    if (run->dtype == TAH_FLOAT32)
        return encode_type(run, src, bytes, out, room, TAH_FLOAT32, 4);
    if (run->dtype == TAH_BFLOAT16)
        return encode_type(run, src, bytes, out, room, TAH_BFLOAT16, 2);
    if (run->dtype == TAH_FLOAT16)
        return encode_type(run, src, bytes, out, room, TAH_FLOAT16, 2);
    return tahx_kernel_scalar.encode(run, src, bytes, out, room);
}
