/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief gnuplot, run as a child.
 */
#ifndef LX_TOOLS_GNUPLOT_H
#define LX_TOOLS_GNUPLOT_H

#include <stddef.h>

#include <loaderx/status.h>

/**
 * Runs gnuplot, as PATH has it, with a script on a pipe; what it draws goes to the open file @p to.
 *
 * @retval LX_ERR_NOT_FOUND    It is not installed.
 * @retval LX_ERR_UNSUPPORTED  It failed; the error has the first line of what it said.
 * @retval LX_ERR_CANCELED     A signal came, which interrupt.h has caught.
 */
lx_status gnuplot_run(const char *script, size_t size, int to, lx_error *error);

#endif
