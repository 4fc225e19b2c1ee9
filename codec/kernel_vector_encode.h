/*
 * Encoding of runs of tiles by vectors: a part of the body of every kernel but the scalar one. What
 * is rare is left to tile_encode: constants, values that are not finite, very small and very large
 * tiles, stochastic rounding and range search.
 */

/* What does not change within a run; tables are by bits - 1. */
typedef struct run_setup {
    const tile_run_t *run;
    float reciprocal[8], reach[8];
    uint32_t up; /* see grid_width_t */
} run_setup_t;

/* Up to sixteen tiles on their way; a bit or an element for each. */
typedef struct batch {
    unsigned tiles;
    unsigned good;    /* the others are left to the reference */
    unsigned rotated; /* of these */
    const uint8_t *data[BATCH]; /* floats, whole vectors */
    uint8_t pivot[BATCH];
    vf low[BATCH], high[BATCH]; /* of every lane */
    float lows[BATCH], highs[BATCH], zeros[BATCH], inverses[BATCH];
    uint32_t records[BATCH];
    float values[BATCH][TILE_MAX]; /* where data is not the tensor itself */
    float turned[BATCH * TILE_MAX]; /* rotated tiles, as close as their size allows */
} batch_t;

/*
 * The tiles of which one lane alone has a magnitude above half of the largest: hardly any other has
 * a pivot. Whether the next tile is one cannot be foreseen, so no branch depends on it.
 */
SIMD unsigned batch_suspects(const batch_t *batch, unsigned n, const float *halves)
{
    uint32_t lanes[BATCH];
    if (n % SIMD_LANES)
        return batch->good;
    const vi sign = vi_set1(0x80000000u);
    UNROLLED
    for (unsigned t = 0; t < BATCH; t++) {
        const vf largest = vf_max(vi_bits(vi_xor(vf_bits(batch->low[t]), sign)), batch->high[t]);
        lanes[t] = vm_bits(vf_above(largest, vf_set1(halves[t])));
    }
    const vi all = vi_load(lanes), several = vi_and(all, vi_sub(all, vi_set1(1)));
    return batch->good & ~vm_bits(vi_above(several, vi_set1(0)));
}

/* Exactly one magnitude above half of the largest, as tile_pivot has it, of the first n. */
SIMD bool batch_pivot(const batch_t *batch, unsigned t, unsigned n, unsigned vectors, float half,
                      unsigned *pivot)
{
    const vf limit = vf_set1(half);
    unsigned above = 0;
    UNROLLED
    for (unsigned i = 0; i < vectors; i++) {
        unsigned lanes = vm_bits(vf_above(vf_abs(vf_load(batch->data[t] + i * 64)), limit));
        if (n - i * SIMD_LANES < SIMD_LANES)
            lanes &= (1u << n % SIMD_LANES) - 1;
        above += (unsigned)__builtin_popcount(lanes);
        *pivot = lanes ? i * SIMD_LANES + (unsigned)__builtin_ctz(lanes) : *pivot;
    }
    return above == 1;
}

/* Transforms a tile into its values, and finds the extremes of the lanes there. */
SIMD void batch_rotate_to(batch_t *batch, unsigned t, unsigned n, unsigned vectors, unsigned pivot)
{
    const uint8_t *data = batch->data[t];
    const vf first = vf_set1(bits_float(load_u32(data)));
    const vf largest = vf_set1(bits_float(load_u32(data + pivot * sizeof(float))));
    vf x[TILE_VECTORS];
    UNROLLED
    for (unsigned i = 0; i < vectors; i++) {
        const unsigned start = i * SIMD_LANES;
        x[i] = start < n ? vf_load(data + i * 64) : vf_set1(0);
        if (start < n && n - start < SIMD_LANES)
            x[i] = vf_choose(vm_from((1u << n % SIMD_LANES) - 1), x[i], vf_set1(0));
        x[i] =
            vf_choose(vm_from(pivot / SIMD_LANES == i ? 1u << pivot % SIMD_LANES : 0), first, x[i]);
    }
    x[0] = vf_choose(vm_from(1), largest, x[0]);
    UNROLLED
    for (unsigned i = 0; i < vectors; i++)
        x[i] = vf_butterfly8(vf_butterfly4(vf_butterfly2(vf_butterfly1(x[i]))));
    BETWEEN_VECTORS(vf, x, vectors, vf_add, vf_sub)
    vf low = x[0], high = x[0];
    UNROLLED
    for (unsigned i = 0; i < vectors; i++) {
        low = vf_min(low, x[i]);
        high = vf_max(high, x[i]);
        vf_store(batch->turned + (t * vectors + i) * SIMD_LANES, x[i]);
    }
    batch->low[t] = low;
    batch->high[t] = high;
    batch->pivot[t] = (uint8_t)pivot;
}

/* The same with a known number of vectors, so that they stay in registers. */
SIMD void batch_rotate(batch_t *batch, unsigned t, unsigned n, unsigned pivot)
{
    switch (tile_log2(n)) {
    case 4:
        batch_rotate_to(batch, t, n, 1, pivot);
        break;
    case 5:
        batch_rotate_to(batch, t, n, 2, pivot);
        break;
    case 6:
        batch_rotate_to(batch, t, n, 4, pivot);
        break;
    case 7:
        batch_rotate_to(batch, t, n, 8, pivot);
        break;
    default:
        batch_rotate_to(batch, t, n, TILE_VECTORS, pivot);
    }
}

/*
 * Of the tiles that were transformed, with these extremes, those whose range is the shorter for it.
 */
SIMD unsigned rotations_best(const batch_t *batch, vf low, vf high, unsigned order)
{
    unsigned best = batch->rotated;
    float lows[BATCH], highs[BATCH];
    vf_store(lows, low);
    vf_store(highs, high);
    for (unsigned left = batch->rotated; left; left &= left - 1) {
        const unsigned t = (unsigned)__builtin_ctz(left);
        if (!rotation_shortens(batch->lows[t], batch->highs[t], lows[t], highs[t], order))
            best &= ~(1u << t);
    }
    return best;
}

/* The tiles that have a pivot, transformed where their job wants it. */
SIMD void batch_rotations(const tile_run_t *run, batch_t *batch, const float *halves, unsigned n)
{
    const unsigned vectors = (n + SIMD_LANES - 1) / SIMD_LANES, order = tile_log2(n);
    for (unsigned left = batch_suspects(batch, n, halves); left; left &= left - 1) {
        const unsigned t = (unsigned)__builtin_ctz(left);
        unsigned pivot = 0;
        if (!batch_pivot(batch, t, n, vectors, halves[t], &pivot))
            continue;
        if (n <= SIMD_LANES / 2) { /* a transform of less than a vector */
            batch->good &= ~(1u << t);
            continue;
        }
        batch_rotate(batch, t, n, pivot);
        batch->rotated |= 1u << t;
    }
    if (!batch->rotated)
        return;
    const vf low = vf_min_across(batch->low), high = vf_max_across(batch->high);
    if (run->job->hadamard == TAH_HADAMARD_BEST)
        batch->rotated = rotations_best(batch, low, high, order);
    const vm rotated = vm_from(batch->rotated);
    vf_store(batch->lows, vf_choose(rotated, low, vf_load((const uint8_t *)batch->lows)));
    vf_store(batch->highs, vf_choose(rotated, high, vf_load((const uint8_t *)batch->highs)));
    for (unsigned left = batch->rotated; left; left &= left - 1) {
        const unsigned t = (unsigned)__builtin_ctz(left);
        batch->data[t] = (const uint8_t *)(batch->turned + (t << order));
    }
}

/* grid_fit and grid_record of sixteen tiles; those that are not good get anything. */
SIMD void batch_grids(const run_setup_t *setup, batch_t *batch, unsigned n, vi widths)
{
    const vi one = vi_set1(1), drop = vi_set1(GRID_STEP_DROP), fraction = vi_set1(0x7f800000);
    const vf low = vf_load((const uint8_t *)batch->lows);
    const vf high = vf_load((const uint8_t *)batch->highs);
    const vi index = vi_sub(widths, one);
    const vf reciprocal = vf_look_up(setup->reciprocal, index);
    const vf reach = vf_look_up(setup->reach, index);
    const vf least = vf_mul(vf_abs(low), vf_set1(GRID_STEP_LEAST));
    const vm good = vm_from(batch->good);
    vf span = vf_sub(high, low), step, units, zero;
    for (;;) {
        step = vf_max(vf_mul(span, reciprocal), least);
        const vi up = vi_add(vf_bits(step), vi_set1(setup->up));
        const vi cut = vi_sub(up, vi_and(up, drop));
        /* The unit is 2^-8 of the step's power of two. */
        const vi power = vi_and(cut, fraction);
        const vf inverse_unit = vi_bits(vi_sub(vi_set1((int)((127u + 127 + 8) << 23)), power));
        const vf unit = vi_bits(vi_sub(power, vi_set1(8 << 23)));
        step = vi_bits(cut);
        const vi whole = vf_bits(vf_floor(vf_mul(low, inverse_unit)));
        const vi zero_drop = vi_set1(GRID_ZERO_DROP);
        const vi rounded = vi_add(whole, vi_and(vi_down_signed(whole, 31), zero_drop));
        /* The sum has no negative zero. */
        units = vf_add(vi_bits(vi_sub(rounded, vi_and(rounded, zero_drop))), vf_set1(0));
        zero = vf_mul(units, unit);
        const vf over = vf_sub(high, zero);
        const vm short_of = vm_and(vf_above(over, vf_mul(reach, step)), good);
        if (vm_bits(short_of) == 0)
            break;
        span = vf_choose(short_of, over, span);
    }
    const vf magnitude = vf_abs(units);
    const vi field = vi_choose(vf_above(vf_set1(1024), magnitude), vf_nearest(magnitude),
                               vi_sub(vi_down(vf_bits(magnitude), 13), vi_set1((127 + 9) << 10)));
    const unsigned order = tile_log2(n);
    const vi turned = vi_choose(vm_from(batch->rotated), vi_set1((1u << 30) - (order << 8)),
                                vi_set1(0));
    vi record = vi_add(vi_down(vf_bits(step), 15), vi_set1(GRID_RECORD_EXPONENT << 8));
    record = vi_add(vi_add(record, turned), vi_up(field, 16));
    vi_store(batch->records, vi_or(record, vi_and(vf_bits(units), vi_set1(0x80000000u))));
    vf_store(batch->zeros, zero);
    vf_store(batch->inverses, vf_div(vf_set1(1), step));
}

/* The codes of a good tile of coded values as planes; returns the bytes they take. */
SIMD size_t batch_codes(const batch_t *batch, unsigned t, unsigned coded, unsigned vectors,
                        unsigned bits, uint8_t *out)
{
    const vf zero = vf_set1(batch->zeros[t]), inverse = vf_set1(batch->inverses[t]);
    const uint8_t *data = batch->data[t];
    const uint8_t *const start = out;
    vi codes[TILE_VECTORS + 3];
    UNROLLED
    for (unsigned i = 0; i < vectors; i++)
        codes[i] = vf_nearest(vf_mul(vf_sub(vf_load(data + i * 64), zero), inverse));
    if (coded % SIMD_LANES)
        codes[vectors - 1] =
            vi_choose(vm_from((1u << coded % SIMD_LANES) - 1), codes[vectors - 1], vi_set1(0));
    codes[vectors] = codes[vectors + 1] = codes[vectors + 2] = vi_set1(0);
    UNROLLED
    for (unsigned i = 0; i < vectors; i += 4) {
        const vb packed = vb_limit(vb_pack(codes[i], codes[i + 1], codes[i + 2], codes[i + 3]),
                                   (1u << bits) - 1);
        const unsigned left = coded - i * SIMD_LANES, w = left < 64 ? (left + 7) / 8 : 8;
        vb_planes(packed, bits, w, out);
        out += bits * w;
    }
    return (size_t)(out - start);
}

/* The stream of a good tile, which may be near the end of room; returns the bytes, or SIZE_MAX. */
static size_t batch_write_last(const batch_t *batch, unsigned t, unsigned n, unsigned bits,
                               uint8_t *out, size_t room)
{
    const unsigned rotated = batch->rotated >> t & 1, coded = rotated ? 1u << tile_log2(n) : n;
    const size_t bytes = rotated + tile_code_bytes(coded, bits);
    uint8_t planes[TILE_MAX + SIMD_PLANES];
    if (room < bytes)
        return SIZE_MAX;
    batch_codes(batch, t, coded, (coded + SIMD_LANES - 1) / SIMD_LANES, bits, planes);
    *out = batch->pivot[t];
    memcpy(out + rotated, planes, bytes - rotated);
    return bytes;
}

/* The streams of a batch whose tiles are all good, with room for more than they can take. */
SIMD size_t batch_write(const batch_t *batch, unsigned n, const uint8_t *widths, uint8_t *out)
{
    const unsigned vectors = (n + SIMD_LANES - 1) / SIMD_LANES, whole = 1u << tile_log2(n);
    const uint8_t *const start = out;
    for (unsigned t = 0; t < batch->tiles; t++) {
        const unsigned rotated = batch->rotated >> t & 1;
        *out = batch->pivot[t];
        out += rotated;
        /* A transform turns a ragged tile into a whole one. */
        out += whole == n || !rotated
                   ? batch_codes(batch, t, n, vectors, widths[t], out)
                   : batch_codes(batch, t, whole, whole / SIMD_LANES, widths[t], out);
    }
    return (size_t)(out - start);
}

/* The extremes of the tiles of a batch from number first of their run on, and which are good. */
SIMD void batch_scan(const tile_run_t *run, batch_t *batch, const uint8_t *src, unsigned n)
{
    const unsigned vectors = (n + SIMD_LANES - 1) / SIMD_LANES;
    const size_t bytes = (size_t)n * run->job->element;
    const bool direct = run->job->dtype == TAH_FLOAT32 && n % SIMD_LANES == 0;
    vf sum = vf_set1(0);
    for (unsigned t = 0; t < batch->tiles; t++) {
        batch->data[t] = src + t * bytes;
        next_prefetch(src + (2 * BATCH + t) * bytes, vectors);
        if (!direct) {
            tile_widen(run->job->dtype, src + t * bytes, n, vectors, batch->values[t]);
            batch->data[t] = (const uint8_t *)batch->values[t];
        }
        sum = vf_add(sum, tile_scan(batch->data[t], vectors, &batch->low[t], &batch->high[t]));
    }
    for (unsigned t = batch->tiles; t < BATCH; t++) {
        batch->low[t] = batch->low[0];
        batch->high[t] = batch->high[0];
    }
    batch->good = 0xffffu >> (BATCH - batch->tiles);
    if (!scan_finite(sum))
        for (unsigned t = 0; t < batch->tiles; t++)
            if (!scan_finite(tile_scan(batch->data[t], vectors, &batch->low[t], &batch->high[t])))
                batch->good &= ~(1u << t);
}

/* Everything up to the codes of a batch from tile first of its run on. */
SIMD void batch_prepare(const run_setup_t *setup, batch_t *batch, unsigned n, unsigned first,
                        const uint8_t *src, uint8_t *records)
{
    const tile_run_t *run = setup->run;
    const unsigned left = run->tiles - first;
    uint8_t widths[BATCH] = {0};
    float halves[BATCH];
    batch->tiles = left < BATCH ? left : BATCH;
    batch_scan(run, batch, src, n);
    const vf low = vf_min_across(batch->low), high = vf_max_across(batch->high);
    const vf peak = vf_max(vf_abs(low), vf_abs(high));
    const vm middle = vm_and(vf_above(peak, vf_set1(0x1p-80f - 0x1p-104f)),
                             vf_above(vf_set1(0x1p81f), peak));
    batch->good &= vm_bits(vm_and(middle, vf_above(high, low)));
    batch->rotated = 0;
    vf_store(batch->lows, low);
    vf_store(batch->highs, high);
    vf_store(halves, vf_mul(peak, vf_set1(0.5f)));
    if (run->job->hadamard != TAH_HADAMARD_OFF)
        batch_rotations(run, batch, halves, n);
    memcpy(widths, run->widths + first, batch->tiles);
    batch_grids(setup, batch, n, vi_bytes(widths));
    memcpy(records, batch->records, batch->tiles * TILE_RECORD);
}

/* The same where some are left to the reference, or room may be too small; SIZE_MAX where it is. */
static __attribute__((noinline)) size_t
batch_write_each(const tile_run_t *run, const batch_t *batch, unsigned first, const uint8_t *src,
                 uint8_t *records, uint8_t *out, size_t room, tile_counts_t *counts)
{
    size_t used = 0;
    for (unsigned t = 0; t < batch->tiles; t++) {
        const unsigned bits = run->widths[first + t];
        const size_t taken =
            batch->good >> t & 1
                ? batch_write_last(batch, t, run->n, bits, out + used, room - used)
                : tile_encode(run->job, run->first + first + t,
                              src + (size_t)t * run->n * run->job->element, run->n, bits,
                              records + t * TILE_RECORD, out + used, room - used, counts);
        if (taken == SIZE_MAX)
            return SIZE_MAX;
        used += taken;
    }
    return used;
}

/* A run of tiles of n elements; compiled for each usual n. */
SIMD size_t encode_tiles(const run_setup_t *setup, unsigned n, const uint8_t *src, uint8_t *records,
                         uint8_t *out, size_t room, tile_counts_t *counts)
{
    const tile_run_t *run = setup->run;
    const size_t bytes = (size_t)n * run->job->element;
    const size_t most = BATCH * (1 + tile_code_bytes(1u << tile_log2(n), 8)) + SIMD_PLANES;
    size_t used = 0;
    batch_t batch;
    for (unsigned first = 0; first < run->tiles; first += BATCH, src += BATCH * bytes) {
        batch_prepare(setup, &batch, n, first, src, records + first * TILE_RECORD);
        counts->rotated += (unsigned)__builtin_popcount(batch.rotated);
        const bool usual = batch.good == 0xffffu >> (BATCH - batch.tiles) && room - used >= most;
        const size_t taken =
            usual ? batch_write(&batch, n, run->widths + first, out + used)
                  : batch_write_each(run, &batch, first, src, records + first * TILE_RECORD,
                                     out + used, room - used, counts);
        if (taken == SIZE_MAX)
            return SIZE_MAX;
        used += taken;
    }
    return used;
}

static size_t vector_encode(const tile_run_t *run, const uint8_t *src, uint8_t *records,
                            uint8_t *out, size_t room, tile_counts_t *counts)
{
    run_setup_t setup = {.run = run};
    if (run->job->rounding != TAH_ROUND_NEAREST || run->job->search)
        return kernel_scalar.encode(run, src, records, out, room, counts);
    for (unsigned bits = 2; bits <= 8; bits++) {
        const grid_width_t width = grid_width(bits, TAH_ROUND_NEAREST);
        setup.reciprocal[bits - 1] = width.reciprocal;
        setup.reach[bits - 1] = width.reach;
        setup.up = width.up;
    }
    switch (run->n) {
    case 16:
        return encode_tiles(&setup, 16, src, records, out, room, counts);
    case 32:
        return encode_tiles(&setup, 32, src, records, out, room, counts);
    case 64:
        return encode_tiles(&setup, 64, src, records, out, room, counts);
    case 128:
        return encode_tiles(&setup, 128, src, records, out, room, counts);
    default:
        return encode_tiles(&setup, run->n, src, records, out, room, counts);
    }
}
