/* SPDX-License-Identifier: MIT */
#include "base/redact.h"

#include <stdbool.h>
#include <string.h>

#define MARK "://"

/** Whether the scheme that ends at @p mark is @p scheme. */
static bool has_scheme(const char *text, const char *mark, const char *scheme)
{
    size_t size = strlen(scheme);
    return (size_t)(mark - text) >= size && memcmp(mark - size, scheme, size) == 0;
}

/** Returns the last "@" before @p end; NULL if there is none. */
static char *find_at(char *begin, char *end)
{
    while (end > begin)
        if (*--end == '@')
            return end;
    return NULL;
}

/** Finds what ends a user and a password. Passwords that are not encoded may contain a slash: then
 * what precedes it is no number of a port. */
static char *find_user_end(char *host, char *host_end, char *end)
{
    char *at = find_at(host, host_end);
    const char *colon = *host == '[' ? NULL : memchr(host, ':', (size_t)(host_end - host));
    if (at != NULL || colon == NULL || colon + 1 + strspn(colon + 1, "0123456789") >= host_end)
        return at;
    return find_at(host, end);
}

/** Removes the bytes from @p begin to @p end of a text, which ends at @p last. */
static void cut(char *begin, const char *end, const char *last)
{
    size_t kept = (size_t)(last - end);
    memmove(begin, end, kept);
    memset(begin + kept, 0, (size_t)(end - begin)); /* leaves no secret after the text */
}

/** Redacts the URL that has its "://" at @p mark, and ends at @p end of a text. */
static void redact(const char *text, char *mark, char *end)
{
    /* There, a query is a part of a name. */
    bool plain = has_scheme(text, mark, "s3") || has_scheme(text, mark, "file");
    char *host = mark + strlen(MARK), *last = end + strlen(end);
    char *host_end = host + strcspn(host, plain ? "/" : "/?#");
    char *at = find_user_end(host, host_end < end ? host_end : end, end);
    if (at != NULL) {
        cut(host, at + 1, last);
        last -= at + 1 - host;
        end -= at + 1 - host;
    }
    char *query = host + strcspn(host, "?#");
    if (!plain && query < end)
        cut(query, end, last);
}

void lx_url_redact(char *url)
{
    for (char *mark = url; (mark = strstr(mark, MARK)) != NULL; mark += strlen(MARK))
        redact(url, mark, url + strlen(url));
}

void lx__redact(char *text)
{
    for (char *mark = text; (mark = strstr(mark, MARK)) != NULL; mark += strlen(MARK)) {
        char *end = mark + strcspn(mark, " \t\n\"<>");
        while (strchr("'),.:;]}", end[-1]) != NULL)
            end--;
        redact(text, mark, end);
    }
}
