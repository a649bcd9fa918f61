/* SPDX-License-Identifier: MIT */
/* Dumps datasets as the library reads them, with everything verified. Each line of standard input
 * is the path of a dataset. For each, prints a line with a number of bytes and the name of the
 * status, followed by these bytes: the canonical form of dump.h if the status is LX_OK, otherwise
 * the error as text. With the option --changes, prints the number of changes of each field instead
 * of the canonical form. */
#include <inttypes.h>
#include <string.h>

#include "dump.h"
#include "zrecord/read/row-digest.h"

/** Prints a dataset. */
typedef lx_status print(FILE *to, lx_dataset *dataset, lx_error *error);

static lx_status print_changes(FILE *to, lx_dataset *dataset, lx_error *error)
{
    lx__row_digest digest;
    lx_status status = lx__dataset_digest_rows(dataset, 0, LX_NONE, &digest, error);
    if (status != LX_OK)
        return status;
    const lx_schema *schema = lx_dataset_get_schema(dataset);
    for (size_t i = 0; i < lx_schema_get_field_count(schema); i++)
        fprintf(to, "%s %" PRIu64 "\n", lx_schema_get_field(schema, i)->name, digest.changes[i]);
    lx__row_digest_free(&digest);
    return LX_OK;
}

static lx_status open_and_print(FILE *to, print *what, const char *path, lx_error *error)
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
    status = what(to, dataset, error);
    lx_dataset_close(dataset);
    return status;
}

static int answer(print *what, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    lx_error error = LX_ERROR_INIT;
    char description[2048];
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return 1;
    lx_status status = open_and_print(to, what, path, &error);
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

int main(int argc, char **argv)
{
    char path[4096];
    print *what = argc == 2 && strcmp(argv[1], "--changes") == 0 ? print_changes : dump_dataset;
    while (fgets(path, sizeof path, stdin) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        if (answer(what, path) != 0)
            return 1;
    }
    return 0;
}
