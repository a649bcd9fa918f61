/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed importer, valid as C11 and C++17: imports a file of JSON lines.
 */
#include <loaderx/import.h>

#include <stdio.h>
#include <unistd.h>

static int complain(const lx_error *error, int where)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "%d: %s\n", where, line);
    return where;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_import_result result;
    char input[64], path[64]; /* unique: several builds of this client run in one folder */
    snprintf(input, sizeof input, "client-input-%ld", (long)getpid());
    snprintf(path, sizeof path, "client-imported-%ld", (long)getpid());
    FILE *file = fopen(input, "w");
    if (file == NULL || fputs("{\"id\": 1}\nbad\n{\"id\": 3}\n", file) < 0 || fclose(file) != 0)
        return 1;
    lx_importer *importer = lx_importer_new();
    if (lx_importer_set_format(importer, "jsonl", &error) != LX_OK ||
        lx_importer_add_input(importer, input, &error) != LX_OK ||
        lx_importer_set_bad_policy(importer, LX_BAD_SKIP, &error) != LX_OK ||
        lx_importer_run(importer, path, NULL, &error) != LX_OK)
        return complain(&error, 2);
    lx_importer_get_result(importer, &result);
    const lx_error *bad = lx_importer_get_bad(importer, 0);
    int right = result.records == 2 && result.bad == 1 && bad != NULL && bad->record == 1;
    printf("%llu records\n", (unsigned long long)result.records);
    lx_importer_free(importer);
    return right ? 0 : 3;
}
