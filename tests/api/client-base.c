/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed base library, valid as C11 and C++17: the header and the library have
 * the same version, and the library fills an error.
 */
#include <loaderx/dtype.h>
#include <loaderx/hooks.h>
#include <loaderx/status.h>
#include <loaderx/version.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_allocator empty;
    memset(&empty, 0, sizeof empty);
    if (strcmp(lx_get_version(), LX_VERSION_STRING) != 0) {
        fprintf(stderr, "header %s, library %s\n", LX_VERSION_STRING, lx_get_version());
        return 1;
    }
    if (lx_set_allocator(&empty, &error) != LX_ERR_ARGUMENT || error.status != LX_ERR_ARGUMENT)
        return 2;
    char line[2048];
    if (lx_error_describe(&error, line, sizeof line) == 0)
        return 3;
    printf("%s: %s\n", lx_status_get_name(error.status), line);
    return lx_dtype_get_size(LX_FLOAT32) == 4 ? 0 : 4;
}
