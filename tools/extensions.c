/* SPDX-License-Identifier: MIT */
#include "extensions.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

/** Gets the extension of a path, in small letters. */
static void find_extension(const char *path, char *name)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    size_t size = dot != NULL ? strlen(dot) : 0;
    if (size < 2 || size > EXTENSION_SIZE) {
        strcpy(name, "none");
        return;
    }
    for (size_t i = 0; i <= size; i++)
        name[i] = dot[i] >= 'A' && dot[i] <= 'Z' ? (char)(dot[i] - 'A' + 'a') : dot[i];
    for (size_t i = 0; i < size; i++)
        if (name[i] < ' ' || name[i] > '~') /* it is printed */
            name[i] = '?';
}

/** Finds where a name is or would be; returns whether it is there. */
static bool find(const extensions *self, const char *name, size_t *at)
{
    for (*at = 0; *at < self->count && strcmp(self->list[*at].name, name) < 0;)
        ++*at;
    return *at < self->count && strcmp(self->list[*at].name, name) == 0;
}

void extensions_add(extensions *self, const char *path)
{
    char name[EXTENSION_SIZE + 1];
    size_t at;
    find_extension(path, name);
    bool found = find(self, name, &at);
    if (!found && self->count >= EXTENSIONS_MAX - 1) {
        strcpy(name, "others");
        found = find(self, name, &at);
    }
    if (!found) {
        memmove(&self->list[at + 1], &self->list[at], (self->count - at) * sizeof *self->list);
        strcpy(self->list[at].name, name);
        self->list[at].files = 0;
        self->count++;
    }
    self->list[at].files++;
    self->files++;
}

const char *extensions_print(const extensions *self, char *text)
{
    size_t size = 0;
    *text = '\0';
    for (size_t i = 0; i < self->count; i++)
        size += (size_t)sprintf(text + size, "%s%s %" PRIu64, i != 0 ? ", " : "",
                                self->list[i].name, self->list[i].files);
    return text;
}

json_t *extensions_to_json(const extensions *self)
{
    json_t *object = json_object();
    for (size_t i = 0; i < self->count; i++)
        json_object_set_new(object, self->list[i].name, report_number(self->list[i].files));
    return object;
}
