/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A picture that gnuplot draws, of a script, into a file or as text into a terminal.
 */
#ifndef LX_TOOLS_PICTURE_H
#define LX_TOOLS_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include <loaderx/status.h>

/** One being made. */
typedef struct picture {
    FILE *script;     /**< Where the script is to be written; the rest is its own. */
    const char *path; /**< NULL: standard output. */
    const char *terminal;
    char *text;
    size_t size;
} picture;

/**
 * Looks whether something can be drawn into a file of that name: it ends in .svg, .png or .pdf, or
 * is "-", which is text on standard output.
 *
 * @retval LX_ERR_ARGUMENT  It ends in something else.
 */
lx_status picture_check(const char *path, lx_error *error);

/** Begins one, into a file that picture_check() has passed; its script has set the terminal, and
 * names in UTF-8, already. picture_end() is due in any case. */
lx_status picture_begin(picture *self, const char *path, lx_error *error);

/** Whether it is text. */
bool picture_is_text(const picture *self);

/** Writes a text of one line into the script, in quotes, in which nothing has a meaning. */
lx_status picture_quote(picture *self, const char *text, lx_error *error);

/**
 * Has gnuplot draw it: into a file beside its place, which gets its name once it is whole.
 *
 * @retval LX_ERR_NOT_FOUND    There is no gnuplot.
 * @retval LX_ERR_UNSUPPORTED  It failed; the error has its own words.
 * @retval LX_ERR_CANCELED     A signal came.
 */
lx_status picture_draw(picture *self, lx_error *error);

void picture_end(picture *self);

#endif
