/*
 * Decoding of runs of tiles by vectors: a part of the body of every kernel but the scalar one. What
 * is rare, and every refusal, is left to tile_decode.
 */

/* A tile with codes, as its record and its place in the stream say. */
typedef struct coded {
    tile_grid_t grid;
    unsigned n, bits, vectors; /* coded values: n of them in so many vectors */
    bool rotated;
    unsigned pivot;
    const uint8_t *planes; /* SIMD_PLANES bytes can be read from any of them */
} coded_t;

/* 16 values as elements; all are normal numbers or zero. */
SIMD void values_store(tah_dtype_t dtype, vf x, uint8_t *dst)
{
    const vi bits = vf_bits(x), one = vi_set1(1);
    switch (dtype) {
    case TAH_BFLOAT16: {
        /* To nearest, halves to even; what becomes infinite is brought back. */
        const vi odd = vi_and(vi_down(bits, 16), one);
        const vi half = vi_down(vi_add(bits, vi_add(vi_set1(0x7fff), odd)), 16);
        const vf over = vi_bits(vi_up(vi_and(half, vi_set1(0x7fff)), 16));
        const vm infinite = vf_above(over, vf_set1(0x1.fep127f));
        vi_store16(dst, vi_choose(infinite, vi_sub(half, one), half));
        break;
    }
    case TAH_FLOAT16:
        vf_store_float16(dst, vf_max(vf_min(x, vf_set1(65504)), vf_set1(-65504)));
        break;
    case TAH_FLOAT64:
        vf_store_float64(dst, x);
        break;
    default:
        vf_store(dst, x);
    }
}

/* Codes to what they stand for, in units of the grid. */
SIMD vi codes_units(vi codes, const tile_grid_t *grid)
{
    return vi_add(vi_mul16(codes, vi_set1(grid->step)), vi_set1((uint32_t)grid->zero));
}

/* The codes of a block, 64 or less. */
SIMD void block_codes(const uint8_t *planes, unsigned bits, unsigned w, vi *codes)
{
    const vb all = vb_unplanes(planes, bits, w);
    codes[0] = vb_codes0(all);
    codes[1] = vb_codes1(all);
    codes[2] = vb_codes2(all);
    codes[3] = vb_codes3(all);
}

/* Values of a tile that is not rotated to dst, in whole vectors. */
SIMD void tile_values_store(const coded_t *tile, tah_dtype_t dtype, unsigned vectors, uint8_t *dst)
{
    const unsigned bytes = SIMD_LANES * (unsigned)tah_dtype_bytes(dtype);
    const uint8_t *planes = tile->planes;
    const vf unit = vf_set1(float_power(tile->grid.exponent - TILE_SCALE_BIAS));
    static const uint8_t count[SIMD_LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    /* Products and sums are exact. */
    const vf table = vf_mul(vf_of(codes_units(vi_bytes(count), &tile->grid)), unit);
    UNROLLED
    for (unsigned i = 0; i < vectors; i += 4) {
        vi codes[4];
        const unsigned left = vectors - i < 4 ? vectors - i : 4;
        const unsigned first = i * SIMD_LANES, w = tile->n - first < 64 ? (tile->n - first + 7) / 8 : 8;
        block_codes(planes, tile->bits, w, codes);
        UNROLLED
        for (unsigned k = 0; k < left; k++) {
            const vf x = tile->bits <= SIMD_TABLE_BITS
                             ? vf_table(table, codes[k])
                             : vf_mul(vf_of(codes_units(codes[k], &tile->grid)), unit);
            values_store(dtype, x, dst);
            dst += bytes;
        }
        planes += w * tile->bits;
    }
}

SIMD vi vi_hadamard(vi x)
{
    return vi_butterfly8(vi_butterfly4(vi_butterfly2(vi_butterfly1(x))));
}

/* The same of a rotated tile. */
SIMD void rotated_values_store_to(const coded_t *tile, tah_dtype_t dtype, unsigned vectors,
                                  uint8_t *dst)
{
    const unsigned drop = tile_log2(vectors * SIMD_LANES) - 1;
    const uint8_t *planes = tile->planes;
    vi y[TILE_VECTORS + 3];
    int32_t units[TILE_MAX];
    UNROLLED
    for (unsigned i = 0; i < vectors; i += 4) {
        const unsigned left = vectors - i < 4 ? vectors - i : 4, w = 2 * left;
        block_codes(planes, tile->bits, w, y + i);
        planes += w * tile->bits;
    }
    UNROLLED
    for (unsigned i = 0; i < vectors; i++)
        y[i] = vi_hadamard(codes_units(y[i], &tile->grid));
    UNROLLED
    for (unsigned stage = 0; stage < TILE_STAGES; stage++) {
        UNROLLED
        for (unsigned i = 0; i < vectors / 2; i++) {
            const unsigned half = 1u << stage, k = i / half * 2 * half + i % half;
            if (half >= vectors)
                break;
            const vi a = y[k], b = y[k + half];
            y[k] = vi_add(a, b);
            y[k + half] = vi_sub(a, b);
        }
    }
    UNROLLED
    for (unsigned i = 0; i < vectors; i++)
        vi_store(units + i * SIMD_LANES,
                 vi_down_signed(vi_add(y[i], vi_set1(1u << (drop - 1))), drop));
    const int32_t first = units[0];
    units[0] = units[tile->pivot];
    units[tile->pivot] = first;
    const vf unit = vf_set1(float_power(tile->grid.exponent - TILE_SCALE_BIAS + (int)drop));
    const unsigned bytes = SIMD_LANES * (unsigned)tah_dtype_bytes(dtype);
    for (unsigned i = 0; i < vectors; i++)
        values_store(dtype,
                     vf_mul(vf_of(vf_bits(vf_load((const uint8_t *)(units + i * SIMD_LANES)))), unit),
                     dst + i * bytes);
}

/* The same with a known number of vectors, so that they stay in registers. */
SIMD void rotated_values_store(const coded_t *tile, tah_dtype_t dtype, unsigned n, uint8_t *dst)
{
    switch (tile_log2(n)) {
    case 4:
        rotated_values_store_to(tile, dtype, 1, dst);
        break;
    case 5:
        rotated_values_store_to(tile, dtype, 2, dst);
        break;
    case 6:
        rotated_values_store_to(tile, dtype, 4, dst);
        break;
    case 7:
        rotated_values_store_to(tile, dtype, 8, dst);
        break;
    default:
        rotated_values_store_to(tile, dtype, TILE_VECTORS, dst);
    }
}

/* Whether the bits behind the codes of a tile are zero. */
static bool padding_zero(const uint8_t *planes, unsigned n, unsigned bits)
{
    const unsigned block = n / 64 * 64, w = (n - block + 7) / 8;
    planes += tile_code_bytes(block, bits);
    uint8_t beyond = 0;
    for (unsigned bit = 0; bit < bits && n % 8; bit++)
        beyond |= (uint8_t)(planes[bit * w + w - 1] >> n % 8);
    return beyond == 0;
}

/*
 * One tile. Returns the bytes of the stream used; 0 where the reference has to decode it, or has to
 * say that it cannot be.
 */
SIMD size_t decode_tile(const tile_job_t *job, unsigned n, uint32_t record, unsigned bits,
                        const uint8_t *in, size_t room, uint8_t *dst)
{
    const unsigned vectors = (n + SIMD_LANES - 1) / SIMD_LANES;
    uint8_t near_end[TILE_MAX + SIMD_PLANES], values[TILE_MAX * 8];
    coded_t tile = {.n = n, .bits = bits};
    if (!record_unpack(record, &tile.grid, &tile.rotated) ||
        tile.grid.exponent < TILE_EXPONENT_FAST_MIN || tile.grid.exponent > TILE_EXPONENT_FAST_MAX)
        return 0;
    if (tile.rotated)
        tile.n = 1u << tile_log2(n);
    const size_t code_bytes = tile_code_bytes(tile.n, bits), bytes = tile.rotated + code_bytes;
    if (room < bytes || (n % 8 && !padding_zero(in + tile.rotated, tile.n, bits)))
        return 0;
    if (tile.rotated && (job->hadamard == TAH_HADAMARD_OFF || *in >= n || tile.n < SIMD_LANES))
        return 0;
    tile.pivot = *in;
    tile.planes = in + tile.rotated;
    if (room < bytes + SIMD_PLANES) {
        memcpy(near_end, tile.planes, code_bytes);
        tile.planes = near_end;
    }
    uint8_t *const to = n % SIMD_LANES ? values : dst;
    if (tile.rotated && job->dtype == TAH_FLOAT32)
        rotated_values_store(&tile, TAH_FLOAT32, n, to);
    else if (tile.rotated)
        rotated_values_store(&tile, job->dtype, n, to);
    else if (job->dtype == TAH_FLOAT32)
        tile_values_store(&tile, TAH_FLOAT32, vectors, to);
    else
        tile_values_store(&tile, job->dtype, vectors, to);
    if (to != dst)
        memcpy(dst, to, (size_t)n * job->element);
    return bytes;
}

/* A run of tiles of n elements; compiled for each usual n. */
SIMD size_t decode_tiles(const tile_run_t *run, unsigned n, const uint8_t *records,
                         const uint8_t *in, size_t room, uint8_t *dst)
{
    size_t used = 0;
    for (unsigned t = 0; t < run->tiles; t++) {
        const uint32_t record = load_u32(records + t * TILE_RECORD);
        const unsigned bits = run->widths[t];
        size_t bytes = decode_tile(run->job, n, record, bits, in + used, room - used, dst);
        if (bytes == 0)
            bytes = tile_decode(run->job, record, in + used, room - used, n, bits, dst);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        used += bytes;
        dst += (size_t)n * run->job->element;
    }
    return used;
}

static size_t vector_decode(const tile_run_t *run, const uint8_t *records, const uint8_t *in,
                            size_t room, uint8_t *dst)
{
    switch (run->n) {
    case 16:
        return decode_tiles(run, 16, records, in, room, dst);
    case 32:
        return decode_tiles(run, 32, records, in, room, dst);
    case 64:
        return decode_tiles(run, 64, records, in, room, dst);
    case 128:
        return decode_tiles(run, 128, records, in, room, dst);
    default:
        return decode_tiles(run, run->n, records, in, room, dst);
    }
}
