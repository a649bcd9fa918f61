/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Removes the secrets of URLs from texts for people. The only place that knows what is secret
 * in a URL: lx_url_redact() is for one that is a whole text.
 */
#ifndef LX_BASE_REDACT_H
#define LX_BASE_REDACT_H

#include <loaderx/status.h>

/** Size of a buffer for a text that is redacted before it is shortened: a URL of which the end is
 * missing has secrets that are not found. Servers accept no longer ones. */
#define LX__WHOLE_TEXT 8192

/** Does what lx_url_redact() does to all URLs in a text, each of which ends before a space, a quote
 * or the punctuation at its end. */
LX_API void lx__redact(char *text);

#endif
