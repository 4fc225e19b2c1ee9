#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/statistics.h"

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

spread_t statistics_spread(const double *values, size_t count)
{
    double *sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return (spread_t){values[0], values[0], values[0]};
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    spread_t spread = {
        .median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
        .least = sorted[0],
        .most = sorted[count - 1],
    };
    free(sorted);
    return spread;
}

/* Two-sided 95% points of Student's t for 1 to 30 degrees of freedom; beyond, the normal's. */
static double student(size_t freedom)
{
    static const double points[] = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
        2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
        2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    };
    return freedom <= sizeof points / sizeof points[0] ? points[freedom - 1] : 1.960;
}

interval_t statistics_geometric(const double *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += log(values[i]);
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (log(values[i]) - mean) * (log(values[i]) - mean);
    if (count < STATISTICS_INTERVAL_LEAST)
        return (interval_t){exp(mean), NAN, NAN};
    double half = student(count - 1) * sqrt(squares / (double)(count - 1) / (double)count);
    return (interval_t){exp(mean), exp(mean - half), exp(mean + half)};
}
