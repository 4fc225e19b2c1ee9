/*
 * Decoding of runs of tiles by vectors: a part of the body of every kernel but the scalar one. What
 * is rare, and every refusal, is left to tile_decode.
 */

/* What the records of up to sixteen tiles say; a bit or an element for each. */
typedef struct grids {
    unsigned plain, rotated; /* tiles that vectors can decode */
    float units[BATCH], steps[BATCH], zeros[BATCH]; /* steps and zero points in values */
    uint32_t step_units[BATCH], zero_units[BATCH];  /* and in units */
} grids_t;

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

/* record_unpack of sixteen tiles; of those that are neither plain nor rotated, anything. */
SIMD void grids_read(const uint8_t *records, unsigned tiles, grids_t *grids)
{
    uint8_t some[BATCH * TILE_RECORD] = {0}; /* no record of zeros has codes */
    if (tiles < BATCH)
        records = memcpy(some, records, tiles * TILE_RECORD);
    const vi record = vi_load(records), none = vi_set1(0);
    const vi exponent = vi_and(vi_down(record, 8), vi_set1(255));
    const vi field = vi_and(vi_down(record, 26), vi_set1(15));
    const vi mantissa = vi_and(vi_down(record, 16), vi_set1(1023));
    const vi step = vi_or(vi_and(record, vi_set1(255)), vi_set1(256));
    const vm middle = vm_and(vi_above(exponent, vi_set1(TILE_EXPONENT_FAST_MIN - 1)),
                             vi_above(vi_set1(TILE_EXPONENT_FAST_MAX + 1), exponent));
    const unsigned good = vm_bits(vm_and(middle, vi_above(vi_set1(TILE_ZERO_SHIFT + 2), field)));
    const unsigned rotated = vm_bits(vi_above(none, vi_up(record, 1)));
    grids->plain = good & ~rotated;
    grids->rotated = good & rotated;
    /* Everything that follows is exact. */
    const vm leading = vi_above(field, none);
    const vi shift = vi_choose(leading, vi_sub(field, vi_set1(1)), none);
    const vf magnitude = vf_mul(vf_of(vi_or(mantissa, vi_choose(leading, vi_set1(1024), none))),
                                vi_bits(vi_up(vi_add(shift, vi_set1(127)), 23)));
    const vf zero = vi_bits(vi_or(vf_bits(magnitude), vi_and(record, vi_set1(0x80000000u))));
    const vf unit = vi_bits(vi_up(vi_sub(exponent, vi_set1(TILE_SCALE_BIAS - 127)), 23));
    vf_store(grids->units, unit);
    vf_store(grids->steps, vf_mul(vf_of(step), unit));
    vf_store(grids->zeros, vf_mul(zero, unit));
    vi_store(grids->step_units, step);
    vi_store(grids->zero_units, vf_nearest(zero));
}

/* Values of n elements to dst, in whole vectors. */
SIMD void plain_store(const uint8_t *planes, unsigned bits, unsigned n, float step, float zero,
                      tah_dtype_t dtype, uint8_t *dst)
{
    const unsigned vectors = (n + SIMD_LANES - 1) / SIMD_LANES;
    UNROLLED
    for (unsigned i = 0; i < vectors; i += 4) {
        vf x[4];
        const unsigned left = vectors - i < 4 ? vectors - i : 4;
        const unsigned first = i * SIMD_LANES, w = n - first < 64 ? (n - first + 7) / 8 : 8;
        planes_values(planes, bits, w, step, zero, x);
        UNROLLED
        for (unsigned k = 0; k < left; k++, dst += SIMD_LANES * element_bytes(dtype))
            values_store(dtype, x[k], dst);
        planes += w * bits;
    }
}

/*
 * The transform of codes in so many vectors, times a step. Sums of half of them fit in 16 bits, so
 * two codes share a lane, sixteen elements apart, and the last stage is part of the product.
 */
SIMD void codes_transform(const uint8_t *planes, unsigned bits, unsigned vectors, uint32_t step,
                          vi *y)
{
    const unsigned pairs = (vectors + 1) / 2;
    const vi sum = vi_set1(step | step << 16), difference = vi_set1(step | (0u - step) << 16);
    vi x[TILE_VECTORS / 2 + 1];
    UNROLLED
    for (unsigned i = 0; i < pairs; i += 2) {
        const unsigned w = vectors < 4 ? 2 * vectors : 8;
        const vb codes = vb_unplanes(planes, bits, w);
        x[i] = vb_codes0(codes);
        if (vectors > 1)
            x[i] = vi_or(x[i], vi_up(vb_codes1(codes), 16));
        x[i + 1] = vi_or(vb_codes2(codes), vi_up(vb_codes3(codes), 16));
        planes += w * bits;
    }
    UNROLLED
    for (unsigned i = 0; i < pairs; i++)
        x[i] = vi_butterfly8(vi_butterfly4(vi_butterfly2(vi_butterfly1(x[i]))));
    BETWEEN_VECTORS(vi, x, pairs, vi_add16, vi_sub16)
    UNROLLED
    for (unsigned i = 0; i < pairs; i++) {
        y[2 * i] = vi_dot16(x[i], sum);
        y[2 * i + 1] = vi_dot16(x[i], difference);
    }
}

/* A rotated tile's values to dst: as many as it has codes, in so many vectors. */
SIMD void rotated_store_to(const uint8_t *planes, unsigned bits, unsigned vectors, unsigned pivot,
                           const grids_t *grids, unsigned t, tah_dtype_t dtype, uint8_t *dst)
{
    const unsigned order = tile_log2(vectors * SIMD_LANES), drop = order - 1;
    const unsigned element = element_bytes(dtype);
    const vf unit = vf_set1(grids->units[t] * (float)(1u << drop));
    const vi half = vi_set1(1u << (drop - 1));
    vi y[TILE_VECTORS + 2];
    codes_transform(planes, bits, vectors, grids->step_units[t], y);
    /* The transform of the zero point is all in the first element. */
    const vi zero = vi_set1(grids->zero_units[t] << order);
    y[0] = vi_add(y[0], vi_choose(vm_from(1), zero, vi_set1(0)));
    UNROLLED
    for (unsigned i = 0; i < vectors; i++)
        values_store(dtype, vf_mul(vf_of(vi_down_signed(vi_add(y[i], half), drop)), unit),
                     dst + i * SIMD_LANES * element);
    uint8_t first[sizeof(double)], last[sizeof(double)];
    memcpy(first, dst, element);
    memcpy(last, dst + pivot * element, element);
    memcpy(dst, last, element);
    memcpy(dst + pivot * element, first, element);
}

/* The same with a known number of vectors, so that they stay in registers. */
SIMD void rotated_store(const uint8_t *planes, unsigned bits, unsigned n, unsigned pivot,
                        const grids_t *grids, unsigned t, tah_dtype_t dtype, uint8_t *dst)
{
    switch (tile_log2(n)) {
    case 4:
        rotated_store_to(planes, bits, 1, pivot, grids, t, dtype, dst);
        break;
    case 5:
        rotated_store_to(planes, bits, 2, pivot, grids, t, dtype, dst);
        break;
    case 6:
        rotated_store_to(planes, bits, 4, pivot, grids, t, dtype, dst);
        break;
    case 7:
        rotated_store_to(planes, bits, 8, pivot, grids, t, dtype, dst);
        break;
    default:
        rotated_store_to(planes, bits, TILE_VECTORS, pivot, grids, t, dtype, dst);
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
 * A tile with codes, plain or rotated, from its bytes bytes at in, behind which room lies. false:
 * the reference has to decode it, or has to say that it cannot be.
 */
SIMD bool decode_coded(const tile_job_t *job, unsigned n, unsigned bits, bool rotated,
                       const grids_t *grids, unsigned t, const uint8_t *in, size_t bytes,
                       size_t room, uint8_t *dst)
{
    const unsigned whole = 1u << tile_log2(n), pivot = *in;
    uint8_t near_end[TILE_MAX + SIMD_PLANES], values[TILE_MAX * sizeof(double)];
    const uint8_t *planes = in + rotated;
    if (rotated && (job->hadamard == TAH_HADAMARD_OFF || pivot >= n || whole < SIMD_LANES))
        return false;
    if (!rotated && n % 8 && !padding_zero(planes, n, bits))
        return false;
    if (__builtin_expect(room < bytes + SIMD_PLANES, 0))
        planes = memcpy(near_end, planes, bytes - rotated);
    /* What is stored in whole vectors may be more than the tile. */
    uint8_t *const to = (rotated ? n != whole : n % SIMD_LANES != 0) ? values : dst;
    if (rotated && job->dtype == TAH_FLOAT32)
        rotated_store(planes, bits, n, pivot, grids, t, TAH_FLOAT32, to);
    else if (rotated)
        rotated_store(planes, bits, n, pivot, grids, t, job->dtype, to);
    else if (job->dtype == TAH_FLOAT32)
        plain_store(planes, bits, n, grids->steps[t], grids->zeros[t], TAH_FLOAT32, to);
    else
        plain_store(planes, bits, n, grids->steps[t], grids->zeros[t], job->dtype, to);
    if (to != dst)
        memcpy(dst, to, (size_t)n * job->element);
    return true;
}

/* Bytes of the stream that a tile takes, as tile_stream_bytes has them. */
SIMD size_t stream_bytes(const tile_run_t *run, unsigned n, unsigned t, const grids_t *grids,
                         const uint8_t *record)
{
    const unsigned bits = run->widths[t], rotated = grids->rotated >> t % BATCH & 1;
    const unsigned whole = 1u << tile_log2(n);
    if (!((grids->plain | grids->rotated) >> t % BATCH & 1))
        return tile_stream_bytes(load_u32(record), n, bits, run->job->element);
    return whole == n || !rotated ? rotated + tile_code_bytes(n, bits)
                                  : 1 + tile_code_bytes(whole, bits);
}

/*
 * Up to sixteen tiles of n elements, from number first of their run on. Tiles of one kind are done
 * one after another: which kind the next one is cannot be foreseen.
 */
SIMD size_t decode_batch(const tile_run_t *run, unsigned n, unsigned first, const uint8_t *records,
                         const uint8_t *in, size_t room, uint8_t *dst)
{
    const unsigned left = run->tiles - first, tiles = left < BATCH ? left : BATCH;
    const size_t tensor_bytes = (size_t)n * run->job->element;
    size_t starts[BATCH + 1] = {0};
    grids_t grids;
    grids_read(records, tiles, &grids);
    for (unsigned t = 0; t < tiles; t++) {
        const size_t bytes = stream_bytes(run, n, first + t, &grids, records + t * TILE_RECORD);
        if (bytes > room - starts[t])
            return SIZE_MAX;
        starts[t + 1] = starts[t] + bytes;
    }
    unsigned rest = ((1u << tiles) - 1) & ~(grids.plain | grids.rotated);
    for (unsigned some = grids.plain; some; some &= some - 1) {
        const unsigned t = (unsigned)__builtin_ctz(some);
        if (!decode_coded(run->job, n, run->widths[first + t], false, &grids, t, in + starts[t],
                          starts[t + 1] - starts[t], room - starts[t], dst + t * tensor_bytes))
            rest |= 1u << t;
    }
    for (unsigned some = grids.rotated; some; some &= some - 1) {
        const unsigned t = (unsigned)__builtin_ctz(some);
        if (!decode_coded(run->job, n, run->widths[first + t], true, &grids, t, in + starts[t],
                          starts[t + 1] - starts[t], room - starts[t], dst + t * tensor_bytes))
            rest |= 1u << t;
    }
    for (; rest; rest &= rest - 1) {
        const unsigned t = (unsigned)__builtin_ctz(rest);
        if (tile_decode(run->job, load_u32(records + t * TILE_RECORD), in + starts[t],
                        room - starts[t], n, run->widths[first + t],
                        dst + t * tensor_bytes) == SIZE_MAX)
            return SIZE_MAX;
    }
    return starts[tiles];
}

/* A run of tiles of n elements; compiled for each usual n. */
SIMD size_t decode_tiles(const tile_run_t *run, unsigned n, const uint8_t *records,
                         const uint8_t *in, size_t room, uint8_t *dst)
{
    size_t used = 0;
    for (unsigned first = 0; first < run->tiles; first += BATCH) {
        const size_t bytes = decode_batch(run, n, first, records + first * TILE_RECORD, in + used,
                                          room - used, dst);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        used += bytes;
        dst += (size_t)BATCH * n * run->job->element;
    }
    return used;
}

static void vector_copy_past(uint8_t *dst, const uint8_t *src, size_t bytes)
{
    const size_t first = -(uintptr_t)dst % 64, head = first < bytes ? first : bytes;
    memcpy(dst, src, head);
    for (dst += head, src += head, bytes -= head; bytes >= 64; dst += 64, src += 64, bytes -= 64)
        vi_store_past(dst, vi_load(src));
    memcpy(dst, src, bytes);
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
