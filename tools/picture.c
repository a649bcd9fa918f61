/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beside.h"
#include "failure.h"
#include "gnuplot.h"
#include "interrupt.h"
#include "report.h"

/** What gnuplot is told for an ending. Names of sets are theirs: nothing in them is markup. */
static const struct {
    const char *ending;
    const char *terminal;
} kinds[] = {{".svg", "svg size 960,540 background rgb 'white' noenhanced"},
             {".png", "pngcairo size 1280,720 noenhanced"},
             {".pdf", "pdfcairo size 8in,4.5in noenhanced"}};

#define TEXT_TERMINAL "dumb nofeed size 79,24 noenhanced"

static const char *find_terminal(const char *path)
{
    if (strcmp(path, "-") == 0)
        return TEXT_TERMINAL;
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t ending = strlen(kinds[i].ending);
        if (length > ending && strcmp(path + length - ending, kinds[i].ending) == 0)
            return kinds[i].terminal;
    }
    return NULL;
}

lx_status picture_check(const char *path, lx_error *error)
{
    return find_terminal(path) != NULL
               ? LX_OK
               : fail(error, LX_ERR_ARGUMENT,
                      "--plot: '%.200s' ends in none of .svg, .png, .pdf; - is the terminal",
                      path);
}

lx_status picture_begin(picture *self, const char *path, lx_error *error)
{
    *self = (picture){.path = strcmp(path, "-") == 0 ? NULL : path,
                      .terminal = find_terminal(path)};
    self->script = open_memstream(&self->text, &self->size);
    if (self->script == NULL)
        return fail_memory(error, "a picture");
    fprintf(self->script, "set terminal %s\nset encoding utf8\n", self->terminal);
    return LX_OK;
}

bool picture_is_text(const picture *self)
{
    return self->path == NULL;
}

lx_status picture_quote(picture *self, const char *text, lx_error *error)
{
    json_t *clean = report_text(text);
    if (clean == NULL)
        return fail_memory(error, "a text");
    fputc('\'', self->script);
    for (const char *at = json_string_value(clean); *at != '\0'; at++) {
        if (*at == '\'')
            fputc('\'', self->script);
        fputc(*at, self->script);
    }
    fputc('\'', self->script);
    json_decref(clean);
    return LX_OK;
}

static lx_status close_script(picture *self, lx_error *error)
{
    bool failed = ferror(self->script) != 0;
    failed = fclose(self->script) != 0 || failed;
    self->script = NULL;
    return failed ? fail_memory(error, "a picture") : LX_OK;
}

lx_status picture_draw(picture *self, lx_error *error)
{
    lx_status status = close_script(self, error);
    if (status == LX_OK && self->path == NULL) {
        fflush(stdout); /* gnuplot writes behind what is printed, and ends without a newline */
        status = gnuplot_run(self->text, self->size, STDOUT_FILENO, error);
        putchar('\n');
        return status;
    }
    if (status != LX_OK)
        return status;
    beside made;
    interrupt_catch();
    status = beside_begin(&made, self->path, error);
    if (status == LX_OK)
        status = gnuplot_run(self->text, self->size, made.file, error);
    if (status == LX_OK)
        status = beside_finish(&made, error);
    beside_end(&made);
    return status;
}

void picture_end(picture *self)
{
    if (self->script != NULL)
        fclose(self->script);
    free(self->text);
    *self = (picture){0};
}
