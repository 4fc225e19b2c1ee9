#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/plot.h"

/* A script is written panel by panel: data blocks first, then the commands that draw them. */
struct plot {
    const char *path;
    FILE *data, *commands;
    char *data_text, *commands_text;
    size_t data_bytes, commands_bytes;
    const char *name;  /* of the current series; it is begun by its first point, or never */
    int panel, series; /* numbers of the current ones, from 1; 0: none yet */
    int colour;        /* of the current series: that of its name's place, whatever is left out */
    bool begun, ticks;
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
    if (strchr(path, '\n') != NULL) {
        fprintf(stderr, "tahmpi: --plot: the name must not have more than one line\n");
        return false;
    }
    if (system("command -v gnuplot >/dev/null 2>&1") != 0) {
        fprintf(stderr, "tahmpi: --plot needs gnuplot (Debian package gnuplot-nox)\n");
        return false;
    }
    return true;
}

/* A text in gnuplot's single quotes, which nothing but another one ends in a line. */
static void plot_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("''", out);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    fputc('\'', out);
}

plot_t *plot_open(const char *path, int panels)
{
    plot_t *plot = calloc(1, sizeof *plot);
    char *name = NULL;
    if (plot == NULL)
        return NULL;
    plot->path = path;
    plot->data = open_memstream(&plot->data_text, &plot->data_bytes);
    plot->commands = open_memstream(&plot->commands_text, &plot->commands_bytes);
    /* gnuplot takes a first | for a command, and a first ~ for a folder. */
    if (plot->data == NULL || plot->commands == NULL ||
        asprintf(&name, "%s%s", path[0] == '/' ? "" : "./", path) < 0) {
        fprintf(stderr, "tahmpi: out of memory for a plot\n");
        return NULL;
    }
    fprintf(plot->commands, "set terminal %s size 800,%d noenhanced\nset output ",
            plot_ends_in(path, ".svg") ? "svg background '#ffffff'" : "pngcairo", 420 * panels);
    plot_quoted(plot->commands, name);
    fprintf(plot->commands,
            "\nset multiplot layout %d,1\n"
            "set grid ytics lc rgb '#dddddd'\nset key left top\nset border 3\nset tics nomirror\n",
            panels);
    free(name);
    return plot;
}

/* Draws the series of the current panel. */
static void plot_finish_panel(plot_t *plot)
{
    if (plot->panel == 0)
        return;
    if (plot->ticks)
        fputs(")\n", plot->commands);
    if (plot->begun)
        fputs("EOD\n", plot->data);
    /* Without a point, axes alone: a range cannot be found, and no line is to be seen. */
    fputs(plot->series > 0 ? "plot " : "set yrange [0:1]\nplot NaN notitle", plot->commands);
    for (int i = 1; i <= plot->series; i++)
        fprintf(plot->commands,
                "%s$d%d_%d using 1:2:3:4 with yerrorbars lc c%d_%d pt 7 ps 0.4 notitle, $d%d_%d "
                "using 1:2 with lines lc c%d_%d title n%d_%d",
                i > 1 ? ", " : "", plot->panel, i, plot->panel, i, plot->panel, i, plot->panel, i,
                plot->panel, i);
    fputc('\n', plot->commands);
}

void plot_axes(plot_t *plot, const char *x, const char *y)
{
    plot_finish_panel(plot);
    plot->panel++;
    plot->series = 0;
    plot->colour = 0;
    plot->begun = false;
    plot->ticks = false;
    fputs("set xtics auto\nset yrange [*:*]\nset xlabel ", plot->commands);
    plot_quoted(plot->commands, x);
    fputs("\nset ylabel ", plot->commands);
    plot_quoted(plot->commands, y);
    fputs("\n", plot->commands);
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
    if (plot->begun)
        fputs("EOD\n", plot->data);
    plot->begun = false;
    plot->name = name;
    plot->colour++;
}

/* gnuplot refuses a whole picture for a series without points. */
static void plot_begin(plot_t *plot)
{
    plot->begun = true;
    plot->series++;
    fprintf(plot->data, "c%d_%d = %d\nn%d_%d = ", plot->panel, plot->series, plot->colour,
            plot->panel, plot->series);
    plot_quoted(plot->data, plot->name);
    fprintf(plot->data, "\n$d%d_%d << EOD\n", plot->panel, plot->series);
}

void plot_point(plot_t *plot, double x, double y, double low, double high)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    if (!plot->begun)
        plot_begin(plot);
    if (!isfinite(low) || !isfinite(high))
        low = high = y;
    fprintf(plot->data, "%.9g %.9g %.9g %.9g\n", x, y, low, high);
}

/* Runs gnuplot on the script in a file; its complaints go to another. Whether it succeeded. */
static bool plot_run(int script, int said)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        dup2(script, STDIN_FILENO);
        dup2(open("/dev/null", O_WRONLY),
             STDOUT_FILENO); /* a picture, if its file is not to be had */
        dup2(said, STDERR_FILENO);
        execlp("gnuplot", "gnuplot", (char *)NULL);
        fprintf(stderr, "gnuplot: %s\n", strerror(errno));
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What gnuplot said, on standard error: it is in a file without a name. */
static void plot_show(int said)
{
    char text[4096];
    ssize_t bytes;
    lseek(said, 0, SEEK_SET);
    while ((bytes = read(said, text, sizeof text)) > 0)
        fwrite(text, 1, (size_t)bytes, stderr);
}

static bool plot_draw(const plot_t *plot)
{
    /* No pipe: a gnuplot that ends early must not end us. */
    int script = memfd_create("script", MFD_CLOEXEC), said = memfd_create("said", MFD_CLOEXEC);
    bool good = script >= 0 && said >= 0 &&
                dprintf(script, "%s%s", plot->data_text, plot->commands_text) > 0 &&
                lseek(script, 0, SEEK_SET) == 0 && plot_run(script, said);
    if (!good) {
        fprintf(stderr, "tahmpi: gnuplot could not draw %s\n", plot->path);
        plot_show(said);
    }
    if (script >= 0)
        close(script);
    if (said >= 0)
        close(said);
    return good;
}

bool plot_close(plot_t *plot)
{
    plot_finish_panel(plot);
    fputs("unset multiplot\nunset output\n", plot->commands);
    fclose(plot->data);
    fclose(plot->commands);
    bool good = plot_draw(plot);
    free(plot->data_text);
    free(plot->commands_text);
    free(plot);
    return good;
}
