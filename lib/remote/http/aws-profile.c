/* SPDX-License-Identifier: MIT */
#include "remote/http/aws-profile.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "remote/http/span.h"
#include "remote/http/wipe.h"

static bool is_text(lx__span span, const char *text)
{
    return span.size == strlen(text) && memcmp(span.at, text, span.size) == 0;
}

/** Takes the next line off @p rest, without its newline. */
static lx__span next_line(lx__span *rest)
{
    const char *end = memchr(rest->at, '\n', rest->size);
    lx__span line = {rest->at, end != NULL ? (size_t)(end - rest->at) : rest->size};
    size_t passed = line.size + (end != NULL);
    rest->at += passed;
    rest->size -= passed;
    return line;
}

/** Whether @p line is "[section]". */
static bool is_section(lx__span line, const char *section)
{
    const char *end = memchr(line.at, ']', line.size);
    return end != NULL &&
           is_text(lx__span_trim((lx__span){line.at + 1, (size_t)(end - line.at) - 1}), section);
}

bool lx__aws_profile_find(const char *text, size_t size, const char *section, const char *key,
                          char *value, size_t capacity)
{
    bool inside = false, fits = true;
    for (lx__span rest = {text, size}; rest.size > 0;) {
        lx__span line = next_line(&rest);
        if (line.size == 0 || lx__span_is_space(*line.at) || *line.at == '#' || *line.at == ';')
            continue;
        if (*line.at == '[') {
            inside = is_section(line, section);
            continue;
        }
        const char *equals = inside ? memchr(line.at, '=', line.size) : NULL;
        if (equals == NULL ||
            !is_text(lx__span_trim((lx__span){line.at, (size_t)(equals - line.at)}), key))
            continue;
        lx__span found =
            lx__span_trim((lx__span){equals + 1, line.size - (size_t)(equals - line.at) - 1});
        fits = found.size < capacity && memchr(found.at, '\0', found.size) == NULL;
        if (fits) {
            memcpy(value, found.at, found.size);
            value[found.size] = '\0';
        }
    }
    return fits;
}

/** Gets a setting from one file; leaves @p value unchanged if it is not there. */
static lx_status get_from(const char *path, const char *section, const char *key, char *value,
                          size_t capacity, lx_error *error)
{
    lx_error failure = LX_ERROR_INIT;
    lx__file file = LX__FILE_CLOSED;
    char *text = NULL;
    size_t size = 0;
    lx_status status = lx__file_open(&file, LX__CWD, path, O_RDONLY, &failure);
    if (status == LX_ERR_NOT_FOUND)
        return LX_OK;
    if (status == LX_OK)
        status = lx__file_read_all(&file, LX__AWS_FILE_SIZE, &text, &size, &failure);
    lx__file_close(&file);
    if (status == LX_OK && !lx__aws_profile_find(text, size, section, key, value, capacity))
        status = lx_fail(&failure, LX_ERR_LIMIT, "the value of %s in section [%s] is too long", key,
                         section);
    lx_error_locate(&failure, path, NULL, LX_NONE, LX_NONE);
    lx__error_propagate(error, &failure);
    if (text != NULL)
        lx__wipe(text, size);
    lx__free(text);
    return status;
}

/** Gets a setting from the file that a variable names, or from that in ~/.aws. */
static lx_status get_from_either(const lx__aws_environment *environment, int variable,
                                 const char *name, const char *section, const char *key,
                                 char *value, size_t capacity, lx_error *error)
{
    if (environment->value[variable] != NULL)
        return get_from(environment->value[variable], section, key, value, capacity, error);
    if (environment->home == NULL)
        return LX_OK;
    char *path = lx__path_join(environment->home, name);
    if (path == NULL)
        return lx__fail_memory(error, "the name of a file");
    lx_status status = get_from(path, section, key, value, capacity, error);
    lx__free(path);
    return status;
}

lx_status lx__aws_profile_get(const lx__aws_environment *environment, const char *key, char *value,
                              size_t capacity, lx_error *error)
{
    char section[256];
    const char *profile = environment->value[LX__AWS_PROFILE];
    if (profile == NULL)
        profile = "default";
    if (strlen(profile) > sizeof section - sizeof "profile ")
        return lx_fail(error, LX_ERR_LIMIT, "AWS_PROFILE is too long");
    snprintf(section, sizeof section, "%s%s", strcmp(profile, "default") == 0 ? "" : "profile ",
             profile);

    *value = '\0';
    lx_status status = get_from_either(environment, LX__AWS_SHARED_CREDENTIALS_FILE,
                                       ".aws/credentials", profile, key, value, capacity, error);
    if (status == LX_OK && *value == '\0')
        status = get_from_either(environment, LX__AWS_CONFIG_FILE, ".aws/config", section, key,
                                 value, capacity, error);
    return status;
}
