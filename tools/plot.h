/* Pictures by gnuplot: one above the other, lines with points and intervals. */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>

typedef struct plot plot_t;

/* Whether path is one line that ends in .svg or .png, and gnuplot is there; complains where not. */
bool plot_possible(const char *path);

/* A picture of that many panels; NULL with a complaint. Freed by plot_close. */
plot_t *plot_open(const char *path, int panels);

/* Begins the next panel. */
void plot_axes(plot_t *plot, const char *x, const char *y);

/* A name instead of a number on the x axis of this panel. */
void plot_tick(plot_t *plot, double x, const char *name);

/* Begins the next series of this panel. name: until the next one, or plot_close. */
void plot_series(plot_t *plot, const char *name);

/* A point that is no number is left out, and so is a series without points; an interval that is
 * none is not drawn. */
void plot_point(plot_t *plot, double x, double y, double low, double high);

/* Has gnuplot draw; false with a complaint. */
bool plot_close(plot_t *plot);

#endif
