/* SPDX-License-Identifier: MIT */
/* TFRecord: each record is a 64-bit length, the masked CRC of the length, the payload, and the
 * masked CRC of the payload. The payload is a tf.Example, whose features are the fields, or is
 * imported as it is.
 *
 * Source: tensorflow/core/lib/io/record_writer.h. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "importer/example.h"
#include "importer/field-name.h"

enum { OPTION_LISTS, OPTION_RAW };
static const char *const options[] = {[OPTION_LISTS] = "lists", [OPTION_RAW] = "raw", NULL};

/* The length with its CRC, and the CRC of the payload. */
#define HEAD 12
#define TAIL 4

typedef struct tfrecord_reader {
    lx__import_reader base;
    lx__example example;
    lx__import_value raw;
} tfrecord_reader;

static lx__import_reader *create(void)
{
    return lx__alloc_array(1, sizeof(tfrecord_reader));
}

static lx_status open_tfrecord(lx__import_reader *reader, lx_error *error)
{
    tfrecord_reader *self = (tfrecord_reader *)reader;
    const char *raw = reader->source.options[OPTION_RAW];
    self->example.lists = reader->source.options[OPTION_LISTS];
    self->example.limit = reader->source.record_limit;
    if (raw != NULL && self->example.lists != NULL)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the option lists is about tf.Examples, which are not read if raw is set: "
                       "set one of them");
    if (raw == NULL)
        return LX_OK;
    self->raw = (lx__import_value){.name = raw, .name_size = strlen(raw), .kind = LX__IMPORT_BYTES};
    return lx__field_name_check(options[OPTION_RAW], raw, error);
}

static void close_tfrecord(lx__import_reader *reader)
{
    lx__example_free(&((tfrecord_reader *)reader)->example);
    lx__free(reader);
}

/** Whether @p stored is the masked CRC of the @p size bytes at @p data. */
static bool crc_matches(const uint8_t *data, size_t size, const uint8_t *stored)
{
    uint32_t crc = lx__crc32c(0, data, size);
    return lx__load_le32(stored) == ((crc >> 15 | crc << 17) + UINT32_C(0xa282ead8));
}

static lx_status fail_rest(lx__import_reader *reader, const char *what, lx_error *error)
{
    reader->lost = true;
    return lx_fail(error, LX_ERR_CORRUPT, "%s: the rest of the file is lost", what);
}

/** Passes a record that is too large, whose head was taken. */
static lx_status skip(lx__import_reader *reader, uint64_t length, lx_error *error)
{
    uint64_t skipped = 0, wanted = 0;
    if (!lx__add_fits(length, TAIL, &wanted))
        wanted = UINT64_MAX; /* more than any file has */
    lx_status status = lx__input_skip(reader->source.input, wanted, &skipped, error);
    if (status != LX_OK)
        return status;
    if (skipped != wanted)
        return fail_rest(reader, "the file ends within a record", error);
    return lx_fail(error, LX_ERR_LIMIT,
                   "the record has %" PRIu64 " bytes, more than %" PRIu64
                   ": raise the limit of a record",
                   length, reader->source.record_limit);
}

/** Reads and checks a payload. */
static lx_status read_payload(lx__import_reader *reader, const uint8_t **data, size_t *size,
                              lx_error *error)
{
    lx__input *input = reader->source.input;
    lx_status status = lx__input_fill(input, HEAD, error);
    if (status != LX_OK)
        return status;
    if (input->size == 0)
        return LX_END;
    if (input->size < HEAD)
        return fail_rest(reader, "the file ends within the length of a record", error);
    uint64_t length = lx__load_le64(input->data);
    if (!crc_matches(input->data, 8, input->data + 8))
        return fail_rest(reader,
                         "the CRC of the length of a record does not match: the file is damaged, "
                         "or is not a TFRecord file",
                         error);
    lx__input_take(input, HEAD);
    if (length > reader->source.record_limit)
        return skip(reader, length, error);
    *size = (size_t)length;
    status = lx__input_fill(input, *size + TAIL, error);
    if (status != LX_OK)
        return status;
    if (input->size < *size + TAIL)
        return fail_rest(reader, "the file ends within a record", error);
    *data = input->data;
    lx__input_take(input, *size + TAIL);
    return crc_matches(*data, *size, *data + *size)
               ? LX_OK
               : lx_fail(error, LX_ERR_CORRUPT, "the CRC of the record does not match");
}

static lx_status next(lx__import_reader *reader, lx__import_record *record, lx_error *error)
{
    tfrecord_reader *self = (tfrecord_reader *)reader;
    const uint8_t *data = NULL;
    size_t size = 0;
    record->offset = reader->source.input->offset;
    lx_status status = read_payload(reader, &data, &size, error);
    if (status != LX_OK)
        return status;
    if (self->raw.name != NULL) {
        self->raw.data = data;
        self->raw.size = size;
        record->values = &self->raw;
        record->count = 1;
        return LX_OK;
    }
    status = lx__example_read(&self->example, data, size, error);
    record->values = self->example.values;
    record->count = status == LX_OK ? self->example.count : 0;
    return status;
}

const lx__format_class lx__format_tfrecord = {.name = "tfrecord",
                                              .options = options,
                                              .create = create,
                                              .open = open_tfrecord,
                                              .next = next,
                                              .close = close_tfrecord};
