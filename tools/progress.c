/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

/* Seconds between two updates: short enough to look smooth, at a negligible cost. */
#define INTERVAL 0.1
/* Width in columns if the terminal does not report it, and the limits for the width of the bar. */
#define COLUMNS_DEFAULT 80
#define BAR_MOST 40
#define BAR_LEAST 4
/* Maximum of the displayed remaining time: 999 hours. */
#define SECONDS_MOST 3596400

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
        return size.ws_col;
    return COLUMNS_DEFAULT;
}

void progress_begin(progress *bar, const char *job, bool quiet)
{
    *bar = (progress){.job = job, .shown = !quiet && isatty(STDERR_FILENO), .begun = now()};
    bar->redraw = bar->begun + INTERVAL; /* short operations show no bar */
}

double progress_seconds(const progress *bar)
{
    return now() - bar->begun;
}

/** Formats the text after the bar, such as " 45%  27000/60000  130.0 MiB/s  0:03 left"; omits the
 * speed if no bytes are counted. */
static void tell(const progress *bar, uint64_t done, uint64_t total, uint64_t bytes, char *text,
                 size_t size)
{
    char speed[REPORT_SIZE_TEXT], amount[REPORT_SIZE_TEXT];
    double seconds = progress_seconds(bar), share = total != 0 ? (double)done / (double)total : 1;
    double left = share > 0 ? seconds / share - seconds : 0;
    if (total == UINT64_MAX) { /* of a pipe, whose bytes are counted */
        snprintf(text, size, " %s  %s/s", report_size(done, amount),
                 report_size((uint64_t)((double)bytes / seconds), speed));
        return;
    }
    long rest = left < SECONDS_MOST ? (long)left : SECONDS_MOST;
    report_size((uint64_t)((double)bytes / seconds), speed);
    snprintf(text, size, " %3.0f%%  %" PRIu64 "/%" PRIu64 "%s%s%s  %ld:%02ld left", share * 100,
             done, total, bytes != 0 ? "  " : "", bytes != 0 ? speed : "", bytes != 0 ? "/s" : "",
             rest / 60, rest % 60);
}

void progress_update(progress *bar, uint64_t done, uint64_t total, uint64_t bytes)
{
    static const char full[] = "########################################";
    static const char empty[] = "........................................";
    char text[160];
    if (!bar->shown || now() < bar->redraw)
        return;
    tell(bar, done, total, bytes, text, sizeof text);
    int width = columns();
    int room = width - (int)strlen(bar->job) - (int)strlen(text) - 4;
    room = room > BAR_MOST ? BAR_MOST : room;
    int part = total != 0 ? (int)((double)done / (double)total * room) : room;
    if (room >= BAR_LEAST && total != UINT64_MAX)
        fprintf(stderr, "\r\033[K%s [%.*s%.*s]%s", bar->job, part, full, room - part, empty, text);
    else
        fprintf(stderr, "\r\033[K%.*s", width - 1, text);
    fflush(stderr);
    bar->drawn = true;
    bar->redraw = now() + INTERVAL;
}

void progress_clear(progress *bar)
{
    if (!bar->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    bar->drawn = false;
}
