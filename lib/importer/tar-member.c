/* SPDX-License-Identifier: MIT */
#include "importer/tar-member.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"

/* The fields of a header: offset and size. */
enum {
    NAME = 0,
    NAME_SIZE = 100,
    SIZE = 124,
    SIZE_SIZE = 12,
    CHECKSUM = 148,
    CHECKSUM_SIZE = 8,
    TYPE = 156,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_SIZE = 155
};

/** What extended headers say about the next member. */
typedef struct extended {
    bool named, sized, sparse;
    uint64_t size;
} extended;

static lx_status fail_at(const lx__input *input, size_t at, const char *why, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "%s", why);
    lx_error_locate(error, NULL, NULL, LX_NONE, input->offset + at);
    return status;
}

static lx_status fail_end(const lx__input *input, size_t at, lx_error *error)
{
    return fail_at(input, at, "the archive ends too early: it is truncated", error);
}

/** Makes @p size bytes at @p at available. */
static lx_status need(lx__input *input, size_t at, size_t size, lx_error *error)
{
    if (size > SIZE_MAX - at)
        return fail_end(input, at, error);
    lx_status status = lx__input_fill(input, at + size, error);
    return status == LX_OK && input->size < at + size ? fail_end(input, input->size, error)
                                                      : status;
}

/** A number in octal digits or, if the first bit is set, in binary. */
static bool parse_number(const uint8_t *field, size_t size, uint64_t *number)
{
    size_t i = 0;
    *number = 0;
    if (field[0] & 0x80) { /* GNU: big-endian; a negative one is not a size */
        for (*number = field[0] & 0x7f, i = 1; i < size; i++) {
            if (*number >> 56 != 0)
                return false;
            *number = *number << 8 | field[i];
        }
        return true;
    }
    while (i < size && field[i] == ' ')
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        *number = *number << 3 | (uint64_t)(field[i] - '0');
    return i == size || field[i] == ' ' || field[i] == '\0';
}

/** The checksum counts its own field as spaces; some old programs added signed bytes. */
static bool checksum_matches(const uint8_t *header)
{
    uint64_t stored;
    int64_t plain = 0, with_sign = 0;
    for (size_t i = 0; i < LX__TAR_BLOCK; i++) {
        bool own = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_SIZE;
        plain += own ? ' ' : header[i];
        with_sign += own ? ' ' : (int8_t)header[i];
    }
    return parse_number(header + CHECKSUM, CHECKSUM_SIZE, &stored) &&
           ((int64_t)stored == plain || (int64_t)stored == with_sign);
}

static bool is_zero(const uint8_t *block)
{
    for (size_t i = 0; i < LX__TAR_BLOCK; i++)
        if (block[i] != 0)
            return false;
    return true;
}

/* ---- extended headers */

/** Stores a name of @p size bytes, up to its NUL. */
static bool set_name(lx__tar_member *member, const uint8_t *name, size_t size)
{
    size = strnlen((const char *)name, size);
    if (size > LX__TAR_NAME)
        return false;
    memcpy(member->name, name, size);
    member->name[size] = '\0';
    return true;
}

/** Whether the record "KEY=value" has this key; if so, sets the value. */
static bool has_key(const uint8_t *record, size_t size, const char *key, const uint8_t **value,
                    size_t *value_size)
{
    size_t length = strlen(key);
    if (size <= length || memcmp(record, key, length) != 0 || record[length] != '=')
        return false;
    *value = record + length + 1;
    *value_size = size - length - 1;
    return true;
}

static bool parse_decimal(const uint8_t *text, size_t size, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || !lx__multiply_fits(*number, 10, number) ||
            !lx__add_fits(*number, (uint64_t)(text[i] - '0'), number))
            return false;
    }
    return size != 0;
}

/** Reads a pax header: records "LENGTH KEY=value\n". */
static bool read_pax(const uint8_t *data, size_t size, lx__tar_member *member, extended *found)
{
    while (size != 0) {
        const uint8_t *space = memchr(data, ' ', size), *value;
        size_t value_size;
        uint64_t length;
        if (space == NULL || !parse_decimal(data, (size_t)(space - data), &length) ||
            length > size || length < (size_t)(space - data) + 3 || data[length - 1] != '\n')
            return false;
        const uint8_t *record = space + 1;
        size_t record_size = (size_t)(data + length - 1 - record);
        if (has_key(record, record_size, "path", &value, &value_size)) {
            found->named = true;
            if (!set_name(member, value, value_size))
                return false;
        } else if (has_key(record, record_size, "size", &value, &value_size)) {
            found->sized = true;
            if (!parse_decimal(value, value_size, &found->size))
                return false;
        } else if (record_size >= 10 && memcmp(record, "GNU.sparse", 10) == 0) {
            found->sparse = true;
        }
        data += length;
        size -= (size_t)length;
    }
    return true;
}

/** Reads the content of an extended header. */
static lx_status read_extended(lx__input *input, size_t at, char type, uint64_t size,
                               lx__tar_member *member, extended *found, lx_error *error)
{
    if (size > LX__TAR_EXTENDED || at - member->begin > LX__TAR_EXTENDED)
        return fail_at(input, at, "an extended header is too long", error);
    lx_status status = need(input, at + LX__TAR_BLOCK, (size_t)size, error);
    if (status != LX_OK)
        return status;
    const uint8_t *data = input->data + at + LX__TAR_BLOCK;
    bool right = true;
    if (type == 'x') {
        right = read_pax(data, (size_t)size, member, found);
    } else if (type == 'L') {
        right = set_name(member, data, (size_t)size);
        found->named = true;
    }
    return right ? LX_OK : fail_at(input, at, "an extended header is damaged", error);
}

/* ---- headers */

/** Reads one header; LX_END for the blocks of zeros at the end of an archive. */
static lx_status read_header(lx__input *input, size_t at, lx_error *error)
{
    lx_status status = need(input, at, LX__TAR_BLOCK, error);
    if (status != LX_OK)
        return status;
    if (is_zero(input->data + at))
        return LX_END;
    if (checksum_matches(input->data + at))
        return LX_OK;
    return fail_at(input, at,
                   "the checksum of a header does not match: this is not a tar archive, or it is "
                   "damaged",
                   error);
}

lx_status lx__tar_pass_zeros(lx__input *input, lx_error *error)
{
    lx_status status = lx__input_fill(input, LX__TAR_BLOCK, error);
    while (status == LX_OK && input->size >= LX__TAR_BLOCK && is_zero(input->data)) {
        lx__input_take(input, LX__TAR_BLOCK);
        status = lx__input_fill(input, LX__TAR_BLOCK, error);
    }
    while (input->size != 0 && input->size < LX__TAR_BLOCK && *input->data == 0)
        lx__input_take(input, 1);
    return status == LX_OK && input->size == 0 ? LX_END : status;
}

/** Joins prefix and name of a header. */
static void name_member(lx__tar_member *member, const uint8_t *header)
{
    size_t prefix = 0;
    if (memcmp(header + MAGIC, "ustar\0", 6) == 0)
        prefix = strnlen((const char *)header + PREFIX, PREFIX_SIZE);
    size_t size = strnlen((const char *)header + NAME, NAME_SIZE);
    memcpy(member->name, header + PREFIX, prefix);
    if (prefix != 0)
        member->name[prefix++] = '/';
    memcpy(member->name + prefix, header + NAME, size);
    member->name[prefix + size] = '\0';
}

static lx__tar_type type_of(char type, const extended *found)
{
    if (found->sparse)
        return LX__TAR_UNSUPPORTED;
    if (type == '0' || type == '\0' || type == '7')
        return LX__TAR_FILE;
    return type == '5' ? LX__TAR_OTHER : LX__TAR_UNSUPPORTED;
}

/** Offset of the block after @p size bytes of content at @p at; false if that overflows. */
static bool end_of(size_t at, uint64_t size, uint64_t *end)
{
    return size <= INT64_MAX && lx__add_fits(at, lx__align_up(size, LX__TAR_BLOCK), end) &&
           *end <= INT64_MAX;
}

lx_status lx__tar_member_read(lx__input *input, size_t at, lx__tar_member *member, lx_error *error)
{
    extended found = {0};
    member->begin = at;
    for (;;) {
        uint64_t size;
        lx_status status = read_header(input, at, error);
        if (status != LX_OK)
            return status;
        const uint8_t *header = input->data + at;
        char type = (char)header[TYPE];
        bool is_extended = type == 'x' || type == 'g' || type == 'L' || type == 'K';
        if (!parse_number(header + SIZE, SIZE_SIZE, &size) ||
            !end_of(at + LX__TAR_BLOCK, size, &member->next))
            return fail_at(input, at, "the size of a member is invalid", error);
        if (is_extended) {
            status = read_extended(input, at, type, size, member, &found, error);
            if (status != LX_OK)
                return status;
            at = (size_t)member->next;
            continue;
        }
        if (!found.named)
            name_member(member, header);
        member->size = found.sized ? found.size : size;
        member->data = at + LX__TAR_BLOCK;
        member->type = type_of(type, &found);
        if (found.sized && !end_of(member->data, found.size, &member->next))
            return fail_at(input, at, "the size of a member is invalid", error);
        return LX_OK;
    }
}
