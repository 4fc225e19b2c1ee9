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

static uint32_t vector_entropy(tah_dtype_t dtype, const uint8_t *src, size_t n)
{
    vf mass = vf_set1(0), moment = mass;
    tile_weight_t weight;
    uint32_t key;
    size_t i = 0;
    if (dtype == TAH_FLOAT64)
        return tile_entropy(dtype, src, n);
    const size_t element = tah_dtype_bytes(dtype), bytes = SIMD_LANES * element;
    for (const uint8_t *at = src; i < n; i += SIMD_LANES, at += bytes) {
        uint8_t rest[SIMD_LANES * 4] = {0};
        const uint8_t *whole = at;
        if (n - i < SIMD_LANES) {
            memcpy(rest, at, (n - i) * element);
            whole = rest;
        }
        weigh(dtype == TAH_FLOAT32    ? vf_load(whole)
              : dtype == TAH_BFLOAT16 ? vf_load_bfloat16(whole)
                                      : vf_load_float16(whole),
              &mass, &moment);
    }
    vf_store(weight.mass, mass);
    vf_store(weight.moment, moment);
    return weight_key(&weight, &key) ? key : tile_entropy(dtype, src, n);
}

SIMD void range_tiles(const tile_run_t *run, const uint8_t *src, unsigned vectors, uint32_t *keys)
{
    const size_t bytes = (size_t)run->n * run->job->element;
    const bool direct = run->job->dtype == TAH_FLOAT32 && run->n % SIMD_LANES == 0;
    for (unsigned first = 0; first < run->tiles; first += BATCH, src += BATCH * bytes) {
        const unsigned tiles = run->tiles - first < BATCH ? run->tiles - first : BATCH;
        vf low[BATCH], high[BATCH], sum = vf_set1(0);
        uint32_t found[BATCH];
        float values[TILE_MAX];
        for (unsigned t = 0; t < BATCH; t++) {
            const uint8_t *data = src + (t < tiles ? t : 0) * bytes;
            if (!direct) {
                tile_widen(run, data, vectors, values);
                data = (const uint8_t *)values;
            }
            sum = vf_add(sum, tile_scan(data, vectors, low + t, high + t));
        }
        const vf range = vf_sub(vf_max_across(high), vf_min_across(low));
        vf_store(found, vf_abs(range));
        if (!scan_finite(sum))
            for (unsigned t = 0; t < tiles; t++)
                found[t] = tile_range(run->job->dtype, src + t * bytes, run->n);
        memcpy(keys + first, found, tiles * sizeof *keys);
    }
}

static void vector_range(tah_dtype_t dtype, const uint8_t *src, unsigned n, unsigned tiles,
                         uint32_t *keys)
{
    const tile_job_t job = {.dtype = dtype, .element = (unsigned)tah_dtype_bytes(dtype)};
    const tile_run_t run = {.job = &job, .n = n, .tiles = tiles};
    const unsigned vectors = (n + SIMD_LANES - 1) / SIMD_LANES;
    if (vectors == 4)
        range_tiles(&run, src, 4, keys);
    else
        range_tiles(&run, src, vectors, keys);
}
