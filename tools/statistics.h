/* Figures over a few runs. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stddef.h>

typedef struct spread {
    double median, least, most;
} spread_t;

/* Of count values, at least one; their order is not changed. */
spread_t statistics_spread(const double *values, size_t count);

#define STATISTICS_INTERVAL_LEAST 3 /* values; of two, an interval by Student's t says nothing */

/* A mean with its 95% confidence interval; of too few values for one, low and high are NAN. */
typedef struct interval {
    double mean, low, high;
} interval_t;

/*
 * Geometric mean of count positive values and its interval by Student's t on their logarithms:
 * what speed-ups from pairs of runs are summed up with.
 */
interval_t statistics_geometric(const double *values, size_t count);

#endif
