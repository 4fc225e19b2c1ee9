/*
 * What the vector kernels of tahx share in decoding: the walk over the tiles of a run, and the
 * choice among its copies, one for each type and usual tile. A kernel defines tile_make.
 */

/* What stays the same in a run: copies, as pointers to bytes might point at the run itself. */
typedef struct setup {
    const tahx_widths_t *widths;
    const tahx_book_t *book;
    const float *scale, *mean;
    float unit;
    bool scaled;  /* unit is not 1 */
    bool vectors; /* there are scale and mean */
} setup_t;

/*
 * A tile of n elements from number at of the run on, from a stream of which left bytes follow;
 * false: its planes are not valid.
 */
INLINE bool tile_make(const setup_t *setup, unsigned byte, const uint8_t *in, size_t left,
                      unsigned width, unsigned at, unsigned n, uint8_t *dst, tah_dtype_t dtype,
                      unsigned element);

/* The tile of n elements from number at of the run on; as tahx_kernel_t.decode. */
INLINE size_t tile_read(const setup_t *setup, const tahx_run_t *run, unsigned byte,
                        uint64_t number, const uint8_t *in, size_t room, unsigned at, unsigned n,
                        uint8_t *dst, tah_dtype_t dtype, unsigned element)
{
    dst += (size_t)at * element;
    if (byte < TAHX_COARSEST)
        return tahx_tile_decode(run, (uint8_t)byte, in, room, at, n, dst);
    const unsigned width = tahx_width(setup->widths, (uint8_t)byte, number);
    const size_t taken = tile_code_bytes(n, width);
    if (room < taken || !tile_make(setup, byte, in, room, width, at, n, dst, dtype, element))
        return SIZE_MAX;
    return taken;
}

INLINE size_t decode_run(const tahx_run_t *run, const uint8_t *bytes, const uint8_t *in,
                         size_t room, uint8_t *dst, tah_dtype_t dtype, unsigned element,
                         unsigned tile, bool vectors)
{
    const setup_t setup = {
        .widths = run->widths,
        .book = run->shape->book,
        .scale = run->scale,
        .mean = run->mean,
        .unit = float_power(run->exponent),
        .scaled = run->exponent != 0,
        .vectors = vectors,
    };
    const unsigned tiles = run->n / tile, rest = run->n % tile;
    const uint64_t number = run->first;
    size_t used = 0, taken;
    for (unsigned t = 0; t < tiles; t++, used += taken) {
        taken = tile_read(&setup, run, bytes[t], number + t, in + used, room - used, t * tile, tile,
                          dst, dtype, element);
        if (taken == SIZE_MAX)
            return SIZE_MAX;
    }
    if (rest == 0)
        return used;
    taken = tile_read(&setup, run, bytes[tiles], number + tiles, in + used, room - used,
                      tiles * tile, rest, dst, dtype, element);
    return taken == SIZE_MAX ? SIZE_MAX : used + taken;
}

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
