/* SPDX-License-Identifier: MIT */
#include "importer/field-name.h"

#include <string.h>

#include "base/error.h"
#include "zrecord/format/schema.h"

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
