/* SPDX-License-Identifier: MIT */
/* LOG: a byte of options, then its bytes. A reader opens what is there, then a writer does and goes
 * on, then another reader. Since no fuzzer guesses a CRC, the frames are made valid if that is
 * asked for: then it is their rules and their sets that are tried. */
#include "fuzz.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "zrecord/format/frame.h"
#include "zrecord/store/log.h"

/* What the options mean. */
enum {
    REPAIR = 1,     /* sizes, epochs and CRCs are made right */
    THIS_BOOT = 2,  /* frames are of this boot */
    SENSIBLE = 4,   /* lengths, rows and chunks are not far beyond what there is */
    BASE_FIRST = 8, /* the first frame has the flags of one */
    HOW_SHIFT = 4,  /* how the reader opens it */
    READ_ONLY = 128 /* no writer does, which takes ten times as long */
};

#define LOG_MAX 65536u
#define CHUNKS 4
#define CHUNK_BYTES 4096

/** Numbers from which something can follow. */
static void make_sensible(uint8_t *frame, uint32_t chunks, uint32_t sets)
{
    lx__store_le64(frame + 16, lx__load_le64(frame + 16) % (FUZZ_ROWS * 2));
    lx__store_le64(frame + 24, lx__load_le64(frame + 24) % (FUZZ_ROWS + 1));
    lx__store_le32(frame + 44, lx__load_le32(frame + 44) & LX__FRAME_SYNCED);
    lx__store_le32(frame + 56, 0);
    lx__store_le32(frame + 60, CHUNKS);
    uint8_t *item = frame + LX__FRAME_HEADER;
    for (uint32_t i = 0; i < chunks; i++, item += LX__FRAME_CHUNK) {
        lx__store_le32(item, i);
        lx__store_le64(item + 8, lx__load_le64(item + 8) % (CHUNK_BYTES + 1));
    }
    for (uint32_t i = 0; i < sets; i++, item += LX__FRAME_SET) {
        lx__store_le32(item, lx__load_le32(item) % 5);
        lx__store_le32(item + 4, 0);
        lx__store_le64(item + 8, lx__load_le64(item + 8) % (FUZZ_ROWS * 2));
    }
    lx__store_le32(item, 0);
}

/** Makes frames of the bytes, one after another; returns how many bytes they have. */
static size_t repair(uint8_t *log, size_t size, unsigned options)
{
    lx__log_identity identity = {.generation = 0};
    size_t at = 0;
    uint32_t crc = 0;
    memcpy(identity.uuid, fuzz_uuid, sizeof fuzz_uuid);
    for (uint64_t epoch = 0; size - at >= LX__FRAME_HEADER + LX__FRAME_TRAILER; epoch++) {
        uint8_t *frame = log + at;
        size_t room = size - at - LX__FRAME_HEADER - LX__FRAME_TRAILER;
        uint32_t chunks = lx__load_le32(frame + 32) % (CHUNKS + 1);
        if (chunks * LX__FRAME_CHUNK > room)
            chunks = (uint32_t)(room / LX__FRAME_CHUNK);
        room -= chunks * LX__FRAME_CHUNK;
        uint32_t sets = lx__load_le32(frame + 36) % 64;
        if (sets * LX__FRAME_SET > room)
            sets = (uint32_t)(room / LX__FRAME_SET);
        uint32_t bytes = (uint32_t)lx__frame_size(chunks, sets);
        lx__store_le32(frame, LX__FRAME_MAGIC);
        lx__store_le32(frame + 4, bytes);
        lx__store_le64(frame + 8, epoch);
        lx__store_le32(frame + 32, chunks);
        lx__store_le32(frame + 36, sets);
        lx__store_le32(frame + 40, crc);
        if (options & SENSIBLE)
            make_sensible(frame, chunks, sets);
        if ((options & BASE_FIRST) && epoch == 0)
            lx__store_le32(frame + 44, LX__FRAME_BASE | LX__FRAME_SYNCED);
        if (options & THIS_BOOT)
            lx__store_le64(frame + 48, lx__boot_id());
        crc = lx__crc32c(lx__frame_crc_start(&identity), frame, bytes - 4);
        lx__store_le32(frame + bytes - 4, crc);
        at += bytes;
    }
    return at;
}

static void make_files(const uint8_t *log, size_t size)
{
    static const char *const stems[] = {"image", "label", "text", "blob"};
    static const uint8_t zeros[CHUNK_BYTES];
    char name[64];
    fuzz_write("log/LOG", log, size);
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        snprintf(name, sizeof name, "log/%s.offset", stems[i]);
        fuzz_write_sparse(name, "", 0, FUZZ_ROWS * LX__OFFSET_ROW);
        snprintf(name, sizeof name, "log/%s.check", stems[i]);
        fuzz_write_sparse(name, "", 0, FUZZ_ROWS * LX__CHECK_ROW);
    }
    for (unsigned i = 0; i < CHUNKS; i++) {
        snprintf(name, sizeof name, "log/chunk/%u.zr", i);
        fuzz_write(name, zeros, sizeof zeros);
    }
}

/** A writer that takes it goes on with it, and what it commits is there. */
static void write_on(const char *path)
{
    static const lx_value values[4] = {{"twelve bytes", 12}, {"12345678", 8}, {"text", 4},
                                       {NULL, LX_NONE}};
    lx_error error = LX_ERROR_INIT;
    lx_writer *writer;
    uint64_t index, length = 0;
    lx_status status = lx_writer_open(path, NULL, &writer, &error);
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
                  lx_status_name(status), (unsigned long long)length,
                  (unsigned long long)index + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    struct input input = {data, size};
    unsigned options = input_byte(&input);
    size_t length = LOG_MAX;
    const uint8_t *bytes = input_bytes(&input, &length);
    uint64_t records;
    if (!made)
        fuzz_make_dataset("log");
    made = true;
    uint8_t *log = need(malloc(length + 1));
    memcpy(log, bytes, length);
    if (options & REPAIR)
        length = repair(log, length, options);
    make_files(log, length);
    free(log);
    (void)fuzz_open_and_read(fuzz_path("log"), options >> HOW_SHIFT, &records);
    if (!(options & READ_ONLY))
        write_on(fuzz_path("log"));
    return 0;
}
