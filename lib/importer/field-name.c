/* SPDX-License-Identifier: MIT */
#include "importer/field-name.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

lx_status lx__field_name_make(const char *source, char name[LX_MAX_FIELD_NAME + 1], lx_error *error)
{
    static const char valid[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t size = strlen(source);
    if (size == 0 || size > LX_MAX_FIELD_NAME)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the name '%.64s' of a field has %zu bytes: it must have 1 to %d", source,
                       size, LX_MAX_FIELD_NAME);
    for (size_t i = 0; i <= size; i++) {
        bool plain = strchr(valid, source[i]) != NULL && (i != 0 || source[i] != '.');
        name[i] = '_';
        if (plain)
            name[i] = source[i];
    }
    return LX_OK;
}

lx_status lx__field_name_check(const char *option, const char *value, lx_error *error)
{
    char name[LX_MAX_FIELD_NAME + 1];
    lx_status status = lx__field_name_make(value, name, error);
    if (status == LX_OK && strcmp(name, value) != 0)
        return lx_fail(
            error, LX_ERR_ARGUMENT,
            "the option %s names a field '%s', which is invalid: use letters, digits, _, "
            ". and -, and begin with no dot",
            option, value);
    return status;
}
