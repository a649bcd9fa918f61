/* SPDX-License-Identifier: MIT */
#include "remote/http/http-format.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"

char *lx__http_format(const char *text, ...)
{
    va_list args;
    va_start(args, text);
    int size = vsnprintf(NULL, 0, text, args);
    va_end(args);
    char *made = size < 0 ? NULL : lx__alloc((size_t)size + 1);
    if (made != NULL) {
        va_start(args, text);
        vsnprintf(made, (size_t)size + 1, text, args);
        va_end(args);
    }
    return made;
}
