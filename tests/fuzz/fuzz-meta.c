/* SPDX-License-Identifier: MIT */
/* meta.json, and JSON itself: the input is the text, which gets the right checksum so that it
 * reaches
 * the parser. What is JSON here is JSON to jansson, too, and what is a meta.json is one again after
 * it was written and read. */
#include "fuzz.h"

#include "base/json.h"
#include "../stamp.h"
#include "memory.h"
#include "zrecord/format/meta-file.h"

/** Parses it as the library does, with jansson's own parser as the second opinion, which takes
 * more: other values than objects, any depth up to its own, as many values as there are, and some
 * texts with a NUL in them. Whether it is JSON. */
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

/** What was accepted is written and read again as the same. */
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
