/* SPDX-License-Identifier: MIT */
/* meta.json, and the JSON parser: the input is the text, which gets a valid checksum so that it
 * reaches the parser. Text that the library accepts as JSON must be JSON for jansson, too, and an
 * accepted meta.json must stay the same when it is written and read again. */
#include "fuzz.h"

#include "base/json.h"
#include "../stamp.h"
#include "memory.h"
#include "zrecord/format/meta-file.h"

/** Returns whether the library accepts the text as JSON, and compares this with jansson's own
 * parser, which accepts more: values that are not objects, any depth up to its own limit, any
 * number of values, and some texts with a NUL. */
static bool compare(const char *text, size_t size)
{
    json_t *ours = NULL, *theirs = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx__json_parse(text, size, &ours, &error);
    if (status != error.status || (status == LX_OK) != (ours != NULL))
        fuzz_fail("the error is not that of the status");
    if (status == LX_OK && (theirs == NULL || !json_equal(ours, theirs)))
        fuzz_fail("jansson reads it in another way");
    if (status == LX_ERR_CORRUPT && json_is_object(theirs) &&
        strstr(error.message, "nested") == NULL && strstr(error.message, "characters") == NULL &&
        memchr(text, '\0', size) == NULL)
        fuzz_fail("jansson reads it: %s", error.message);
    json_decref(ours);
    json_decref(theirs);
    return status == LX_OK;
}

/** An accepted meta.json must stay the same when it is written and read again. */
static void write_again(const lx__meta *meta)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta again = {0};
    char *text = lx__json_text(meta->document, JSON_COMPACT);
    if (text == NULL)
        fuzz_fail("it cannot be written");
    size_t size;
    char *whole = stamped(text, strlen(text), &size);
    if (lx__meta_parse(&again, whole, size, LX__META_CHECK, &error) != LX_OK)
        fuzz_fail("what was written is refused: %s", error.message);
    if (!json_equal(meta->document, again.document))
        fuzz_fail("what was written is another");
    lx__meta_free(&again);
    free(whole);
    free(text);
}

/** No chunk of a joined dataset may be outside its directory. */
static void look_at_paths(const lx__meta *meta)
{
    char path[LX__CHUNK_PATH_SIZE];
    for (size_t i = 0; i < meta->run_count; i++) {
        const lx__chunk_run *run = &meta->runs[i];
        lx__meta_get_chunk_path(meta, run->first + (run->count - 1), path);
        if (path[0] == '/' || path[0] == '.' || strstr(path, "/.") != NULL ||
            strstr(path, "//") != NULL || strstr(path, "/chunk/") == NULL)
            fuzz_fail("a chunk is at '%s'", path);
    }
}

static void try_meta(const char *text, size_t size)
{
    lx__meta meta = {0};
    lx_error error = LX_ERROR_INIT;
    lx_status status = lx__meta_parse(&meta, text, size, LX__META_CHECK, &error);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    char *whole = stamped(text, size, &size);
    lx__meta_free(&meta);
    status = lx__meta_parse(&meta, whole, size, LX__META_CHECK, NULL);
    free(whole);
    if (status != LX_OK)
        return;
    write_again(&meta);
    look_at_paths(&meta);
    lx__meta_free(&meta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    fuzz_json_begin();
    if (compare(text, size))
        try_meta(text, size);
    fuzz_json_end();
    return 0;
}
