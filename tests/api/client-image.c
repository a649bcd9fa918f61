/* SPDX-License-Identifier: MIT */
/* A client of the installed image library, valid as C11 and C++17: finds the format of a file. */
#include <loaderx/image.h>

#include <stdio.h>

int main(void)
{
    const char *name = lx_image_format_get_name(lx_image_format_find("\xff\xd8\xff\xe0", 4));
    printf("%s\n", name != NULL ? name : "unknown");
    return name == NULL;
}
