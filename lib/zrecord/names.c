/* SPDX-License-Identifier: MIT */
#include "zrecord/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lx__log_name(uint64_t generation, char *name)
{
    if (generation == 0)
        snprintf(name, LX__NAME_SIZE, LX__LOG_NAME);
    else
        snprintf(name, LX__NAME_SIZE, LX__LOG_NAME ".%" PRIu64, generation);
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

/** The number that @p length characters of @p text are, without leading zeros; false if none. */
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

/** Whether @p name is @p first, or that, a dot and a number: 0 has none. */
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
    return parse_generation(name, LX__LOG_NAME, generation);
}

bool lx__name_is_chunk(const char *name, uint64_t *id)
{
    const char *dot = strchr(name, '.');
    return dot != NULL && strcmp(dot, ".zr") == 0 &&
           parse_number(name, (size_t)(dot - name), id) && *id <= LX__CHUNK_ID_MAX;
}

bool lx__name_is_table(const char *name, const char *stem, uint64_t *table_generation)
{
    char first[LX__NAME_SIZE];
    lx__table_name(stem, LX__OFFSET_KIND, 0, first);
    if (parse_generation(name, first, table_generation))
        return true;
    lx__table_name(stem, LX__CHECK_KIND, 0, first);
    return parse_generation(name, first, table_generation);
}

void lx__dict_name(const char *stem, char *name)
{
    snprintf(name, LX__NAME_SIZE, "%s.dict", stem);
}
