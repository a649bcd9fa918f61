/* SPDX-License-Identifier: MIT */
/* What is said of a log that is damaged, and of what it takes with it. */
#include <unistd.h>

#include "../harm.h"
#include "zrecord/maintenance/rescue.h"

#define COMMITS 6

/** A dataset "d" of commits of 3 records each; notes where the frames end. */
static void make(uint64_t ends[COMMITS + 1])
{
    lx_writer *writer = records_create("d", NULL);
    ends[0] = log_size("d/LOG");
    for (int i = 1; i <= COMMITS; i++) {
        records_append(writer, 3);
        commit(writer);
        ends[i] = log_size("d/LOG");
    }
    close_writer(writer);
    ck_assert_int_eq(truncate("d/LOG", (off_t)ends[COMMITS]), 0); /* without the last frame */
}

static void expect_told(const char *said)
{
    lx_error error = LX_ERROR_INIT;
    lx__rescue rescue;
    unit_ok(lx__rescue_open(&rescue, "d", false, &error));
    ck_assert(rescue.cut && !rescue.by_seal);
    ck_assert_msg(strstr(rescue.why_cut.message, said) != NULL, "%s", rescue.why_cut.message);
    lx__rescue_close(&rescue);
}

START_TEST(what_is_lost_is_told)
{
    char *scratch = scratch_make();
    uint64_t ends[COMMITS + 1];
    char said[256];
    make(ends);
    for (int frame = 1; frame < COMMITS; frame++) {
        file_flip("d/LOG", 8 * (ends[frame - 1] + 70));
        snprintf(said, sizeof said,
                 "that, %d records, is kept; what was committed behind, %llu bytes of the log, is "
                 "lost: %d commits or more, after which there were %d records",
                 3 * (frame - 1), (unsigned long long)(ends[COMMITS] - ends[frame - 1]),
                 COMMITS - frame + 1, 3 * COMMITS);
        expect_told(said);
        file_flip("d/LOG", 8 * (ends[frame - 1] + 70));
    }
    /* A second damage takes nothing from what is known of those between. */
    file_flip("d/LOG", 8 * (ends[1] + 70));
    file_flip("d/LOG", 8 * (ends[COMMITS - 1] + 70));
    expect_told("lost: 4 commits or more, after which there were 15 records");
    scratch_remove(scratch);
}
END_TEST

START_TEST(of_frames_that_cannot_be_only_the_bytes_are_told)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    uint64_t ends[COMMITS + 1];
    make(ends);
    lx_dataset *dataset = open_dataset("d");
    lx_dataset_identity identity;
    lx_dataset_get_identity(dataset, &identity);
    lx_dataset_close(dataset);
    size_t size;
    uint8_t *log = file_bytes("d/LOG", &size);
    lx__log_identity of = identity_of(identity.uuid);
    lx__frame_builder builder = {0};
    lx__frame frame = {.epoch = COMMITS + 1, /* its length is beyond all rows */
                       .length = 1000000,
                       .previous_crc = lx__load_le32(log + ends[COMMITS] - 4),
                       .flags = LX__FRAME_SYNCED,
                       .next_chunk = 1};
    unit_ok(lx__frame_begin(&builder, 0, 0, &error));
    lx__frame_finish(&builder, &frame, &of);
    file_patch("d/LOG", ends[COMMITS], builder.data, builder.size);
    expect_told("18 records, is kept; what was committed behind, 72 bytes of the log, is lost");
    lx__rescue rescue;
    unit_ok(lx__rescue_open(&rescue, "d", false, &error));
    ck_assert_ptr_null(strstr(rescue.why_cut.message, "1000000"));
    lx__rescue_close(&rescue);
    lx__frame_builder_free(&builder);
    free(log);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/rescue-log", what_is_lost_is_told,
          of_frames_that_cannot_be_only_the_bytes_are_told)
