/* SPDX-License-Identifier: MIT */
#include "importer/image-name.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

bool lx__image_name_is(const char *name)
{
    static const char *const endings[] = {"jpg", "jpeg", "jpe", "jfif", "png", "webp"};
    const char *dot = strrchr(name, '.'), *ending = dot != NULL ? dot + 1 : name;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}
