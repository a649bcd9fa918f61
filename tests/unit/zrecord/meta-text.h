/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A meta.json, and ways to change it.
 */
#ifndef LX_TESTS_META_TEXT_H
#define LX_TESTS_META_TEXT_H

/* meta.json with hostile content: doc/zrecord-format.md, section 4. */
#include "zrecord/format/meta-file.h"

#include "base/alloc.h"
#include "records.h"

/** The example of the document. */
static const char example[] =
    "{\n"
    "  \"format\": [1, 0],\n"
    "  \"features\": {\"must\": [], \"may\": []},\n"
    "  \"generation\": 0,\n"
    "  \"uuid\": \"00112233-4455-6677-8899-aabbccddeeff\",\n"
    "  \"sealed\": false,\n"
    "  \"length\": 0,\n"
    "  \"chunks\": {\"num\": 0, \"size\": 1048576, \"limit\": 1073741824, \"unfull\": []},\n"
    "  \"next_field\": 3,\n"
    "  \"fields\": [\n"
    "    {\"id\": 0, \"name\": \"image\", \"stem\": \"image\", \"dtype\": \"uint8\","
    " \"shape\": [3, 4],\n"
    "     \"compress\": \"raw\", \"align\": 4, \"dict\": null},\n"
    "    {\"id\": 1, \"name\": \"label\", \"stem\": \"label\", \"dtype\": \"int64\","
    " \"shape\": [],\n"
    "     \"compress\": \"raw\", \"align\": 8, \"dict\": null},\n"
    "    {\"id\": 2, \"name\": \"caption\", \"stem\": \"caption\", \"dtype\": \"bytes\","
    " \"shape\": [],\n"
    "     \"compress\": \"flate\", \"align\": 8, \"dict\": null}\n"
    "  ]\n"
    "}\n";

/** The example with another text in place of a part of it. */
struct edit {
    const char *name;
    const char *from, *to;
    lx_status status;
    const char *said;
};

#define BAD LX_ERR_CORRUPT
#define NEW LX_ERR_UNSUPPORTED
#define IMAGE_SHAPE "\"shape\": [3, 4]"
#define IMAGE_NAME "\"name\": \"image\""
#define IMAGE_STEM "\"stem\": \"image\""
#define CAPTION_TAIL "\"compress\": \"flate\", \"align\": 8, \"dict\": null"
#define UNFULL "\"unfull\": []"
#define SIXTEEN "1234567890123456"

/** The example with one part replaced, for free(). */
static inline char *edited(const struct edit *edit)
{
    const char *at = strstr(example, edit->from);
    ck_assert_msg(at != NULL, "%s: there is no %s", edit->name, edit->from);
    size_t before = (size_t)(at - example);
    char *text = malloc(sizeof example + strlen(edit->to));
    memcpy(text, example, before);
    strcpy(text + before, edit->to);
    strcat(text, at + strlen(edit->from));
    return text;
}

/** Parses a text after restamping its checksum. */
static inline lx_status parse(lx__meta *meta, const char *text, size_t size, lx_error *error)
{
    size_t restamped_size;
    char *restamped = stamped(text, size, &restamped_size);
    lx_status status = lx__meta_parse(meta, restamped, restamped_size, LX__META_CHECK, error);
    free(restamped);
    return status;
}

/** Reads meta.json of the present directory. */
static inline lx_status read_here(lx__meta *meta, lx_error *error)
{
    lx__file here, file;
    *meta = (lx__meta){0};
    ck_assert_int_eq(lx__directory_open(&here, LX__CWD, ".", error), LX_OK);
    lx_status status = lx__file_open(&file, &here, "meta.json", O_RDONLY, error);
    if (status == LX_OK)
        status = lx__meta_read(meta, &file, LX__META_CHECK, error);
    lx__file_close(&file);
    lx__file_close(&here);
    return status;
}

#endif
