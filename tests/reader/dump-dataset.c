/* SPDX-License-Identifier: MIT */
/* Dumps datasets as the library reads them, with everything verified. Each line of standard input
 * is the path of a dataset. For each, prints a line with a number of bytes and the name of the
 * status, followed by these bytes: the canonical form of dump.h if the status is LX_OK, otherwise
 * the error as text. */
#include <string.h>

#include "dump.h"

static lx_status open_and_dump(FILE *to, const char *path, lx_error *error)
{
    lx_dataset *dataset;
    lx_dataset_options *options = lx_dataset_options_new();
    if (options == NULL)
        return LX_ERR_NOMEM;
    lx_status status = lx_dataset_options_set_verify_policy(options, LX_VERIFY_ALWAYS, error);
    if (status == LX_OK)
        status = lx_dataset_open(path, options, &dataset, error);
    lx_dataset_options_free(options);
    if (status != LX_OK)
        return status;
    status = dump_dataset(to, dataset, error);
    lx_dataset_close(dataset);
    return status;
}

static int answer(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    lx_error error = LX_ERROR_INIT;
    char description[2048];
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return 1;
    lx_status status = open_and_dump(to, path, &error);
    if (fclose(to) != 0)
        return 1;
    const char *shown = text;
    if (status != LX_OK) {
        lx_error_describe(&error, description, sizeof description);
        shown = description;
        size = strlen(description);
    }
    printf("%zu %s\n", size, lx_status_get_name(status));
    fwrite(shown, 1, size, stdout);
    free(text);
    return fflush(stdout);
}

int main(void)
{
    char path[4096];
    while (fgets(path, sizeof path, stdin) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        if (answer(path) != 0)
            return 1;
    }
    return 0;
}
