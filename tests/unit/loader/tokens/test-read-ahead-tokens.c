/* SPDX-License-Identifier: MIT */
/* A loader over tokens on disk delivers the same batches as over tokens in memory, and reads ahead
 * of them. */
#include "../read-all.h"

#include <sys/stat.h>

#include "../../evict.h"
#include "token-fields.h"

#define DOCUMENTS 300
#define SEQUENCE 512

/** Documents in files, or in the records of a dataset. */
static void make_tokens(int kind)
{
    uint32_t lengths[DOCUMENTS];
    for (size_t i = 0; i < DOCUMENTS; i++)
        lengths[i] = (uint32_t)(i * 7919 % 10007);
    ck_assert_int_eq(mkdir("t", 0700), 0);
    if (kind < 3)
        lx_tokens_unref(make_documents("t/t", lengths, DOCUMENTS));
    else
        write_field("t/d", lengths, DOCUMENTS, 2,
                    kind == 3 ? LX_COMPRESSION_RAW : LX_COMPRESSION_FLATE);
}

static lx_source *open_samples(int kind)
{
    lx_error error = LX_ERROR_INIT;
    lx_source *source;
    lx_tokens *tokens = kind < 3 ? open_tokens("t/t.ds", LX_UINT32)
                                 : open_field_by("t/d", LX_UINT16, LX_ACCESS_AUTO);
    unit_ok(kind == 0   ? lx_source_new_tokens(tokens, SEQUENCE, NULL, &source, &error)
            : kind == 1 ? lx_source_new_packed_tokens(tokens, SEQUENCE, NULL, &source, &error)
                        : lx_source_new_joined_tokens(tokens, SEQUENCE, NULL, &source, &error));
    lx_tokens_unref(tokens);
    return source;
}

/** Reads all samples in a random order. */
static uint64_t read_samples(int kind, uint64_t *digest)
{
    static const char *const names[] = {"tokens"};
    lx_source *source = open_samples(kind);
    lx_order *order = make_order("shuffle", lx_source_get_length(source), 3, 0);
    uint64_t requested = read_all(
        source, (struct setup){.batch_size = 8, .order = order, .fields = names, .field_count = 1},
        digest);
    lx_order_unref(order);
    lx_source_unref(source);
    return requested;
}

START_TEST(reads_ahead_of_tokens)
{
    for (int kind = 0; kind < 5; kind++) {
        uint64_t right, got;
        char *scratch = scratch_make();
        make_tokens(kind);
        read_samples(kind, &right);
        if (evict("t")) {
            uint64_t requested = read_samples(kind, &got);
            ck_assert_uint_eq(got, right);
            ck_assert_uint_gt(requested, 0);
        }
        scratch_remove(scratch);
    }
}
END_TEST

UNIT_MAIN("loader/tokens/read-ahead-tokens", reads_ahead_of_tokens)
