/*
 * Gradient check of the language model of examples/: the same sources, compiled in double. The
 * model is cut into two stages whose boundary tensors are copied by hand, as messages would carry
 * them. Every derivative is compared with (loss(+e) - loss(-e)) / 2e, which in double is good to
 * about e^2 = 1e-10: for every parameter tensor along a random direction, which touches all its
 * elements, and at single elements; likewise for the tensor at the stage boundary.
 */
#include "examples/lm_parameters.h"
#include "examples/lm_random.h"
#include "tests/lib/check_run.h"

enum { SEED = 7, MICRO_BATCHES = 2, ELEMENTS = 5, BLOCKS_IN_FIRST = 2, STAGES = 2 };

static const struct lm_shape shape = {
    .layers = 3, .width = 12, .heads = 3, .context = 7, .sequences = 2};
static const double step_size = 1e-5, tolerance = 1e-6;

static struct lm_stage stages[STAGES];

static bool make_stages(void)
{
    size_t bytes;

    return lm_stage_create(&stages[0], &shape, 0, BLOCKS_IN_FIRST + 1, MICRO_BATCHES, SEED,
                           &bytes) &&
           lm_stage_create(&stages[1], &shape, BLOCKS_IN_FIRST + 1,
                           shape.layers + 1 - BLOCKS_IN_FIRST, MICRO_BATCHES, SEED, &bytes);
}

static void set_up(void)
{
    ck_assert(make_stages());
    for (int s = 0; s < STAGES; s++) {
        /* Start values of zero or one would hide a gain or bias that is left out. */
        for (size_t i = 0; i < stages[s].param_count; i++)
            stages[s].param[i] += 0.3 * lm_random_normal(SEED, 1000 + s, i);
        for (int m = 0; m < MICRO_BATCHES; m++) {
            for (int row = 0; row < stages[s].rows; row++) {
                stages[s].slot[m].input[row] = lm_random_bits(SEED, 2000 + m, row);
                stages[s].slot[m].target[row] = lm_random_bits(SEED, 3000 + m, row);
            }
        }
    }
}

static void tear_down(void)
{
    for (int s = 0; s < STAGES; s++)
        lm_stage_free(&stages[s]);
}

static size_t boundary_count(void)
{
    return (size_t)stages[0].rows * shape.width;
}

static double loss_of_second(int m)
{
    double tokens = (double)MICRO_BATCHES * stages[1].rows;

    return lm_stage_forward(&stages[1], m, 1 / tokens) / tokens;
}

/* Mean cross-entropy over all micro-batches. */
static double model_loss(void)
{
    double loss = 0;

    for (int m = 0; m < MICRO_BATCHES; m++) {
        lm_stage_forward(&stages[0], m, 0);
        memcpy(stages[1].slot[m].x, stages[0].slot[m].y, boundary_count() * sizeof(lm_real));
        loss += loss_of_second(m);
    }
    return loss;
}

static void model_backward(void)
{
    model_loss();
    for (int m = 0; m < MICRO_BATCHES; m++) {
        lm_stage_backward(&stages[1], m);
        memcpy(stages[0].slot[m].dy, stages[1].slot[m].dx, boundary_count() * sizeof(lm_real));
        lm_stage_backward(&stages[0], m);
    }
}

/* Moves the values along a direction; a NULL direction is the unit vector of `element`. */
static void move(lm_real *value, size_t count, const double *direction, size_t element, double by)
{
    if (!direction) {
        value[element] += by;
        return;
    }
    for (size_t i = 0; i < count; i++)
        value[i] += by * direction[i];
}

/* Compares the analytic derivative of loss() along a direction with the numerical one. */
static void compare(const char *what, double (*loss)(void), lm_real *value, const lm_real *gradient,
                    size_t count, const double *direction, size_t element)
{
    double analytic = 0, numeric;

    for (size_t i = 0; direction && i < count; i++)
        analytic += direction[i] * gradient[i];
    if (!direction)
        analytic = gradient[element];
    move(value, count, direction, element, step_size);
    numeric = loss();
    move(value, count, direction, element, -2 * step_size);
    numeric = (numeric - loss()) / (2 * step_size);
    move(value, count, direction, element, step_size);
    ck_assert_msg(fabs(analytic - numeric) <= tolerance * (fabs(numeric) + 1e-2),
                  "%s, %s %zu: analytic %.12g, numeric %.12g", what,
                  direction ? "a direction of" : "element", direction ? count : element, analytic,
                  numeric);
}

static void compare_tensor(const char *what, double (*loss)(void), lm_real *value,
                           const lm_real *gradient, size_t count)
{
    double *direction = calloc(count, sizeof(*direction));

    ck_assert_ptr_nonnull(direction);
    for (size_t i = 0; i < count; i++)
        direction[i] = lm_random_normal(SEED, 4000, i);
    compare(what, loss, value, gradient, count, direction, 0);
    free(direction);
    for (size_t i = 0; i < ELEMENTS; i++)
        compare(what, loss, value, gradient, count, NULL, lm_random_bits(SEED, 5000, i) % count);
}

/* One test a tensor of the first stage, then of the second. */
START_TEST(parameter_gradient)
{
    int s = _i >= stages[0].tensor_count, t = s ? _i - stages[0].tensor_count : _i;
    const struct lm_tensor *tensor = &stages[s].tensor[t];
    lm_real *gradient = stages[s].gradient + tensor->offset;
    char what[64];
    bool some = false;

    snprintf(what, sizeof(what), "part %d, %s", tensor->part, tensor->name);
    model_backward();
    for (size_t i = 0; i < tensor->count; i++)
        some = some || gradient[i] != 0;
    ck_assert_msg(some, "%s: the gradient is zero", what);
    compare_tensor(what, model_loss, stages[s].param + tensor->offset, gradient, tensor->count);
}
END_TEST

static double loss_from_boundary(void)
{
    return loss_of_second(0);
}

/* What the second stage sends back is the derivative by what the first has sent. */
START_TEST(boundary_gradient)
{
    model_backward();
    compare_tensor("stage boundary", loss_from_boundary, stages[1].slot[0].x, stages[1].slot[0].dx,
                   boundary_count());
}
END_TEST

/* The division into stages changes no value: one stage gives the bits of two. */
START_TEST(division_changes_nothing)
{
    struct lm_stage whole;
    size_t bytes, second = stages[0].param_count;
    double tokens = (double)MICRO_BATCHES * stages[0].rows, loss = 0;

    ck_assert(lm_stage_create(&whole, &shape, 0, shape.layers + 2, MICRO_BATCHES, SEED, &bytes));
    ck_assert_uint_eq(whole.param_count, second + stages[1].param_count);
    memcpy(whole.param, stages[0].param, second * sizeof(lm_real));
    memcpy(whole.param + second, stages[1].param, stages[1].param_count * sizeof(lm_real));
    for (int m = 0; m < MICRO_BATCHES; m++) {
        memcpy(whole.slot[m].input, stages[0].slot[m].input, whole.rows);
        memcpy(whole.slot[m].target, stages[1].slot[m].target, whole.rows);
        loss += lm_stage_forward(&whole, m, 1 / tokens) / tokens;
        lm_stage_backward(&whole, m);
    }
    ck_assert(loss == model_loss());
    model_backward();
    ck_assert_mem_eq(whole.gradient, stages[0].gradient, second * sizeof(lm_real));
    ck_assert_mem_eq(whole.gradient + second, stages[1].gradient,
                     stages[1].param_count * sizeof(lm_real));
    lm_stage_free(&whole);
}
END_TEST

/* Start values depend on the seed and the place in the model, not on the stage. */
START_TEST(start_values)
{
    struct lm_stage whole, part, other;
    size_t bytes;

    ck_assert(lm_stage_create(&whole, &shape, 0, shape.layers + 2, 1, SEED, &bytes));
    ck_assert(lm_stage_create(&part, &shape, 2, 1, 1, SEED, &bytes));
    ck_assert(lm_stage_create(&other, &shape, 2, 1, 1, SEED + 1, &bytes));
    const struct lm_tensor *tensor = whole.tensor;
    while (tensor->part != 2)
        tensor++;
    ck_assert_mem_eq(whole.param + tensor->offset, part.param, part.param_count * sizeof(lm_real));
    ck_assert(memcmp(part.param, other.param, part.param_count * sizeof(lm_real)) != 0);
    lm_stage_free(&whole);
    lm_stage_free(&part);
    lm_stage_free(&other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lm_gradient");
    TCase *cases = tcase_create("gradient");
    int tensors;

    openblas_set_num_threads(1);
    if (!make_stages())
        return 99;
    tensors = stages[0].tensor_count + stages[1].tensor_count;
    tear_down();

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, parameter_gradient, 0, tensors);
    tcase_add_test(cases, boundary_gradient);
    tcase_add_test(cases, division_changes_nothing);
    tcase_add_test(cases, start_values);
    suite_add_tcase(suite, cases);
    return check_run(suite);
}
