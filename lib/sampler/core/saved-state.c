/* SPDX-License-Identifier: MIT */
#include "sampler/core/saved-state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"

#define CHECKSUM "crc32c"
/* Maximum size in bytes of a value's JSON that is written in full. */
#define SHORT_BYTES 512

json_t *lx__state_number(uint64_t value)
{
    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return json_string(digits);
}

/** Reads the digits of a number of 2^63 or more, without sign, space or leading zero. */
static bool read_digits(const char *text, uint64_t *value)
{
    uint64_t sum = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return *at == '\0' && *text != '0' && sum > INT64_MAX;
}

lx_status lx__state_get_number(const json_t *object, const char *key, uint64_t *value,
                               lx_error *error)
{
    const json_t *found = json_object_get(object, key);
    if (!json_is_string(found))
        return lx__json_get_integer(object, key, 0, INT64_MAX, value, error);
    if (read_digits(json_string_value(found), value))
        return LX_OK;
    return lx_fail(error, LX_ERR_CORRUPT, "\"%s\" must be a number from 2^63 to 2^64 - 1", key);
}

uint32_t lx__state_add(uint32_t crc, uint64_t word)
{
    uint8_t bytes[8];
    lx__store_le64(bytes, word);
    return lx__crc32c(crc, bytes, sizeof bytes);
}

json_t *lx__state_crc(uint32_t crc)
{
    char digits[9];
    snprintf(digits, sizeof digits, "%08" PRIx32, crc);
    return json_string(digits);
}

json_t *lx__state_digest(const json_t *value, size_t *bytes)
{
    char *text = value != NULL ? lx__json_text(value, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (text == NULL)
        return NULL;
    *bytes = strlen(text);
    uint32_t crc = lx__crc32c(0, text, *bytes);
    lx__free(text);
    return lx__state_crc(crc);
}

json_t *lx__state_shorten(json_t *value)
{
    size_t bytes = 0;
    json_t *digest = lx__state_digest(value, &bytes);
    if (digest != NULL && bytes <= SHORT_BYTES) {
        json_decref(digest);
        return value;
    }
    json_decref(value);
    return digest;
}

json_t *lx__state_new(const char *what, int version)
{
    json_t *state = json_object();
    if (json_object_set_new(state, "state", json_string(what)) == 0 &&
        json_object_set_new(state, "version", json_integer(version)) == 0)
        return state;
    json_decref(state);
    return NULL;
}

/**
 * Computes the checksum of the state, without the member that stores it, in a canonical form:
 * sorted keys, no spaces.
 */
static lx_status checksum(const json_t *state, char digits[9], lx_error *error)
{
    size_t bytes;
    json_t *bare = json_copy((json_t *)state), *digest = NULL;
    /* When out of memory, json_copy() may drop members silently. */
    if (bare != NULL && json_object_size(bare) == json_object_size(state)) {
        (void)json_object_del(bare, CHECKSUM); /* may fail: a new state has no checksum */
        digest = lx__state_digest(bare, &bytes);
    }
    json_decref(bare);
    if (digest == NULL)
        return lx__fail_memory(error, "a state");
    snprintf(digits, 9, "%s", json_string_value(digest));
    json_decref(digest);
    return LX_OK;
}

lx_status lx__state_write(json_t *state, char *text, size_t size, size_t *length, lx_error *error)
{
    char digits[9];
    lx_status status = checksum(state, digits, error);
    if (status != LX_OK)
        return status;
    char *whole = NULL;
    if (json_object_set_new(state, CHECKSUM, json_string(digits)) == 0)
        whole = lx__json_text(state, JSON_COMPACT);
    if (whole == NULL)
        return lx__fail_memory(error, "a state");

    size_t needed = strlen(whole);
    if (length != NULL)
        *length = needed;
    if (size > needed) {
        memcpy(text, whole, needed + 1);
    } else if (size != 0) {
        text[0] = '\0';
        status = lx_fail(error, LX_ERR_LIMIT,
                         "the state requires %zu bytes, but the buffer has only %zu", needed + 1,
                         size);
    }
    lx__free(whole);
    return status;
}

static lx_status check_head(const json_t *state, const char *what, int version, lx_error *error)
{
    const char *found;
    uint64_t number;
    lx_status status = lx__json_get_text(state, "state", &found, error);
    if (status != LX_OK)
        return status;
    if (strcmp(found, what) != 0)
        return lx_fail(error, LX_ERR_MISMATCH, "this is the state of a %.40s, not of a %s", found,
                       what);
    status = lx__json_get_integer(state, "version", 0, INT64_MAX, &number, error);
    if (status == LX_OK && number != (uint64_t)version)
        status = lx_fail(
            error, LX_ERR_UNSUPPORTED,
            "the state has version %" PRIu64
            ", but this library reads version %d: use the version of libloaderx that wrote it",
            number, version);
    return status;
}

lx_status lx__state_parse(const char *text, const char *what, int version, json_t **state,
                          lx_error *error)
{
    lx_status status = lx__json_parse(text, strlen(text), state, error);
    if (status == LX_ERR_LIMIT) { /* a state never has so many values */
        status = LX_ERR_CORRUPT;
        if (error != NULL && error->status == LX_ERR_LIMIT)
            error->status = status;
    }
    if (status != LX_OK)
        return status;
    status = check_head(*state, what, version, error);
    if (status != LX_OK) {
        json_decref(*state);
        *state = NULL;
    }
    return status;
}

lx_status lx__state_check(const json_t *state, lx_error *error)
{
    const char *found;
    char digits[9];
    lx_status status = lx__json_get_text(state, CHECKSUM, &found, error);
    if (status == LX_OK)
        status = checksum(state, digits, error);
    if (status == LX_OK && strcmp(found, digits) != 0)
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "the state was changed after it was written: its \"" CHECKSUM
                         "\" is %.16s, but the checksum of its content is %s",
                         found, digits);
    return status;
}

/* ---- comparison */

/** Where the second of two texts first differs from the first one, less a few characters. */
static size_t find_difference(const char *one, const char *other)
{
    size_t i = 0;
    while (one[i] != '\0' && one[i] == other[i])
        i++;
    i = i > 12 ? i - 12 : 0;
    while (i > 0 && ((unsigned char)one[i] & 0xC0) == 0x80) /* within a character of UTF-8 */
        i--;
    return i;
}

/** Prints JSON for an error message; of long JSON, only the part that begins at @p from. */
static void print_part(const char *json, size_t from, char *text, size_t size)
{
    if (strlen(json) < size)
        snprintf(text, size, "%s", json);
    else
        snprintf(text, size, "%s%.40s%s", from == 0 ? "" : "...", json + from,
                 strlen(json + from) > 40 ? "..." : "");
}

/** Prints two values that differ; NULL leaves the text as it is. */
static void print_values(const json_t *theirs, const json_t *ours, char *there, char *here,
                         size_t size)
{
    char *one = theirs != NULL ? lx__json_text(theirs, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    char *other = ours != NULL ? lx__json_text(ours, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    size_t from = one != NULL && other != NULL ? find_difference(one, other) : 0;
    if (theirs != NULL)
        print_part(one != NULL ? one : "something", from, there, size);
    if (ours != NULL)
        print_part(other != NULL ? other : "something", from, here, size);
    lx__free(one);
    lx__free(other);
}

/** Whether the value is the length of a source that has more records than when the state was saved.
 * Datasets that have grown are reported elsewhere. */
static bool has_grown(const char *path, const char *key, const json_t *theirs, const json_t *ours)
{
    return strncmp(path, "source", 6) == 0 && strcmp(key, ".length") == 0 &&
           json_is_integer(theirs) && json_integer_value(ours) > json_integer_value(theirs);
}

static lx_status fail_difference(const char *path, const json_t *theirs, const json_t *ours,
                                 lx_error *error)
{
    char there[64] = "missing", here[64] = "unknown", advice[200] = "use the value from the state";
    print_values(theirs, ours, there, here, sizeof there);
    const char *key = strrchr(path, '.') != NULL ? strrchr(path, '.') : path;
    if (strcmp(key, ".uuid") == 0)
        snprintf(advice, sizeof advice,
                 "this is a different dataset; read the original or a backup of it");
    else if (has_grown(path, key, theirs, ours))
        snprintf(advice, sizeof advice,
                 "to continue with the first %.20s records, pass only those, such as array[:%.20s] "
                 "in Python or a file that ends after them",
                 there, there);
    return lx_fail(error, LX_ERR_MISMATCH,
                   "\"%s\" is %s in the state, but %s here: %s, or start without the state", path,
                   there, here, advice);
}

static lx_status match(const char *path, const json_t *theirs, const json_t *ours, lx_error *error);

static lx_status match_key(const char *path, const char *key, const json_t *theirs,
                           const json_t *ours, lx_error *error)
{
    char inner[192];
    snprintf(inner, sizeof inner, "%s.%s", path, key);
    return match(inner, json_object_get(theirs, key), json_object_get(ours, key), error);
}

/** Compares the length last, because it may follow from the lengths of parts. */
static lx_status match_objects(const char *path, const json_t *theirs, json_t *ours,
                               lx_error *error)
{
    char inner[192];
    const char *key;
    json_t *value;
    lx_status status = LX_OK;
    json_object_foreach(ours, key, value)
    {
        if (strcmp(key, "length") != 0)
            status = match_key(path, key, theirs, ours, error);
        if (status != LX_OK)
            return status;
    }
    if (json_object_get(ours, "length") != NULL)
        status = match_key(path, "length", theirs, ours, error);
    if (status != LX_OK)
        return status;
    json_object_foreach((json_t *)theirs, key, value)
    {
        if (json_object_get(ours, key) != NULL)
            continue;
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        return fail_difference(inner, value, NULL, error);
    }
    return LX_OK;
}

static lx_status match_arrays(const char *path, const json_t *theirs, const json_t *ours,
                              lx_error *error)
{
    char inner[192];
    size_t size = json_array_size(ours);
    if (json_array_size(theirs) > size)
        size = json_array_size(theirs);
    for (size_t i = 0; i < size; i++) {
        snprintf(inner, sizeof inner, "%s[%zu]", path, i);
        lx_status status = match(inner, json_array_get(theirs, i), json_array_get(ours, i), error);
        if (status != LX_OK)
            return status;
    }
    return LX_OK;
}

/** Compares @p theirs with @p ours recursively; NULL counts as a difference. */
static lx_status match(const char *path, const json_t *theirs, const json_t *ours, lx_error *error)
{
    if (json_is_object(ours) && json_is_object(theirs))
        return match_objects(path, theirs, (json_t *)ours, error);
    if (json_is_array(ours) && json_is_array(theirs))
        return match_arrays(path, theirs, ours, error);
    if (ours != NULL && theirs != NULL && json_equal(theirs, ours))
        return LX_OK;
    return fail_difference(path, theirs, ours, error);
}

lx_status lx__state_match(const char *path, const json_t *theirs, const json_t *ours,
                          lx_error *error)
{
    return match(path, theirs, ours, error);
}
