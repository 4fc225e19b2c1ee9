/*
 * The keys that widths are allocated by, in vectors: a part of the body of every kernel but the
 * scalar one. Same operations in the same order as in entropy.c.
 */

/* Adds a vector of values to the sums. */
SIMD void weigh(vf x, vf *mass, vf *moment)
{
    const vf a = vf_abs(x);
    const vi bits = vf_bits(a);
    const vf t = vi_bits(vi_or(vi_and(bits, vi_set1(0x7fffff)), vi_set1(0x3f800000)));
    vf logarithm = vf_add(vf_mul(t, vf_set1(WEIGHT_C3)), vf_set1(WEIGHT_C2));
    logarithm = vf_add(vf_mul(logarithm, t), vf_set1(WEIGHT_C1));
    logarithm = vf_add(vf_mul(logarithm, t), vf_of(vi_down(bits, 23)));
    *mass = vf_add(*mass, a);
    *moment = vf_add(*moment, vf_mul(a, logarithm));
}

/* A vector of n elements or, where there are fewer, of those and zeros. */
SIMD vf elements_load(tah_dtype_t dtype, const uint8_t *at, size_t n)
{
    uint8_t rest[SIMD_LANES * 4] = {0};
    if (n < SIMD_LANES) {
        memcpy(rest, at, n * element_bytes(dtype));
        at = rest;
    }
    return dtype == TAH_FLOAT32    ? vf_load(at)
           : dtype == TAH_BFLOAT16 ? vf_load_bfloat16(at)
                                   : vf_load_float16(at);
}

/* The sums of a unit, in the lanes of one vector each. */
SIMD void unit_weigh(tah_dtype_t dtype, const uint8_t *src, size_t n, vf *mass, vf *moment)
{
    const size_t bytes = SIMD_LANES * element_bytes(dtype);
    vf masses[2] = {vf_set1(0), vf_set1(0)}, moments[2] = {vf_set1(0), vf_set1(0)};
    size_t i = 0;
    for (; i + 2 * SIMD_LANES <= n; i += 2 * SIMD_LANES, src += 2 * bytes) {
        next_prefetch(src + 4096, 2);
        weigh(elements_load(dtype, src, SIMD_LANES), &masses[0], &moments[0]);
        weigh(elements_load(dtype, src + bytes, SIMD_LANES), &masses[1], &moments[1]);
    }
    for (unsigned k = 0; i < n; i += SIMD_LANES, src += bytes, k++)
        weigh(elements_load(dtype, src, n - i), &masses[k], &moments[k]);
    *mass = vf_add(masses[0], masses[1]);
    *moment = vf_add(moments[0], moments[1]);
}

SIMD void entropy_units(tah_dtype_t dtype, const uint8_t *src, size_t n, size_t units,
                        uint32_t *keys)
{
    const size_t bytes = n * element_bytes(dtype);
    vf mass[BATCH], moment[BATCH];
    float masses[BATCH], moments[BATCH];
    for (unsigned t = 0; t < BATCH; t++)
        mass[t] = moment[t] = vf_set1(0);
    for (size_t first = 0; first < units; first += BATCH) {
        const unsigned count = units - first < BATCH ? (unsigned)(units - first) : BATCH;
        for (unsigned t = 0; t < count; t++)
            unit_weigh(dtype, src + (first + t) * bytes, n, mass + t, moment + t);
        vf_store(masses, vf_add_across(mass));
        vf_store(moments, vf_add_across(moment));
        for (unsigned t = 0; t < count; t++)
            if (!weight_key(masses[t], moments[t], keys + first + t))
                keys[first + t] = tile_entropy(dtype, src + (first + t) * bytes, n);
    }
}

static void vector_entropy(tah_dtype_t dtype, const uint8_t *src, size_t n, size_t units,
                           uint32_t *keys)
{
    if (dtype == TAH_FLOAT32 && n == 64)
        entropy_units(TAH_FLOAT32, src, 64, units, keys);
    else if (dtype == TAH_FLOAT32)
        entropy_units(TAH_FLOAT32, src, n, units, keys);
    else if (dtype == TAH_FLOAT64)
        kernel_scalar.entropy(dtype, src, n, units, keys);
    else
        entropy_units(dtype, src, n, units, keys);
}

SIMD void range_units(tah_dtype_t dtype, const uint8_t *src, unsigned n, size_t units,
                      uint32_t *keys)
{
    const unsigned vectors = (n + SIMD_LANES - 1) / SIMD_LANES;
    const size_t bytes = (size_t)n * element_bytes(dtype);
    const bool direct = dtype == TAH_FLOAT32 && n % SIMD_LANES == 0;
    for (size_t first = 0; first < units; first += BATCH, src += BATCH * bytes) {
        const unsigned tiles = units - first < BATCH ? (unsigned)(units - first) : BATCH;
        vf low[BATCH], high[BATCH], sum = vf_set1(0);
        uint32_t found[BATCH];
        float values[TILE_MAX];
        for (unsigned t = 0; t < BATCH; t++) {
            const uint8_t *data = src + (t < tiles ? t : 0) * bytes;
            next_prefetch(data + BATCH * bytes, vectors);
            if (!direct) {
                tile_widen(dtype, data, n, vectors, values);
                data = (const uint8_t *)values;
            }
            sum = vf_add(sum, tile_scan(data, vectors, low + t, high + t));
        }
        const vf range = vf_sub(vf_max_across(high), vf_min_across(low));
        vf_store(found, vf_abs(range));
        if (!scan_finite(sum))
            for (unsigned t = 0; t < tiles; t++)
                found[t] = tile_range(dtype, src + t * bytes, n);
        memcpy(keys + first, found, tiles * sizeof *keys);
    }
}

static void vector_range(tah_dtype_t dtype, const uint8_t *src, size_t n, size_t units,
                         uint32_t *keys)
{
    if (dtype == TAH_FLOAT32 && n == 64)
        range_units(TAH_FLOAT32, src, 64, units, keys);
    else
        range_units(dtype, src, (unsigned)n, units, keys);
}
