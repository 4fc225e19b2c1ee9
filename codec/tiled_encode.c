/* Encoder of a tiled payload: which width goes where, then the tiles. */
#include "codec/tiled.h"

#include "codec/bytes.h"
#include "codec/environment.h"
#include "codec/kernels.h"
#include "codec/measure.h"
#include "codec/stream.h"

#define MILLION 1000000u

const char *tiled_check(const tah_params_t *params)
{
    if (params->tile < TILE_MIN || params->tile > TILE_MAX || params->tile & (params->tile - 1))
        return "tile must be 16, 32, 64, 128 or 256";
    if (params->bits_high < 2 || params->bits_high > 8)
        return "bits must be from 2 to 8";
    if ((unsigned)params->rounding > TAH_ROUND_STOCHASTIC)
        return "rounding must be nearest or stochastic";
    if (params->range_search && params->rounding == TAH_ROUND_STOCHASTIC)
        return "range-search cuts values off, which stochastic rounding must not: choose one";
    return NULL;
}

/* A shape but for the map: what is the same for every message of these parameters. */
static bool shape_start(const tah_params_t *params, uint64_t count, tiled_map_t map,
                        tiled_shape_t *shape)
{
    *shape = (tiled_shape_t){
        .count = count,
        .row = params->channels ? params->channels : count,
        .tile = params->tile,
        .bits_high = params->bits_high,
        .bits_low = map == TILED_MAP_NONE ? params->bits_high : params->bits_low,
        .map = map,
    };
    return tiled_shape_init(shape);
}

/* How many of units rows or tiles get the low width: the high fraction counts in millionths. */
static uint64_t units_low(const tah_params_t *params, uint64_t units)
{
    const uint32_t high = (uint32_t)((double)params->high_fraction * MILLION + 0.5);
    return (uint64_t)((unsigned __int128)units * (MILLION - high) / MILLION);
}

static tiled_map_t map_of(const tah_params_t *params, bool two_widths)
{
    if (!two_widths || params->bits_low == params->bits_high)
        return TILED_MAP_NONE;
    return params->allocate == TAH_ALLOCATE_TOKEN && params->channels ? TILED_MAP_ROWS
                                                                      : TILED_MAP_TILES;
}

/* The shape of a message. A map that would say the same of every unit is left out. */
static bool shape_of(const tah_params_t *params, bool two_widths, uint64_t count,
                     tiled_shape_t *shape, uint64_t *low)
{
    if (!shape_start(params, count, map_of(params, two_widths), shape))
        return false;
    *low = units_low(params, shape->map_bits);
    if (*low == 0 || *low == shape->map_bits) {
        const uint8_t bits = *low ? shape->bits_low : shape->bits_high;
        if (!shape_start(params, count, TILED_MAP_NONE, shape))
            return false;
        shape->bits_high = shape->bits_low = bits;
        *low = 0;
    }
    return true;
}

bool tiled_bound(const tah_params_t *params, bool two_widths, tah_hadamard_t hadamard,
                 uint64_t count, uint64_t *payload)
{
    tiled_shape_t shape;
    uint64_t low;
    if (!shape_of(params, two_widths, count, &shape, &low))
        return false;
    /* A tile takes its codes or, where it is constant, an element; a rotated one its pivot, and
     * as many codes as the power of two above it. */
    const bool rotates = hadamard != TAH_HADAMARD_OFF;
    const size_t element = tah_dtype_bytes(params->dtype);
    size_t most[2][2]; /* bytes: [high][short tile] */
    for (int high = 0; high < 2; high++) {
        const unsigned bits = high ? shape.bits_high : shape.bits_low;
        for (int is_short = 0; is_short < 2; is_short++) {
            const unsigned n = is_short && shape.tail ? shape.tail : shape.tile;
            const size_t codes = rotates + tile_code_bytes(rotates ? 1u << tile_log2(n) : n, bits);
            most[high][is_short] = codes > element ? codes : element;
        }
    }
    /* As if the low width fell to the short tiles first, where it saves least. */
    const uint64_t short_tiles = shape.tail ? shape.rows : 0;
    const uint64_t low_tiles = shape.map == TILED_MAP_ROWS ? low * shape.row_tiles : low;
    const uint64_t low_short = shape.map == TILED_MAP_ROWS ? (shape.tail ? low : 0)
                               : low_tiles < short_tiles   ? low_tiles
                                                           : short_tiles;
    const uint64_t low_long = low_tiles - low_short;
    const uint64_t tiles[2][2] = {
        {low_long, low_short},
        {shape.tiles - short_tiles - low_long, short_tiles - low_short},
    };
    *payload = shape.stream_start;
    for (int high = 0; high < 2; high++) {
        for (int is_short = 0; is_short < 2; is_short++) {
            uint64_t bytes;
            if (!checked_mul(tiles[high][is_short], most[high][is_short], &bytes) ||
                !checked_add(*payload, bytes, payload))
                return false;
        }
    }
    return true;
}

/* The search for sorting keys, four bytes each, where the records will be. */
typedef struct ranking {
    const tah_params_t *params;
    const tiled_shape_t *shape;
    const uint8_t *src;
    uint8_t *keys;
    unsigned element;
    uint64_t part_rows;
} ranking_t;

static void part_rank_rows(void *job, pool_part_t *part)
{
    const ranking_t *ranking = job;
    const tiled_shape_t *shape = ranking->shape;
    const uint64_t first = part->number * ranking->part_rows;
    const uint64_t left = shape->rows - first;
    const uint64_t end = first + (left < ranking->part_rows ? left : ranking->part_rows);
    for (uint64_t row = first, rows; row < end; row += rows) {
        uint32_t found[KERNEL_RUN];
        rows = end - row < KERNEL_RUN ? end - row : KERNEL_RUN;
        kernel_get()->entropy(ranking->params->dtype,
                              ranking->src + row * shape->row * ranking->element, shape->row, rows,
                              found);
        memcpy(ranking->keys + row * TILE_RECORD, found, rows * sizeof *found);
    }
}

static void part_rank_tiles(void *job, pool_part_t *part)
{
    const ranking_t *ranking = job;
    const kernel_t *kernel = kernel_get();
    tiled_cursor_t cursor = tiled_part(ranking->shape, ranking->element, part->number);
    while (tiled_next(ranking->shape, &cursor)) {
        uint32_t found[KERNEL_RUN];
        const uint8_t *first = ranking->src + cursor.element * ranking->element;
        (ranking->params->allocate == TAH_ALLOCATE_RANGE ? kernel->range : kernel->entropy)(
            ranking->params->dtype, first, cursor.n, cursor.tiles, found);
        memcpy(ranking->keys + cursor.tile * TILE_RECORD, found, cursor.tiles * sizeof *found);
    }
}

/* The sorting keys of all units. */
static void keys_find(const tah_params_t *params, const tiled_shape_t *shape, tah_pool_t *pool,
                      const uint8_t *src, uint8_t *keys)
{
    ranking_t ranking = {
        .params = params,
        .shape = shape,
        .src = src,
        .keys = keys,
        .element = (unsigned)tah_dtype_bytes(params->dtype),
    };
    if (shape->map == TILED_MAP_TILES) {
        pool_run(pool, tiled_parts(shape, ranking.element), part_rank_tiles, NULL, &ranking);
        return;
    }
    ranking.part_rows = POOL_PART_BYTES / (shape->row * ranking.element) + 1;
    pool_run(pool, (shape->rows - 1) / ranking.part_rows + 1, part_rank_rows, NULL, &ranking);
}

/* Smallest and largest key. */
static void keys_extent(const uint8_t *keys, uint64_t units, uint32_t *low, uint32_t *high)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint64_t i = 0; i < units; i++) {
        const uint32_t key = load_u32(keys + i * TILE_RECORD);
        least = key < least ? key : least;
        most = key > most ? key : most;
    }
    *low = least;
    *high = most;
}

/*
 * The key that the wanted-th smallest has, wanted >= 1; *equal is how many of those with that very
 * key are among the wanted smallest, *others how many more there are. It is among the keys from low
 * to high: these are counted in equal parts, so that keys that are alike fill many of them
 * (counters that are counted up in turn do not wait for each other), until a part is one key.
 */
static uint32_t key_select(const uint8_t *keys, uint64_t units, uint64_t wanted, uint64_t *equal,
                           uint64_t *others)
{
    enum { PART_BITS = 12 };
    uint32_t low, high;
    unsigned shift;
    keys_extent(keys, units, &low, &high);
    do {
        uint32_t histogram[1 << PART_BITS] = {0}, part = 0;
        const unsigned length = bit_length(high - low);
        shift = length > PART_BITS ? length - PART_BITS : 0;
        for (uint64_t i = 0; i < units; i++) {
            const uint32_t above = load_u32(keys + i * TILE_RECORD) - low;
            if (above <= high - low)
                histogram[above >> shift]++;
        }
        while (wanted > histogram[part])
            wanted -= histogram[part++];
        low += part << shift;
        high = low + ((1u << shift) - 1);
        *others = histogram[part] - wanted;
    } while (shift > 0);
    *equal = wanted;
    return low;
}

/* A set bit for every unit with the high width: not among the low ones with the smallest keys. */
static void map_write(const uint8_t *keys, uint64_t units, uint64_t low, uint8_t *map)
{
    uint64_t equal, others;
    const uint32_t key = key_select(keys, units, low, &equal, &others);
    for (uint64_t i = 0; i < units; i += 8, keys += 8 * TILE_RECORD) {
        const unsigned count = units - i < 8 ? (unsigned)(units - i) : 8;
        unsigned bits = 0;
        for (unsigned k = 0; k < count; k++)
            bits |= (unsigned)(load_u32(keys + k * TILE_RECORD) > key) << k;
        /* Of equal keys the first ones get the low width. */
        for (unsigned k = 0; others && k < count; k++) {
            if (load_u32(keys + k * TILE_RECORD) != key)
                continue;
            bits |= (unsigned)(equal == 0) << k;
            equal -= equal != 0;
        }
        map[i / 8] = (uint8_t)bits;
    }
}

static void header_write(const tah_params_t *params, const tiled_shape_t *shape, uint64_t payload,
                         frame_header_t *header)
{
    header->payload = payload;
    header->small[0] = shape->bits_high;
    header->small[1] = shape->bits_low;
    header->small[2] = (uint8_t)tile_log2(shape->tile);
    header->small[3] = (uint8_t)shape->map;
    memset(header->params, 0, FRAME_PARAMS_BYTES);
    store_u32(header->params, params->channels);
}

/* An encoding in progress. */
typedef struct encoding {
    const tiled_shape_t *shape;
    const tile_job_t *job;
    const uint8_t *src, *map;
    uint8_t *records;
    stream_out_t stream;
} encoding_t;

/* Encodes a part into room bytes at out; the bytes written, SIZE_MAX where room is too small. */
static size_t part_write(const encoding_t *encoding, uint64_t part, uint8_t *out, size_t room,
                         tah_encoded_t *own)
{
    const kernel_t *kernel = kernel_get();
    const tile_job_t *job = encoding->job;
    uint8_t widths[KERNEL_RUN];
    tile_counts_t counts = {0};
    size_t used = 0;
    tiled_cursor_t cursor = tiled_part(encoding->shape, job->element, part);
    while (tiled_next(encoding->shape, &cursor)) {
        tiled_widths(encoding->shape, encoding->map, &cursor, widths);
        const tile_run_t run = {job, cursor.n, cursor.tiles, widths, cursor.tile};
        const uint8_t *src = encoding->src + cursor.element * job->element;
        uint8_t *const records = encoding->records + cursor.tile * TILE_RECORD;
        const size_t bytes = kernel->encode(&run, src, records, out + used, room - used, &counts);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        if (own->measured)
            measure_run(&run, src, records, out + used, bytes, own);
        used += bytes;
    }
    own->tiles_rotated = counts.rotated;
    own->tiles_exact = counts.exact;
    return used;
}

static void part_encode(void *job, pool_part_t *part)
{
    const encoding_t *encoding = job;
    size_t room;
    uint8_t *out = stream_out_begin(&encoding->stream, part, &room);
    part->sums = (tah_encoded_t){.measured = encoding->stream.sink->result->measured};
    part->bytes = out ? part_write(encoding, part->number, out, room, &part->sums) : SIZE_MAX;
}

static void part_finish(void *job, pool_part_t *part)
{
    encoding_t *encoding = job;
    stream_out_finish(&encoding->stream, part);
}

static tah_status_t encode_payload(const tah_params_t *params, bool two_widths,
                                   tah_hadamard_t hadamard, const tah_message_t *message,
                                   const uint8_t *src, codec_sink_t *sink)
{
    tiled_shape_t shape;
    uint64_t low;
    const uint64_t count = sink->header->count;
    if (!shape_of(params, two_widths, count, &shape, &low) || shape.stream_start > sink->room)
        return TAH_ERR_SPACE;
    const tile_job_t job = {
        .dtype = params->dtype,
        .element = (unsigned)tah_dtype_bytes(params->dtype),
        .hadamard = hadamard,
        .rounding = params->rounding,
        .search = params->range_search,
        .random = params->seed ^ message->serial * UINT64_C(0xd6e8feb86659fd93),
    };
    uint8_t *const records = sink->payload, *const map = records + shape.map_start;
    if (shape.map != TILED_MAP_NONE) {
        keys_find(params, &shape, message->pool, src, records);
        map_write(records, shape.map_bits, low, map);
    }
    encoding_t encoding = {
        .shape = &shape,
        .job = &job,
        .src = src,
        .map = map,
        .records = records,
        .stream = {.sink = sink, .at = shape.stream_start},
    };
    pool_run(message->pool, tiled_parts(&shape, job.element), part_encode, part_finish, &encoding);
    if (atomic_load(&encoding.stream.full))
        return TAH_ERR_SPACE;
    sink->result->tiles = shape.tiles;
    if (shape.bits_high == params->bits_high)
        sink->result->tiles_high =
            shape.tiles - low * (shape.map == TILED_MAP_ROWS ? shape.row_tiles : 1);
    header_write(params, &shape, encoding.stream.at, sink->header);
    return TAH_OK;
}

tah_status_t tiled_encode(const tah_params_t *params, bool two_widths, tah_hadamard_t hadamard,
                          const tah_message_t *message, const uint8_t *src, codec_sink_t *sink)
{
    environment_t own;
    environment_enter(&own);
    const tah_status_t status =
        encode_payload(params, two_widths, hadamard, message, src, sink);
    environment_leave(&own);
    return status;
}
