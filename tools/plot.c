#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/plot.h"

/* A script is written panel by panel: data blocks first, then the commands that draw them. */
struct plot {
    const char *path;
    FILE *data, *commands;
    char *data_text, *commands_text;
    size_t data_bytes, commands_bytes;
    int panel, series; /* numbers of the current ones, from 1; 0: none yet */
    bool ticks;
};

static bool plot_ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcmp(path + length - tail, suffix) == 0;
}

bool plot_possible(const char *path)
{
    if (!plot_ends_in(path, ".svg") && !plot_ends_in(path, ".png")) {
        fprintf(stderr, "tahmpi: --plot %s: the name must end in .svg or .png\n", path);
        return false;
    }
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) {
        fprintf(stderr, "tahmpi: --plot needs gnuplot (Debian package gnuplot-nox)\n");
        return false;
    }
    return true;
}

plot_t *plot_open(const char *path, int panels)
{
    plot_t *plot = calloc(1, sizeof *plot);
    if (plot == NULL)
        return NULL;
    plot->path = path;
    plot->data = open_memstream(&plot->data_text, &plot->data_bytes);
    plot->commands = open_memstream(&plot->commands_text, &plot->commands_bytes);
    if (plot->data == NULL || plot->commands == NULL) {
        fprintf(stderr, "tahmpi: out of memory for a plot\n");
        return NULL;
    }
    fprintf(plot->commands,
            "set terminal %s size 800,%d\nset output '%s'\nset multiplot layout %d,1\n"
            "set grid ytics lc rgb '#dddddd'\nset key left top\nset border 3\nset tics nomirror\n",
            plot_ends_in(path, ".svg") ? "svg background '#ffffff'" : "pngcairo", 420 * panels,
            path, panels);
    return plot;
}

/* A text in gnuplot's single quotes. */
static void plot_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, out);
    fputc('\'', out);
}

/* Draws the series of the current panel. */
static void plot_finish_panel(plot_t *plot)
{
    if (plot->panel == 0)
        return;
    if (plot->ticks)
        fputs(")\n", plot->commands);
    if (plot->series > 0)
        fputs("EOD\n", plot->data);
    fprintf(plot->commands, plot->series > 0 ? "plot " : "plot 0 notitle\n");
    for (int i = 1; i <= plot->series; i++)
        fprintf(plot->commands,
                "%s$d%d_%d using 1:2:3:4 with yerrorbars lc %d pt 7 ps 0.4 notitle, $d%d_%d using "
                "1:2 with lines lc %d title n%d_%d",
                i > 1 ? ", " : "", plot->panel, i, i, plot->panel, i, i, plot->panel, i);
    fputc('\n', plot->commands);
}

void plot_axes(plot_t *plot, const char *x, const char *y)
{
    plot_finish_panel(plot);
    plot->panel++;
    plot->series = 0;
    plot->ticks = false;
    fputs("set xtics auto\nset yrange [*:*]\nset xlabel ", plot->commands);
    plot_quoted(plot->commands, x);
    fputs("\nset ylabel ", plot->commands);
    plot_quoted(plot->commands, y);
    fputs(" noenhanced\n", plot->commands);
}

void plot_tick(plot_t *plot, double x, const char *name)
{
    fputs(plot->ticks ? ", " : "set yrange [0:*]\nset xtics (", plot->commands);
    plot_quoted(plot->commands, name);
    fprintf(plot->commands, " %g", x);
    plot->ticks = true;
}

void plot_series(plot_t *plot, const char *name)
{
    if (plot->series > 0)
        fputs("EOD\n", plot->data);
    plot->series++;
    fprintf(plot->data, "n%d_%d = ", plot->panel, plot->series);
    plot_quoted(plot->data, name);
    fprintf(plot->data, "\n$d%d_%d << EOD\n", plot->panel, plot->series);
}

void plot_point(plot_t *plot, double x, double y, double low, double high)
{
    fprintf(plot->data, "%.9g %.9g %.9g %.9g\n", x, y, low, high);
}

bool plot_close(plot_t *plot)
{
    plot_finish_panel(plot);
    fputs("unset multiplot\n", plot->commands);
    fclose(plot->data);
    fclose(plot->commands);
    FILE *gnuplot = popen("gnuplot 2>&1 >/dev/null", "w");
    bool good = gnuplot != NULL;
    if (good) {
        fputs(plot->data_text, gnuplot);
        fputs(plot->commands_text, gnuplot);
        good = pclose(gnuplot) == 0;
    }
    if (!good)
        fprintf(stderr, "tahmpi: gnuplot could not draw %s\n", plot->path);
    free(plot->data_text);
    free(plot->commands_text);
    free(plot);
    return good;
}
