/* SPDX-License-Identifier: MIT */
#include "zrecord/format/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zrecord/format/schema.h"

void lx__wal_name(uint64_t generation, char *name)
{
    if (generation == 0)
        snprintf(name, LX__NAME_SIZE, LX__WAL_NAME);
    else
        snprintf(name, LX__NAME_SIZE, LX__WAL_NAME ".%" PRIu64, generation);
}

void lx__chunk_name(uint32_t id, char *name)
{
    snprintf(name, LX__NAME_SIZE, "%" PRIu32 ".zr", id);
}

void lx__table_name(const char *stem, const char *kind, uint32_t table_generation, char *name)
{
    if (table_generation == 0)
        snprintf(name, LX__NAME_SIZE, "%s.%s", stem, kind);
    else
        snprintf(name, LX__NAME_SIZE, "%s.%s.%" PRIu32, stem, kind, table_generation);
}

/** Parses @p length characters of @p text as a number without leading zeros. */
static bool parse_number(const char *text, size_t length, uint64_t *number)
{
    char copy[24];
    if (length == 0 || length > 19 || (text[0] == '0' && length != 1))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strspn(copy, "0123456789") != length)
        return false;
    *number = strtoull(copy, NULL, 10);
    return true;
}

/** Whether @p name is @p first alone, or @p first followed by a dot and a nonzero generation. */
static bool parse_generation(const char *name, const char *first, uint64_t *generation)
{
    size_t length = strlen(first);
    *generation = 0;
    if (strncmp(name, first, length) != 0)
        return false;
    if (name[length] == '\0')
        return true;
    return name[length] == '.' &&
           parse_number(name + length + 1, strlen(name + length + 1), generation) &&
           *generation != 0;
}

bool lx__name_is_log(const char *name, uint64_t *generation)
{
    return parse_generation(name, LX__WAL_NAME, generation);
}

bool lx__name_is_chunk(const char *name, uint64_t *id)
{
    const char *dot = strchr(name, '.');
    return dot != NULL && strcmp(dot, ".zr") == 0 && parse_number(name, (size_t)(dot - name), id) &&
           *id <= LX__CHUNK_ID_MAX;
}

bool lx__part_path_valid(const char *path)
{
    char name[LX_MAX_FIELD_NAME + 1];
    if (strlen(path) > LX__PART_PATH_MAX)
        return false;
    for (int depth = 0; depth < LX__PART_DEPTH_MAX; depth++) {
        size_t length = strcspn(path, "/");
        if (length > LX_MAX_FIELD_NAME)
            return false;
        memcpy(name, path, length);
        name[length] = '\0';
        if (!lx__field_name_valid(name))
            return false;
        if (path[length] == '\0')
            return true;
        path += length + 1;
    }
    return false;
}

bool lx__stem_valid(const char *stem)
{
    char name[LX_MAX_FIELD_NAME + 1];
    size_t length = strcspn(stem, "~");
    if (length > LX_MAX_FIELD_NAME)
        return false;
    memcpy(name, stem, length);
    name[length] = '\0';
    if (!lx__field_name_valid(name))
        return false;
    if (stem[length] == '\0')
        return true;
    uint64_t number;
    const char *digits = stem + length + 1;
    return parse_number(digits, strlen(digits), &number) && number >= 1 && number <= UINT32_MAX;
}

/** Whether the first @p length characters of @p name are a stem, a dot and @p kind; sets @p
 * stem. */
static bool split_kind(const char *name, size_t length, const char *kind, char *stem)
{
    size_t tail = strlen(kind) + 1;
    if (length <= tail || length - tail >= LX__NAME_SIZE || name[length - tail] != '.' ||
        memcmp(name + length - tail + 1, kind, tail - 1) != 0)
        return false;
    memcpy(stem, name, length - tail);
    stem[length - tail] = '\0';
    return lx__stem_valid(stem);
}

bool lx__name_split_table(const char *name, char *stem, uint64_t *table_generation)
{
    size_t length = strlen(name);
    const char *dot = strrchr(name, '.');
    *table_generation = 0;
    if (dot != NULL && parse_number(dot + 1, strlen(dot + 1), table_generation)) {
        if (*table_generation == 0 || *table_generation > UINT32_MAX)
            return false;
        length = (size_t)(dot - name);
    }
    return split_kind(name, length, LX__OFFSET_KIND, stem) ||
           split_kind(name, length, LX__CHECK_KIND, stem);
}

bool lx__name_split_dict(const char *name, char *stem)
{
    return split_kind(name, strlen(name), LX__DICT_KIND, stem);
}

void lx__dict_name(const char *stem, char *name)
{
    snprintf(name, LX__NAME_SIZE, "%s." LX__DICT_KIND, stem);
}
