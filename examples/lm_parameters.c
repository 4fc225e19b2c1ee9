#include "lm_parameters.h"

#include <math.h>

#include "lm_random.h"

enum start { START_ZERO, START_ONE, START_EMBEDDING, START_PRODUCT, START_RESIDUAL };

/* A tensor's size is a product: rows and columns are this many widths, contexts or single ones. */
struct form {
    const char *name;
    enum start start;
    int width_rows, width_cols; /* in widths; 0: the plain number below */
    int rows;                   /* 0: the context */
    int cols;
};

static const struct form embedding_forms[] = {
    {"embedding.token", START_EMBEDDING, 0, 1, LM_VOCABULARY, 0},
    {"embedding.position", START_EMBEDDING, 0, 1, 0, 0},
};

static const struct form block_forms[] = {
    {"norm1.gain", START_ONE, 0, 1, 1, 0},
    {"norm1.bias", START_ZERO, 0, 1, 1, 0},
    {"attention.qkv.weight", START_PRODUCT, 1, 3, 0, 0},
    {"attention.qkv.bias", START_ZERO, 0, 3, 1, 0},
    {"attention.out.weight", START_RESIDUAL, 1, 1, 0, 0},
    {"attention.out.bias", START_ZERO, 0, 1, 1, 0},
    {"norm2.gain", START_ONE, 0, 1, 1, 0},
    {"norm2.bias", START_ZERO, 0, 1, 1, 0},
    {"mlp.up.weight", START_PRODUCT, 1, 4, 0, 0},
    {"mlp.up.bias", START_ZERO, 0, 4, 1, 0},
    {"mlp.down.weight", START_RESIDUAL, 4, 1, 0, 0},
    {"mlp.down.bias", START_ZERO, 0, 1, 1, 0},
};

static const struct form head_forms[] = {
    {"head.norm.gain", START_ONE, 0, 1, 1, 0},
    {"head.norm.bias", START_ZERO, 0, 1, 1, 0},
    {"head.weight", START_PRODUCT, 1, 0, 0, LM_VOCABULARY},
    {"head.bias", START_ZERO, 0, 0, 1, LM_VOCABULARY},
};

enum {
    EMBEDDING_TENSORS = sizeof(embedding_forms) / sizeof(*embedding_forms),
    BLOCK_TENSORS = sizeof(block_forms) / sizeof(*block_forms),
    HEAD_TENSORS = sizeof(head_forms) / sizeof(*head_forms),
};

static const struct form *forms_of(const struct lm_shape *shape, int part, int *count)
{
    if (part == 0) {
        *count = EMBEDDING_TENSORS;
        return embedding_forms;
    }
    if (part == shape->layers + 1) {
        *count = HEAD_TENSORS;
        return head_forms;
    }
    *count = BLOCK_TENSORS;
    return block_forms;
}

static size_t form_rows(const struct form *form, const struct lm_shape *shape)
{
    if (form->width_rows)
        return (size_t)form->width_rows * shape->width;
    return form->rows ? form->rows : shape->context;
}

static size_t form_cols(const struct form *form, const struct lm_shape *shape)
{
    return form->width_cols ? (size_t)form->width_cols * shape->width : (size_t)form->cols;
}

int lm_tensors_bound(int part_count)
{
    return part_count * BLOCK_TENSORS;
}

size_t lm_tensors_list(const struct lm_stage *stage, struct lm_tensor *tensor, int *tensor_count)
{
    size_t offset = 0;
    int filled = 0;

    for (int part = stage->first_part; part < stage->first_part + stage->part_count; part++) {
        int count;
        const struct form *form = forms_of(&stage->shape, part, &count);

        for (int i = 0; i < count; i++) {
            size_t size = form_rows(&form[i], &stage->shape) * form_cols(&form[i], &stage->shape);

            tensor[filled++] = (struct lm_tensor){form[i].name, part, offset, size};
            offset += size;
        }
    }
    *tensor_count = filled;
    return offset;
}

static double start_deviation(const struct form *form, const struct lm_shape *shape)
{
    switch (form->start) {
    case START_EMBEDDING:
        return 0.1;
    case START_PRODUCT:
        return 1 / sqrt(form_rows(form, shape));
    case START_RESIDUAL:
        return 1 / sqrt(form_rows(form, shape) * 2.0 * shape->layers);
    default:
        return 0;
    }
}

void lm_parameters_start(const struct lm_stage *stage, uint64_t seed)
{
    const struct lm_tensor *tensor = stage->tensor;

    for (int part = stage->first_part; part < stage->first_part + stage->part_count; part++) {
        int count;
        const struct form *form = forms_of(&stage->shape, part, &count);

        for (int i = 0; i < count; i++, tensor++) {
            lm_real *value = stage->param + tensor->offset;
            lm_real mean = form[i].start == START_ONE;
            double deviation = start_deviation(&form[i], &stage->shape);
            uint64_t stream = (uint64_t)part * BLOCK_TENSORS + i;

            for (size_t j = 0; j < tensor->count; j++)
                value[j] = deviation > 0 ? deviation * lm_random_normal(seed, stream, j) : mean;
        }
    }
}

struct lm_embedding lm_embedding_at(const struct lm_stage *stage, lm_real *base)
{
    return (struct lm_embedding){base + stage->tensor[0].offset, base + stage->tensor[1].offset};
}

struct lm_block lm_block_at(const struct lm_stage *stage, lm_real *base, int block)
{
    const struct lm_tensor *t =
        stage->tensor + (stage->has_embedding ? EMBEDDING_TENSORS : 0) + block * BLOCK_TENSORS;

    return (struct lm_block){
        .norm1_gain = base + t[0].offset,
        .norm1_bias = base + t[1].offset,
        .qkv_weight = base + t[2].offset,
        .qkv_bias = base + t[3].offset,
        .out_weight = base + t[4].offset,
        .out_bias = base + t[5].offset,
        .norm2_gain = base + t[6].offset,
        .norm2_bias = base + t[7].offset,
        .up_weight = base + t[8].offset,
        .up_bias = base + t[9].offset,
        .down_weight = base + t[10].offset,
        .down_bias = base + t[11].offset,
    };
}

struct lm_head lm_head_at(const struct lm_stage *stage, lm_real *base)
{
    const struct lm_tensor *t = stage->tensor + stage->tensor_count - HEAD_TENSORS;

    return (struct lm_head){base + t[0].offset, base + t[1].offset, base + t[2].offset,
                            base + t[3].offset};
}
