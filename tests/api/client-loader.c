/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed loader, valid as C11 and C++17: shuffled batches of its own source,
 * filled by two threads, contain each record once.
 */
#include <loaderx/loaderx.h>

#include <stdio.h>
#include <string.h>

#define RECORDS 1000

static lx_status fill(const uint64_t *indices, size_t count, const lx_target *targets, void *user,
                      lx_error *error)
{
    (void)user, (void)error;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)targets[0].data + i * targets[0].stride, &indices[i], sizeof *indices);
    return LX_OK;
}

static lx_status open_loader(lx_loader **loader, lx_error *error)
{
    lx_column_info column;
    lx_source *source = NULL;
    memset(&column, 0, sizeof column);
    column.name = "index";
    column.dtype = LX_UINT64;
    lx_source_options *functions = lx_source_options_new();
    lx_source_options_set_fill(functions, fill, NULL, error);
    lx_status status = lx_source_new(RECORDS, &column, 1, functions, &source, error);
    lx_source_options_free(functions);
    if (status != LX_OK)
        return status;
    lx_loader_options *options = lx_loader_options_new();
    lx_loader_options_set_batch_size(options, 64, error);
    lx_loader_options_set_shuffle(options, 42, error);
    lx_loader_options_set_reader_count(options, 2, error);
    status = lx_loader_open(source, options, loader, error);
    lx_loader_options_free(options);
    lx_source_unref(source);
    return status;
}

int main(void)
{
    static char seen[RECORDS];
    lx_error error = LX_ERROR_INIT;
    lx_loader *loader = NULL;
    lx_batch *batch = NULL;
    uint64_t rows = 0;
    if (open_loader(&loader, &error) != LX_OK)
        return 1;
    while (lx_loader_next(loader, &batch, &error) == LX_OK) {
        const lx_column *index = lx_batch_find_column(batch, "index");
        const uint64_t *values = (const uint64_t *)index->data;
        for (uint64_t i = 0; i < index->rows; i++)
            if (values[i] >= RECORDS || seen[values[i]]++ != 0)
                return 2;
        rows += index->rows;
        lx_batch_unref(batch);
    }
    lx_loader_close(loader);
    printf("%llu records\n", (unsigned long long)rows);
    return error.status == LX_OK && rows == RECORDS ? 0 : 3;
}
