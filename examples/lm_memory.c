/* Making and freeing a stage: all of it lies in one allocation. */
#include "lm_stage.h"

#include <stdlib.h>
#include <string.h>

#include "lm_parameters.h"

/* Hands out consecutive pieces; with a NULL base it only adds up what would be needed. */
struct arena {
    char *base;
    size_t used;
};

/* Pieces start on a cache line, so that vector loads never straddle two. */
static void *take(struct arena *arena, size_t count, size_t size)
{
    size_t start = arena->used;

    arena->used += (count * size + 63) / 64 * 64;
    return arena->base ? arena->base + start : NULL;
}

static lm_real *take_reals(struct arena *arena, size_t count)
{
    return take(arena, count, sizeof(lm_real));
}

static void layout_saved(struct arena *arena, const struct lm_stage *stage, struct lm_saved *saved,
                         lm_real *x, lm_real *y)
{
    const struct lm_shape *shape = &stage->shape;
    size_t rows = stage->rows, matrix = rows * shape->width;

    saved->x = x;
    saved->norm1 = take_reals(arena, matrix);
    saved->mean1 = take_reals(arena, rows);
    saved->rstd1 = take_reals(arena, rows);
    saved->qkv = take_reals(arena, 3 * matrix);
    saved->prob = take_reals(arena, rows * shape->heads * shape->context);
    saved->mixed = take_reals(arena, matrix);
    saved->middle = take_reals(arena, matrix);
    saved->norm2 = take_reals(arena, matrix);
    saved->mean2 = take_reals(arena, rows);
    saved->rstd2 = take_reals(arena, rows);
    saved->active = take_reals(arena, 4 * matrix);
    saved->slope = take_reals(arena, 4 * matrix);
    saved->y = y;
}

static void layout_slot(struct arena *arena, const struct lm_stage *stage, struct lm_slot *slot)
{
    size_t rows = stage->rows, matrix = rows * stage->shape.width;
    lm_real *x;

    slot->x = x = take_reals(arena, matrix);
    slot->dy = take_reals(arena, matrix);
    slot->dx = take_reals(arena, matrix);
    slot->input = take(arena, rows, 1);
    slot->target = take(arena, rows, 1);
    slot->saved = take(arena, stage->block_count, sizeof(*slot->saved));
    for (int i = 0; i < stage->block_count; i++) {
        struct lm_saved unplaced, *saved = arena->base ? &slot->saved[i] : &unplaced;

        slot->y = take_reals(arena, matrix);
        layout_saved(arena, stage, saved, x, slot->y);
        x = slot->y;
    }
    if (stage->has_head) {
        slot->norm = take_reals(arena, matrix);
        slot->mean = take_reals(arena, rows);
        slot->rstd = take_reals(arena, rows);
        slot->logits = take_reals(arena, rows * LM_VOCABULARY);
    }
}

/* Lays the stage out in the arena; the parameter count must be known. */
static void layout(struct arena *arena, struct lm_stage *stage)
{
    const struct lm_shape *shape = &stage->shape;
    size_t rows = stage->rows, width = shape->width;

    stage->param = take_reals(arena, stage->param_count);
    stage->gradient = take_reals(arena, stage->param_count);
    stage->tensor = take(arena, lm_tensors_bound(stage->part_count), sizeof(*stage->tensor));
    stage->grad = take_reals(arena, rows * width);
    stage->wide = take_reals(arena, 4 * rows * width);
    stage->square = take_reals(arena, (size_t)shape->context * shape->context);
    stage->slot = take(arena, stage->slot_count, sizeof(*stage->slot));
    for (int i = 0; i < stage->slot_count; i++) {
        struct lm_slot unplaced;

        layout_slot(arena, stage, arena->base ? &stage->slot[i] : &unplaced);
    }
}

bool lm_stage_create(struct lm_stage *stage, const struct lm_shape *shape, int first_part,
                     int part_count, int slot_count, uint64_t seed, size_t *bytes)
{
    struct arena arena = {0};
    bool has_embedding = first_part == 0, has_head = first_part + part_count == shape->layers + 2;
    struct lm_tensor *tensor = calloc(lm_tensors_bound(part_count), sizeof(*tensor));

    *stage = (struct lm_stage){
        .shape = *shape,
        .rows = shape->sequences * shape->context,
        .first_part = first_part,
        .part_count = part_count,
        .has_embedding = has_embedding,
        .has_head = has_head,
        .block_count = part_count - has_embedding - has_head,
        .slot_count = slot_count,
    };
    *bytes = lm_tensors_bound(part_count) * sizeof(*tensor);
    if (!tensor)
        goto fail;
    stage->param_count = lm_tensors_list(stage, tensor, &stage->tensor_count);
    layout(&arena, stage);
    *bytes = arena.used;
    arena.base = aligned_alloc(64, arena.used);
    if (!arena.base)
        goto fail;
    memset(arena.base, 0, arena.used);
    stage->memory = arena.base;
    arena.used = 0;
    layout(&arena, stage);
    memcpy(stage->tensor, tensor, stage->tensor_count * sizeof(*tensor));
    free(tensor);
    lm_parameters_start(stage, seed);
    return true;

fail:
    free(tensor);
    *stage = (struct lm_stage){0};
    return false;
}

void lm_stage_free(struct lm_stage *stage)
{
    free(stage->memory);
    *stage = (struct lm_stage){0};
}
