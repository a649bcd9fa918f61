/* SPDX-License-Identifier: MIT */
#include <loaderx/status.h>
#include <loaderx/version.h>

const char *lx_status_get_name(lx_status status)
{
    switch (status) {
    case LX_OK:
        return "LX_OK";
    case LX_END:
        return "LX_END";
#define NAME(name, value, text)                                                                    \
    case name:                                                                                     \
        return #name;
        LX_STATUS_MAP(NAME)
#undef NAME
    }
    return "LX_ERR_UNKNOWN";
}

const char *lx_status_get_message(lx_status status)
{
    switch (status) {
    case LX_OK:
        return "no error";
    case LX_END:
        return "the end was reached";
#define MESSAGE(name, value, text)                                                                 \
    case name:                                                                                     \
        return text;
        LX_STATUS_MAP(MESSAGE)
#undef MESSAGE
    }
    return "unknown status";
}

const char *lx_get_version(void)
{
    return LX_VERSION_STRING;
}
