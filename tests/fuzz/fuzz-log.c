/* SPDX-License-Identifier: MIT */
/* LOG, the whole form: a byte of options, then its bytes. A reader opens what is there, with tables
 * and chunks, then a writer does and continues, then another reader. fuzz-replay.c takes the same
 * inputs, and only replays them: that is where most executions belong. What only this form finds is
 * what comes of a log: entries of updates that are read, recovery, commits after hostile frames. */
#include "fuzz.h"

#include "frames.h"
#include "memory.h"

/** A writer that takes it continues with it, and what it commits is there. */
static void write_on(const char *path)
{
    static const lx_value values[4] = {
        {"twelve bytes", 12}, {"12345678", 8}, {"text", 4}, {NULL, LX_NONE}};
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    uint64_t index, length = 0;
    lx_writer_options *options = need(lx_writer_options_new());
    (void)lx_writer_options_set_executor(options, fuzz_executor(), NULL);
    lx_status status = lx_writer_open(path, options, &writer, &error);
    lx_writer_options_free(options);
    if (status != error.status)
        fuzz_fail("the error is not that of the status");
    if (status != LX_OK)
        return;
    status = lx_writer_append(writer, values, &index, &error);
    lx_status closed = lx_writer_close(writer, status == LX_OK ? &error : NULL);
    if (status != LX_OK || closed != LX_OK)
        return;
    status = fuzz_open_and_read(path, LX_VERIFY_ALWAYS, &length);
    if (status != LX_OK || length != index + 1)
        fuzz_fail("a writer left what is read as %s, %llu records instead of %llu",
                  lx_status_get_name(status), (unsigned long long)length,
                  (unsigned long long)index + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    static uint8_t log[FRAMES_MAX];
    struct input input = {data, size};
    unsigned options = input_byte(&input);
    uint64_t records;
    fuzz_keep_large();
    fuzz_json_begin();
    if (!made)
        fuzz_make_dataset("log");
    made = true;
    frames_write("log", log, frames_make(input.data, input.size, options, log));
    (void)fuzz_open_and_read(fuzz_path("log"), options >> FRAMES_HOW_SHIFT & 7, &records);
    if (!(options & FRAMES_READ_ONLY))
        write_on(fuzz_path("log"));
    fuzz_json_end();
    return 0;
}
