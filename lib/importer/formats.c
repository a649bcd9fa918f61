/* SPDX-License-Identifier: MIT */
#include "importer/formats.h"

#include <string.h>

#include "base/error.h"

static const lx__format_class *const formats[] = {
    &lx__format_csv,      &lx__format_folder, &lx__format_jsonl,
    &lx__format_lines,    &lx__format_lmdb,   &lx__format_mds,
    &lx__format_original, &lx__format_tar,    &lx__format_tfrecord,
};

#define FORMATS (sizeof formats / sizeof *formats)

lx_status lx__format_find(const char *name, const lx__format_class **format, lx_error *error)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            *format = formats[i];
            return LX_OK;
        }
    }
    lx_status status = lx_fail(error, LX_ERR_ARGUMENT, "unknown format '%.64s': use", name);
    for (size_t i = 0; i < FORMATS; i++)
        lx__error_append(error, "%s %s", i != 0 ? "," : "", formats[i]->name);
    if (strcmp(name, "parquet") == 0 || strcmp(name, "arrow") == 0)
        lx__error_append(error, "; loaderx.import_arrow() in Python reads Parquet and Arrow files");
    return status;
}

lx_status lx__format_find_option(const lx__format_class *format, const char *name, size_t *position,
                                 lx_error *error)
{
    size_t i;
    for (i = 0; format->options != NULL && format->options[i] != NULL; i++) {
        if (strcmp(format->options[i], name) == 0) {
            *position = i;
            return LX_OK;
        }
    }
    lx_status status = lx_fail(error, LX_ERR_NOT_FOUND, "the format %s has no option '%.64s'%s",
                               format->name, name, i != 0 ? ": use" : "");
    for (i = 0; format->options != NULL && format->options[i] != NULL; i++)
        lx__error_append(error, "%s %s", i != 0 ? "," : "", format->options[i]);
    return status;
}
