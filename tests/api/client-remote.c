/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed library for datasets elsewhere, valid as C11 and C++17: seals a dataset,
 * reads it by its URL through a cache, and empties the cache.
 */
#include <loaderx/remote.h>
#include <loaderx/zrecord.h>

#include <stdio.h>
#include <unistd.h>

static char path[64]; /* unique: several builds of this client run in one folder */
static char cache[80];

static int complain(const lx_error *error, int where)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "%d: %s\n", where, line);
    return where;
}

static lx_status write_sealed(lx_error *error)
{
    lx_schema *schema = lx_schema_new();
    lx_writer *writer = NULL;
    lx_status status = lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW,
                                           error);
    if (status == LX_OK)
        status = lx_writer_create(path, schema, NULL, &writer, error);
    lx_schema_free(schema);
    for (int64_t i = 0; status == LX_OK && i < 10; i++) {
        lx_value value;
        value.data = &i;
        value.size = sizeof i;
        status = lx_writer_append(writer, &value, 1, NULL, error);
    }
    if (status == LX_OK)
        status = lx_writer_seal(writer, error);
    lx_status closed = lx_writer_close(writer, error);
    return status != LX_OK ? status : closed;
}

static lx_status open_elsewhere(lx_dataset **dataset, lx_error *error)
{
    char folder[4096], url[4200];
    if (getcwd(folder, sizeof folder) == NULL)
        folder[0] = '\0';
    snprintf(url, sizeof url, "file://%s/%s", folder, path);
    lx_remote_options *options = lx_remote_options_new();
    lx_status status = lx_remote_options_set_cache(options, cache, LX_NONE, error);
    if (status == LX_OK)
        status = lx_remote_open(url, options, NULL, dataset, error);
    lx_remote_options_free(options);
    return status;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = NULL;
    lx_remote_stats stats;
    const uint64_t indices[3] = {9, 3, 9};
    int64_t labels[3];
    snprintf(path, sizeof path, "client-elsewhere-%ld", (long)getpid());
    snprintf(cache, sizeof cache, "%s-cache", path);
    if (write_sealed(&error) != LX_OK)
        return complain(&error, 1);
    if (open_elsewhere(&dataset, &error) != LX_OK)
        return complain(&error, 2);
    if (lx_dataset_gather(dataset, 0, indices, 3, labels, sizeof *labels, &error) != LX_OK ||
        lx_remote_get_stats(dataset, &stats, &error) != LX_OK)
        return complain(&error, 3);
    printf("%llu records, %llu requests\n", (unsigned long long)lx_dataset_get_length(dataset),
           (unsigned long long)stats.requests);
    lx_dataset_close(dataset);
    if (lx_cache_trim(cache, 0, &error) != LX_OK)
        return complain(&error, 4);
    return labels[0] == 9 && labels[1] == 3 && labels[2] == 9 && stats.requests != 0 ? 0 : 5;
}
