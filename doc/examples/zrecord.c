/* SPDX-License-Identifier: MIT */
/*
 * Writing records to a dataset and reading them while it grows: create, append, commit, gather,
 * refresh, view.
 *
 *     cc zrecord.c $(pkg-config --cflags --libs loaderx-zrecord)
 */
#include <loaderx/zrecord.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { IMAGES = 1000, PIXELS = 28 * 28 };
enum { PIXELS_FIELD, LABEL_FIELD, CAPTION_FIELD, FIELDS }; /* in the order of the schema */

static int complain(const lx_error *error)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "zrecord: %s\n", line);
    return EXIT_FAILURE;
}

/* Two dense fields, and one of bytes, whose values have any length. */
static lx_status create(const char *path, lx_writer **writer, lx_error *error)
{
    const uint64_t shape[] = {28, 28};
    lx_schema *schema = lx_schema_new();
    lx_status status = schema != NULL ? LX_OK : LX_ERR_NOMEM;
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "pixels", LX_UINT8, shape, 2, LX_COMPRESSION_RAW,
                                     error);
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "label", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, error);
    if (status == LX_OK)
        status = lx_schema_add_field(schema, "caption", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE,
                                     error);
    if (status == LX_OK)
        status = lx_writer_create(path, schema, NULL, writer, error);
    lx_schema_free(schema);
    return status;
}

/* All pixels of image i have gray value i; every third image has no caption. */
static lx_status append(lx_writer *writer, int64_t i, lx_error *error)
{
    unsigned char pixels[PIXELS];
    char caption[32];
    for (size_t k = 0; k < PIXELS; k++)
        pixels[k] = (unsigned char)i;
    int length = snprintf(caption, sizeof caption, "gray %" PRId64, i % 256);
    const lx_value values[FIELDS] = {[PIXELS_FIELD] = {pixels, sizeof pixels},
                                     [LABEL_FIELD] = {&i, sizeof i},
                                     [CAPTION_FIELD] = {caption, (uint64_t)length}};
    const lx_value without[FIELDS] = {values[PIXELS_FIELD], values[LABEL_FIELD], {NULL, LX_NONE}};
    return lx_writer_append(writer, i % 3 == 0 ? without : values, FIELDS, NULL, error);
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer = NULL;
    lx_dataset *dataset = NULL;

    /* A commit makes all appended records visible to readers at once. */
    if (create("images", &writer, &error) != LX_OK)
        return complain(&error);
    for (int64_t i = 0; i < IMAGES; i++)
        if (append(writer, i, &error) != LX_OK)
            return complain(&error);
    if (lx_writer_commit(writer, &error) != LX_OK)
        return complain(&error);

    /* A gather copies records, in the requested order, to your memory. */
    const uint64_t wanted[] = {998, 3, 500};
    int64_t labels[3];
    if (lx_dataset_open("images", NULL, &dataset, &error) != LX_OK ||
        lx_dataset_gather(dataset, LABEL_FIELD, wanted, 3, labels, sizeof *labels, &error) != LX_OK)
        return complain(&error);
    printf("labels: %" PRId64 " %" PRId64 " %" PRId64 "\n", labels[0], labels[1], labels[2]);

    /* Measure values of bytes first, then gather them back to back. A missing value differs from an
     * empty one. */
    uint64_t offsets[4];
    uint8_t present[3];
    char captions[128];
    if (lx_dataset_get_sizes(dataset, CAPTION_FIELD, wanted, 3, offsets, present, &error) !=
            LX_OK ||
        offsets[3] > sizeof captions ||
        lx_dataset_gather_bytes(dataset, CAPTION_FIELD, wanted, 3, offsets, captions, &error) !=
            LX_OK)
        return complain(&error);
    for (int i = 0; i < 3; i++)
        if (present[i])
            printf("caption %" PRIu64 ": %.*s\n", wanted[i], (int)(offsets[i + 1] - offsets[i]),
                   captions + offsets[i]);

    /* A reader keeps the snapshot of its opening until it refreshes. */
    bool changed = false;
    if (append(writer, IMAGES, &error) != LX_OK || lx_writer_commit(writer, &error) != LX_OK)
        return complain(&error);
    uint64_t before = lx_dataset_get_length(dataset);
    if (lx_dataset_refresh(dataset, &changed, &error) != LX_OK)
        return complain(&error);
    uint64_t after = lx_dataset_get_length(dataset);
    printf("%" PRIu64 " records, and %" PRIu64 " after the refresh\n", before, after);

    /* A view points to the stored records. It stays readable until it is released. */
    const uint64_t last = IMAGES;
    lx_slice slice;
    lx_view *view = NULL;
    if (lx_dataset_view(dataset, PIXELS_FIELD, &last, 1, &slice, &view, &error) != LX_OK)
        return complain(&error);
    lx_dataset_close(dataset);
    int gray = *(const unsigned char *)slice.data;
    lx_view_free(view);

    if (lx_writer_close(writer, &error) != LX_OK)
        return complain(&error);
    return changed && after == before + 1 && gray == IMAGES % 256 ? EXIT_SUCCESS : EXIT_FAILURE;
}
