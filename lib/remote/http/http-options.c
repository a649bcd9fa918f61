/* SPDX-License-Identifier: MIT */
#include "remote/http/http-options.h"

#include <string.h>

#include "base/alloc.h"

void lx__http_options_clear(lx__http_options *options)
{
    lx__free(options->endpoint);
    lx__free(options->region);
    lx__tier_close(&options->tier);
    *options = (lx__http_options){0};
}

bool lx__http_is_region(const char *text)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
    size_t size = strlen(text);
    return size > 0 && size < 64 && strspn(text, allowed) == size;
}
