/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

static bool too_deep(const json_t *value, int depth)
{
    if (!json_is_object(value) && !json_is_array(value))
        return false;
    if (depth == 0)
        return true;

    size_t index;
    const char *key;
    json_t *part;
    if (json_is_array(value)) {
        json_array_foreach(value, index, part) if (too_deep(part, depth - 1)) return true;
    } else {
        json_object_foreach((json_t *)value, key, part) if (too_deep(part, depth - 1)) return true;
    }
    return false;
}

/** The result of scanning the text without parsing it. In invalid JSON, the scan covers at least
 * the part before the first error, where the parser stops. */
typedef struct bounds {
    size_t values;       /**< Upper limit: each value but the outermost follows one of "{[,". */
    size_t longest_word; /**< Bytes of the longest number or other word outside strings. */
} bounds;

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '-' || c == '.';
}

static bounds find_bounds(const char *text, size_t size)
{
    bounds found = {.values = 1};
    bool in_string = false;
    size_t word = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (in_string) {
            in_string = c != '"';
            i += c == '\\';
            continue;
        }
        word = is_word(c) ? word + 1 : 0;
        if (word > found.longest_word)
            found.longest_word = word;
        in_string = c == '"';
        found.values += c == '{' || c == '[' || c == ',';
    }
    return found;
}

static lx_status fail_text(const json_error_t *what, lx_error *error)
{
    /* jansson gives no reason if it cannot allocate its own buffers. */
    if (json_error_code(what) == json_error_out_of_memory || what->text[0] == '\0')
        return lx__fail_memory(error, "JSON");
    return lx_fail(error, LX_ERR_CORRUPT, "invalid JSON at line %d, column %d: %s", what->line,
                   what->column, what->text);
}

/** Parses twice: when an allocation for a string fails, jansson may silently drop characters or
 * report invalid JSON. */
static lx_status load(const char *text, size_t size, json_t **value, lx_error *error)
{
    json_error_t what;
    json_t *first = json_loadb(text, size, JSON_REJECT_DUPLICATES, &what);
    json_t *again = json_loadb(text, size, JSON_REJECT_DUPLICATES, &what);
    lx_status status = LX_OK;
    if (first == NULL && again == NULL)
        status = fail_text(&what, error);
    else if (!json_equal(first, again))
        status = lx__fail_memory(error, "JSON");
    json_decref(again);
    if (status == LX_OK)
        *value = first;
    else
        json_decref(first);
    return status;
}

lx_status lx__json_parse(const char *text, size_t size, json_t **object, lx_error *error)
{
    json_t *value;
    bounds found = find_bounds(text, size);
    if (found.longest_word > LX__JSON_NUMBER)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "the JSON contains a number longer than %d characters", LX__JSON_NUMBER);
    if (found.values > LX__JSON_VALUES)
        return lx_fail(error, LX_ERR_LIMIT, "the JSON contains more than %zu values",
                       LX__JSON_VALUES);
    lx_status status = load(text, size, &value, error);
    if (status != LX_OK)
        return status;
    if (!json_is_object(value))
        status = lx_fail(error, LX_ERR_CORRUPT, "the JSON text is not an object");
    else if (too_deep(value, LX__JSON_DEPTH))
        status = lx_fail(error, LX_ERR_CORRUPT, "the JSON is nested more than %d levels deep",
                         LX__JSON_DEPTH);
    if (status == LX_OK)
        *object = value;
    else
        json_decref(value);
    return status;
}

static const char *type_name(json_type type)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null"};
    return names[type];
}

static lx_status get_any(const json_t *object, const char *key, json_t **value, lx_error *error)
{
    *value = json_object_get(object, key);
    return *value != NULL ? LX_OK : lx_fail(error, LX_ERR_CORRUPT, "\"%s\" is missing", key);
}

lx_status lx__json_get(const json_t *object, const char *key, json_type type, json_t **value,
                       lx_error *error)
{
    lx_status status = get_any(object, key, value, error);
    if (status != LX_OK || json_typeof(*value) == type)
        return status;
    return lx_fail(error, LX_ERR_CORRUPT, "\"%s\" must be %s, not %s", key, type_name(type),
                   type_name(json_typeof(*value)));
}

lx_status lx__json_get_integer(const json_t *object, const char *key, uint64_t least, uint64_t most,
                               uint64_t *value, lx_error *error)
{
    json_t *found;
    lx_status status = lx__json_get(object, key, JSON_INTEGER, &found, error);
    if (status != LX_OK)
        return status;
    json_int_t number = json_integer_value(found);
    if (number < 0 || (uint64_t)number < least || (uint64_t)number > most)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "\"%s\" is %" JSON_INTEGER_FORMAT ", but must be from %llu to %llu", key,
                       number, (unsigned long long)least, (unsigned long long)most);
    *value = (uint64_t)number;
    return LX_OK;
}

lx_status lx__json_get_text(const json_t *object, const char *key, const char **value,
                            lx_error *error)
{
    json_t *found;
    lx_status status = lx__json_get(object, key, JSON_STRING, &found, error);
    if (status == LX_OK)
        *value = json_string_value(found);
    return status;
}

lx_status lx__json_get_bool(const json_t *object, const char *key, bool *value, lx_error *error)
{
    json_t *found;
    lx_status status = get_any(object, key, &found, error);
    if (status != LX_OK)
        return status;
    if (!json_is_boolean(found))
        return lx_fail(error, LX_ERR_CORRUPT, "\"%s\" must be true or false, not %s", key,
                       type_name(json_typeof(found)));
    *value = json_is_true(found);
    return LX_OK;
}

char *lx__json_text(const json_t *object, size_t flags)
{
    size_t size = json_dumpb(object, NULL, 0, flags);
    char *text = size != 0 ? lx__alloc(size + 1) : NULL;
    if (text == NULL)
        return NULL;
    /* This can fail even though the first call succeeded: sorting the keys allocates memory. */
    if (json_dumpb(object, text, size, flags) != size) {
        lx__free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}
