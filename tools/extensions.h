/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Numbers of files by the extensions of their names.
 */
#ifndef LX_TOOLS_EXTENSIONS_H
#define LX_TOOLS_EXTENSIONS_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Further extensions count as one. */
#define EXTENSIONS_MAX 24
/* Of an extension with its dot; a longer one is no extension. */
#define EXTENSION_SIZE 12
/** Size of a buffer for extensions_print(). */
#define EXTENSIONS_TEXT (EXTENSIONS_MAX * (EXTENSION_SIZE + 22))

/** The numbers, in the order of the extensions; initialize with zeros. */
typedef struct extensions {
    struct {
        char name[EXTENSION_SIZE + 1]; /**< In small letters, with its dot. */
        uint64_t files;
    } list[EXTENSIONS_MAX];
    size_t count;
    uint64_t files; /**< In all. */
} extensions;

/** Counts a file. */
void extensions_add(extensions *self, const char *path);

/** Formats the numbers: ".bmp 2, .tif 1". Returns @p text, of #EXTENSIONS_TEXT bytes. */
const char *extensions_print(const extensions *self, char *text);

/** Returns the numbers as an object; NULL if memory runs out. */
json_t *extensions_to_json(const extensions *self);

#endif
