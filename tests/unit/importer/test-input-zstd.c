/* SPDX-License-Identifier: MIT */
/* Inputs that are compressed with zstd. */
#include <zstd.h>

#include "imports.h"

#define LINES 20000

static char text[1 << 20], packed[1 << 20];

static size_t write_lines(void)
{
    size_t at = 0;
    for (int i = 0; i < LINES; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "line %d\n", i * i);
    return at;
}

/** Appends a frame at @p at. */
static size_t pack(size_t at, const char *content, size_t size)
{
    size_t length = ZSTD_compress(packed + at, sizeof packed - at, content, size, 1);
    ck_assert(!ZSTD_isError(length));
    return at + length;
}

START_TEST(frames_follow_one_another)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    size_t end = pack(0, text, write_lines());
    end = pack(end, "", 0);
    end = pack(end, "last", 4);
    put_bytes("input", packed, end);
    lx_importer *importer = importer_of("lines", "input");
    unit_ok(lx_importer_run(importer, "d", NULL, &error));
    expect_length("d", LINES + 1);
    expect_text("d", 3, "text", "line 9");
    expect_text("d", LINES, "text", "last");
    lx_importer_free(importer);
    scratch_remove(scratch);
}
END_TEST

START_TEST(damage_is_refused)
{
    char *scratch = scratch_make();
    size_t end = pack(0, text, write_lines());
    static const struct {
        int cut, flip, more;
    } damages[] = {{5, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 3, 0}, {0, 0, 4}};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        lx_error error = LX_ERROR_INIT;
        size_t flipped = damages[i].flip == 0 ? 0 : end / (size_t)damages[i].flip;
        memcpy(packed + end, "more", 4);
        packed[flipped] ^= damages[i].flip != 0 ? 0x55 : 0;
        put_bytes("input", packed, end - (size_t)damages[i].cut + (size_t)damages[i].more);
        packed[flipped] ^= damages[i].flip != 0 ? 0x55 : 0;
        lx_importer *importer = importer_of("lines", "input");
        lx_status status = lx_importer_run(importer, "d", NULL, &error);
        /* Without a checksum in the frame, a changed byte may give other lines. */
        ck_assert(status == LX_ERR_CORRUPT || (status == LX_OK && damages[i].flip != 0));
        lx_importer_free(importer);
        lx_dataset_remove("d", NULL);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_short_file_is_not_compressed)
{
    char *scratch = scratch_make();
    import_text("lines", "abc");
    expect_text("d", 0, "text", "abc");
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("importer/input-zstd", frames_follow_one_another, damage_is_refused,
          a_short_file_is_not_compressed)
