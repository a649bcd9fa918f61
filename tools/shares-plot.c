/* SPDX-License-Identifier: MIT */
/* The shares of sets over the positions, as a picture. */
#include "shares.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "failure.h"
#include "picture.h"

/* More cannot be told apart. */
#define SETS_MAX 32
/* In so many parts the range is counted: less than the columns of a picture, or of a terminal. */
#define PICTURE_WINDOWS 240
#define TEXT_WINDOWS 60
/* Where positions are so many times as large as what is drawn of them, numbers on the axis would
 * differ in their last digits alone. */
#define FAR 1000

/** The axis of positions. */
typedef struct axis {
    uint64_t origin; /**< Is 0 on it. */
    double unit;
    const char *name; /**< Of the unit; NULL where it is 1. */
} axis;

static axis choose_axis(const shares *self)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e12, "10^12"}, {1e9, "10^9"}, {1e6, "millions"}, {1e3, "thousands"}};
    axis made = {.unit = 1};
    if (self->first / FAR >= self->end - self->first)
        made.origin = self->first;
    double end = (double)(self->end - made.origin);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end >= 10 * units[i].unit) {
            made.unit = units[i].unit;
            made.name = units[i].name;
            break;
        }
    return made;
}

/** Where window @p number of @p count begins. */
static uint64_t edge(const shares *self, uint64_t number, uint64_t count)
{
    uint64_t span = self->end - self->first;
    return self->first + span / count * number + span % count * number / count;
}

static void write_axes(picture *drawn, const shares *self, const axis *along)
{
    FILE *to = drawn->script;
    fprintf(to, "set xlabel 'position");
    if (along->origin != 0)
        fprintf(to, " behind %" PRIu64, along->origin);
    fprintf(to, "%s%s'\n", along->name != NULL ? ", in " : "",
            along->name != NULL ? along->name : "");
    fprintf(to,
            "set ylabel 'share of the samples, %%'\n"
            "set xrange [%.17g:%.17g]\n"
            "set yrange [0:100]\n"
            "set key %s\n"
            "set palette rgbformulae 33,13,10\n"
            "unset colorbox\n"
            "set style fill solid 0.6 noborder\n",
            (double)(self->first - along->origin) / along->unit,
            (double)(self->end - along->origin) / along->unit,
            picture_is_text(drawn) ? "below width 2" : "outside right center Left reverse");
}

/** One end of a window, with the shares that are those of all of it; stacked, those of all sets up
 * to each. */
static void write_row(picture *drawn, double place, const uint64_t *counts, size_t count,
                      uint64_t positions)
{
    uint64_t sum = 0;
    fprintf(drawn->script, "%.10g", place);
    for (size_t i = 0; i < count; i++) {
        sum = picture_is_text(drawn) ? counts[i] : sum + counts[i];
        fprintf(drawn->script, " %.6g", 100 * (double)sum / (double)positions);
    }
    fputc('\n', drawn->script);
}

static lx_status write_windows(picture *drawn, const shares *self, const axis *along,
                               lx_error *error)
{
    uint64_t span = self->end - self->first, counts[SETS_MAX];
    uint64_t most = picture_is_text(drawn) ? TEXT_WINDOWS : PICTURE_WINDOWS;
    uint64_t windows = span < most ? span : most;
    fprintf(drawn->script, "$shares << END\n");
    for (uint64_t number = 0; number < windows; number++) {
        uint64_t ends[] = {edge(self, number, windows), edge(self, number + 1, windows)};
        lx_status status = lx_order_count_sets(self->order, ends[0], ends[1], counts, error);
        if (status != LX_OK)
            return status;
        for (size_t i = 0; i < 2; i++)
            write_row(drawn, (double)(ends[i] - along->origin) / along->unit, counts,
                      self->mixed->count, ends[1] - ends[0]);
    }
    fprintf(drawn->script, "END\n");
    return LX_OK;
}

/** From the last set to the first: each covers what is below it of those before. */
static lx_status write_curves(picture *drawn, const shares *self, lx_error *error)
{
    size_t count = self->mixed->count;
    lx_status status = LX_OK;
    fprintf(drawn->script, "plot");
    for (size_t i = 0; status == LX_OK && i < count; i++) {
        size_t set = picture_is_text(drawn) ? i : count - 1 - i;
        fprintf(drawn->script, "%s $shares using 1:%zu with ", i != 0 ? "," : "", set + 2);
        if (picture_is_text(drawn))
            fprintf(drawn->script, "lines");
        else
            fprintf(drawn->script, "filledcurves y1=0 linecolor palette frac %.3f",
                    count > 1 ? (double)set / (double)(count - 1) : 0.5);
        fprintf(drawn->script, " title ");
        status = picture_quote(drawn, self->mixed->sets[set].name, error);
    }
    fputc('\n', drawn->script);
    return status;
}

lx_status shares_plot_check(const mixing *mixed, const char *path, lx_error *error)
{
    if (mixed->count > SETS_MAX)
        return fail(error, LX_ERR_ARGUMENT,
                    "--plot: %zu sets cannot be told apart in a picture: %d are the most",
                    mixed->count, SETS_MAX);
    return picture_check(path, error);
}

lx_status shares_plot(const shares *self, const char *path, lx_error *error)
{
    picture drawn;
    axis along = choose_axis(self);
    if (self->first == self->end)
        return fail(error, LX_ERR_ARGUMENT, "--plot: there are no positions to draw");
    lx_status status = picture_begin(&drawn, path, error);
    if (status == LX_OK) {
        write_axes(&drawn, self, &along);
        status = write_windows(&drawn, self, &along, error);
    }
    if (status == LX_OK)
        status = write_curves(&drawn, self, error);
    if (status == LX_OK)
        status = picture_draw(&drawn, error);
    picture_end(&drawn);
    return status;
}
