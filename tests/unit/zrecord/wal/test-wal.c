/* SPDX-License-Identifier: MIT */
/* The valid frames of a log, its end, and its damage: doc/zrecord-format.md, 8.8 to 8.10.
 * test-replay.c tests the rules of valid frames. */
#include "zrecord/wal/wal.h"

#include <pthread.h>
#include <stdatomic.h>

#include "../frames.h"

#define HERE 7u /* the present boot */
#define ELSE 8u /* another one */

/** Scans a log from its start, in the present boot. */
static lx_status scan(const struct log *log, lx__wal_scan *found, lx_error *error)
{
    lx__wal_reader reader = log_put(log);
    lx_status status = lx__wal_scan_from(&reader, &(lx__wal_position){0, 0, 0}, HERE, found, error);
    lx__wal_close(&reader);
    return status;
}

/** Scans a log that must end after @p frames frames, torn or not. */
static void expect_end(const struct log *log, uint64_t frames, size_t offset, bool torn)
{
    lx_error error = LX_ERROR_INIT;
    lx__wal_scan found;
    unit_ok(scan(log, &found, &error));
    ck_assert_uint_eq(found.valid.sequence, frames);
    ck_assert_uint_eq(found.valid.offset, offset);
    ck_assert(found.torn == torn);
}

/** Scans a log whose frame at @p offset must be reported as damaged. */
static void expect_damage(const struct log *log, uint64_t sequence, size_t offset)
{
    lx_error error = LX_ERROR_INIT;
    lx__wal_scan found;
    char frame[32];
    snprintf(frame, sizeof frame, "frame %d ", (int)sequence);
    lx_status status = scan(log, &found, &error);
    ck_assert_int_eq(status, LX_ERR_CORRUPT);
    ck_assert_int_eq(error.status, LX_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, frame));
    ck_assert_ptr_nonnull(strstr(error.path, "LOG"));
    ck_assert_uint_eq(error.offset, offset);
}

static const struct frame synced = {.flags = SYNCED, .boot = HERE};
static const struct frame unsynced = {.boot = HERE};

/** A log of a snapshot frame and others: s is a synced one, u an unsynced one, e one of another
 * boot, 0 one of an unknown boot. */
static struct log make(const char *frames)
{
    struct log log = log_new(&example_log);
    for (; *frames != '\0'; frames++)
        log_add(&log, &(struct frame){.flags = *frames == 's' ? SYNCED : 0,
                                      .boot = *frames == 'e'   ? ELSE
                                              : *frames == '0' ? 0
                                                               : HERE});
    return log;
}

START_TEST(replays_the_valid_frames)
{
    static const struct {
        const char *frames;
        uint64_t boot;
        uint64_t valid, synced; /* frames after the snapshot frame */
    } cases[] = {
        {"", HERE, 1, 1},     {"s", HERE, 2, 2},  {"u", HERE, 2, 1},    {"uu", HERE, 3, 1},
        {"u", ELSE, 1, 1},    {"u", 0, 1, 1},     {"e", HERE, 1, 1},    {"ue", HERE, 2, 1},
        {"ueu", HERE, 2, 1},  {"0", HERE, 1, 1},  {"0", 0, 1, 1},       {"u0u", HERE, 2, 1},
        {"us", ELSE, 3, 3},   {"es", HERE, 3, 3}, {"uesu", HERE, 5, 4}, {"uesue", HERE, 5, 4},
        {"euse", HERE, 4, 4}, {"0s0", 0, 3, 3},   {"ssuu", 0, 3, 3},    {"sue", ELSE, 2, 2},
    };
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__wal_scan found;
        struct log log = make(cases[i].frames);
        lx__wal_reader reader = log_put(&log);
        unit_ok(lx__wal_scan_from(&reader, &(lx__wal_position){0, 0, 0}, cases[i].boot, &found,
                                  &error));
        const char *name = cases[i].frames;
        ck_assert_msg(found.valid.sequence == strlen(name) + 1, "valid of '%s'", name);
        ck_assert_msg(found.valid_in_boot.sequence == cases[i].valid, "trusted of '%s'", name);
        ck_assert_msg(found.durable.sequence == cases[i].synced, "synced of '%s'", name);
        ck_assert_uint_eq(found.valid.offset, EMPTY_FRAME * found.valid.sequence);
        ck_assert_uint_eq(found.valid_in_boot.offset, EMPTY_FRAME * found.valid_in_boot.sequence);
        ck_assert_uint_eq(found.durable.offset, EMPTY_FRAME * found.durable.sequence);
        ck_assert_uint_eq(found.synced_start, EMPTY_FRAME * (found.durable.sequence - 1));
        ck_assert_uint_eq(found.valid.crc, log.crc);
        ck_assert(!found.torn);
        lx__wal_close(&reader);
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_log_truncated_at_any_byte_ends_with_the_last_complete_frame)
{
    char *scratch = scratch_make();
    struct log log = make("su");
    static const lx__update_item set = {0, 0, {1, 2, 3, 4, 5}};
    log_add(&log, &(struct frame){.boot = HERE, .updates = &set, .update_count = 1});
    log_add(&log, &synced);
    size_t ends[] = {EMPTY_FRAME, 144, 216, 328, 400};
    ck_assert_uint_eq(log.size, ends[4]);
    for (log.size = ends[0]; log.size < ends[4]; log.size++) {
        uint64_t whole = 1;
        while (ends[whole] <= log.size)
            whole++;
        expect_end(&log, whole, ends[whole - 1], log.size != ends[whole - 1]);
    }
    for (log.size = 0; log.size < ends[0]; log.size++)
        expect_end(&log, 0, 0, log.size != 0); /* which nothing accepts: see test-replay.c */
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(ignores_bytes_after_a_torn_end)
{
    char *scratch = scratch_make();
    struct log log = make("su");
    static uint8_t tail[5000];
    for (int kind = 0; kind < 3; kind++) {
        memset(tail, kind == 1 ? 0xff : 0, sizeof tail);
        for (size_t i = 0; kind == 2 && i < sizeof tail; i++)
            tail[i] = (uint8_t)(i * i >> 3);
        log.bytes = realloc(log.bytes, log.size + sizeof tail);
        memcpy(log.bytes + log.size, tail, sizeof tail);
        for (size_t more = 1; more < sizeof tail; more += more / 3 + 1) {
            struct log longer = log;
            longer.size += more;
            expect_end(&longer, 3, log.size, true);
        }
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(any_flipped_bit_before_a_synced_frame_is_damage)
{
    char *scratch = scratch_make();
    struct log log = make("sus");
    for (size_t bit = 0; bit < (log.size - EMPTY_FRAME) * 8; bit += 1 + 4 * SANITIZED) {
        size_t at = bit / 8 / EMPTY_FRAME;
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        expect_damage(&log, at, at * EMPTY_FRAME);
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

/** Whether a frame is not found, or not of this boot, if that byte of its header is changed. */
static bool hides_the_frame(size_t byte)
{
    return byte < 8 || (byte >= 32 && byte < 40) || (byte >= 48 && byte < 56);
}

START_TEST(an_invalid_complete_frame_of_this_boot_is_damage)
{
    char *scratch = scratch_make();
    struct log log = make("suu");
    for (size_t bit = 2 * EMPTY_FRAME * 8; bit < log.size * 8; bit += 1 + 4 * SANITIZED) {
        size_t at = bit / 8 / EMPTY_FRAME;
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (at == 3 && hides_the_frame(bit / 8 % EMPTY_FRAME))
            expect_end(&log, at, at * EMPTY_FRAME, true);
        else
            expect_damage(&log, at, at * EMPTY_FRAME);
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_frame_without_its_trailer_is_a_torn_end)
{
    char *scratch = scratch_make();
    struct log log = make("su");
    for (size_t written = 8; written <= 68; written += 4) {
        struct log torn = log_new(&example_log);
        torn.bytes = realloc(torn.bytes, log.size + 4096); /* over zeros */
        memset(torn.bytes, 0, log.size + 4096);
        memcpy(torn.bytes, log.bytes, 2 * EMPTY_FRAME + written);
        torn.size = log.size + 4096;
        expect_end(&torn, 2, 144, true);
        log_free(&torn);
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(damage_after_the_last_synced_frame_of_another_boot_is_a_torn_end)
{
    char *scratch = scratch_make();
    struct log log = make("see");
    for (size_t bit = 2 * EMPTY_FRAME * 8; bit < log.size * 8; bit += 1 + 4 * SANITIZED) {
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        expect_end(&log, bit / 8 / EMPTY_FRAME, bit / 8 / EMPTY_FRAME * EMPTY_FRAME, true);
        log.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(reports_a_synced_frame_out_of_sequence_as_damage)
{
    /* Complete and synced, at the place of the next frame, but not the next one. */
    char *scratch = scratch_make();
    struct frame wrong = synced;
    struct log log = make("s");
    wrong.previous_error = 1;
    log_add(&log, &wrong);
    expect_damage(&log, 2, 144);
    log_free(&log);

    log = make("s");
    wrong = (struct frame){.flags = SYNCED, .boot = HERE, .sequence_error = 5};
    log_add(&log, &wrong);
    expect_damage(&log, 2, 144);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(old_frames_after_a_torn_end_are_not_damage)
{
    /* A synced frame with a sequence number below the expected one is from another log. */
    char *scratch = scratch_make();
    struct log log = make("su");
    log_add(&log, &(struct frame){.flags = SYNCED, .boot = HERE, .sequence_error = (uint32_t)0});
    struct log old = make("su");
    old.sequence = 1;
    log.size -= EMPTY_FRAME;
    log.bytes[log.size] = 0;
    old.size = 0;
    log_add(&old, &synced);
    log.bytes = realloc(log.bytes, log.size + 200);
    memset(log.bytes + log.size, 0, 80);
    memcpy(log.bytes + log.size + 80, old.bytes, EMPTY_FRAME);
    log.size += 152;
    expect_end(&log, 3, 216, true);
    /* The same for an unsynced frame of another boot, with any sequence number. */
    old.size = 0;
    old.sequence = 9;
    log_add(&old, &(struct frame){.boot = ELSE});
    memcpy(log.bytes + log.size - EMPTY_FRAME, old.bytes, EMPTY_FRAME);
    expect_end(&log, 3, 216, true);
    /* But one of this boot proves a loss, */
    old.size = 0;
    log_add(&old, &unsynced);
    memcpy(log.bytes + log.size - EMPTY_FRAME, old.bytes, EMPTY_FRAME);
    expect_damage(&log, 3, 216);
    /* and so does a synced one with a later sequence number. */
    old.size = 0;
    log_add(&old, &(struct frame){.flags = SYNCED, .boot = ELSE});
    memcpy(log.bytes + log.size - EMPTY_FRAME, old.bytes, EMPTY_FRAME);
    expect_damage(&log, 3, 216);
    /* The search visits only multiples of 8. */
    memmove(log.bytes + log.size - 76, log.bytes + log.size - EMPTY_FRAME, EMPTY_FRAME);
    expect_end(&log, 3, 216, true);
    log_free(&old);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(frames_of_another_log_are_invalid)
{
    char *scratch = scratch_make();
    struct log log = make("s");
    struct log other = log;
    other.bytes = NULL;
    other.size = 0;
    other.identity.uuid[3] ^= 1;
    log_add(&other, &(struct frame){.flags = SYNCED, .boot = ELSE});
    log.bytes = realloc(log.bytes, log.size + EMPTY_FRAME);
    memcpy(log.bytes + log.size, other.bytes, EMPTY_FRAME);
    log.size += EMPTY_FRAME;
    expect_end(&log, 2, 144, true);
    other.identity = example_log;
    other.identity.generation = 1;
    other.size = 0;
    other.sequence = 2;
    log_add(&other, &(struct frame){.flags = SYNCED, .boot = ELSE});
    memcpy(log.bytes + 144, other.bytes, EMPTY_FRAME);
    expect_end(&log, 2, 144, true);
    /* This boot writes no other frame there. */
    other.size = 0;
    log_add(&other, &synced);
    memcpy(log.bytes + 144, other.bytes, EMPTY_FRAME);
    expect_damage(&log, 2, 144);
    log_free(&other);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

/** A log with a hole, followed by as many bytes as possible that look like synced frames. */
static struct log make_fakes(size_t size, size_t stride, uint64_t frame_size)
{
    struct log log = make("s");
    size_t start = log.size + 80;
    log.bytes = realloc(log.bytes, size);
    memset(log.bytes + log.size, 0, size - log.size);
    for (size_t at = start; at + 64 <= size; at += stride) {
        uint64_t most = size - at < frame_size ? size - at : frame_size;
        uint32_t items = (uint32_t)((most - EMPTY_FRAME) / 16);
        if (most < EMPTY_FRAME)
            break;
        memcpy(log.bytes + at, "LXLF", 4);
        lx__store_le32(log.bytes + at + 4, EMPTY_FRAME + 16 * items);
        lx__store_le64(log.bytes + at + 8, 100);
        lx__store_le32(log.bytes + at + 32, items);
        lx__store_le32(log.bytes + at + 44, SYNCED);
    }
    log.size = size;
    return log;
}

START_TEST(scans_many_false_frames_quickly)
{
    static const size_t sizes[] = {(size_t)1 << 20, (size_t)64 << 20};
    static const uint64_t frames[] = {EMPTY_FRAME, 5000, (1u << 20) + 4096, 8u << 20, 1u << 30};
    char *scratch = scratch_make();
    for (size_t s = 0; s < 2; s++) {
        for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
            lx_error error = LX_ERROR_INIT;
            lx__wal_scan found;
            struct log log = make_fakes(sizes[s], 64, frames[f]);
            lx__wal_reader reader = log_put(&log);
            double start = processor_time();
            lx_status status = lx__wal_scan_from(&reader, &(lx__wal_position){0, 0, 0}, HERE,
                                                 &found, &error);
            double took = processor_time() - start;
            ck_assert(status == LX_OK || status == LX_ERR_CORRUPT);
            ck_assert_msg(took < (SANITIZED ? 30 : 5), "%.2f s for %zu bytes, frames of %llu", took,
                          sizes[s], (unsigned long long)frames[f]);
            lx__wal_close(&reader);
            log_free(&log);
        }
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_torn_end_with_a_few_false_frames_is_torn)
{
    /* The search may only give up after computing CRCs over four times its range. */
    char *scratch = scratch_make();
    struct log log = make_fakes(100000, 50000, 40000);
    expect_end(&log, 2, 144, true);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(scans_a_hole_of_any_size_quickly)
{
    setenv("TMPDIR", "/dev/shm", 1); /* if a file may be that long */
    char *scratch = scratch_make();
    static const uint64_t sizes[] = {1ull << 32, 1ull << 40, 1ull << 50};
    for (size_t i = 0; i < 3; i++) {
        struct log log = make("su");
        size_t torn = log.size;
        log_add(&log, &synced);
        log.size -= 4; /* the third is torn */
        lx_error error = LX_ERROR_INIT;
        lx__wal_scan found;
        lx__wal_reader reader = log_put(&log);
        if (truncate("LOG", (off_t)sizes[i]) != 0) {
            fprintf(stderr, "a_hole_of_any_size: no file can be that long here\n");
        } else {
            double start = processor_time();
            unit_ok(lx__wal_scan_from(&reader, &(lx__wal_position){0, 0, 0}, HERE, &found, &error));
            ck_assert_uint_eq(found.valid.offset, torn);
            ck_assert(found.torn);
            /* A synced frame after the hole is still found. */
            file_patch("LOG", sizes[i] - 7208, log.bytes + torn - EMPTY_FRAME, 68);
            unit_ok(lx__wal_scan_from(&reader, &(lx__wal_position){0, 0, 0}, HERE, &found, &error));
            log.size += 4;
            file_patch("LOG", sizes[i] - 7208, log.bytes + torn, EMPTY_FRAME);
            unit_fails(
                lx__wal_scan_from(&reader, &(lx__wal_position){0, 0, 0}, HERE, &found, &error),
                LX_ERR_CORRUPT);
            double took = processor_time() - start;
            ck_assert_msg(took < SLOWER, "it took %f s", took);
        }
        lx__wal_close(&reader);
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(reads_frames_larger_than_the_window)
{
    char *scratch = scratch_make();
    static lx__update_item updates[60000]; /* 2.4 MB */
    for (uint32_t i = 0; i < 60000; i++)
        updates[i] = (lx__update_item){i % 3, i / 3, {i, i, i, i, i}};
    struct log log = make("su");
    log_add(&log, &(struct frame){.flags = SYNCED, .updates = updates, .update_count = 60000});
    log_add(&log, &synced);
    expect_end(&log, 5, log.size, false);
    for (size_t at = 216; at < log.size - EMPTY_FRAME; at += 200003) {
        log.bytes[at] ^= 0x10;
        expect_damage(&log, 3, 216);
        log.bytes[at] ^= 0x10;
    }
    lx_error error = LX_ERROR_INIT;
    lx__wal_reader reader = log_put(&log);
    lx__frame frame;
    const uint8_t *bytes;
    unit_ok(lx__wal_read_frame(&reader, 216, &frame, &error));
    ck_assert_uint_eq(frame.update_count, 60000);
    ck_assert_uint_eq(frame.crc, lx__load_le32(log.bytes + log.size - EMPTY_FRAME - 4));
    for (size_t at = 0; at < log.size - 1000; at += 99991) {
        unit_ok(lx__wal_read(&reader, at, 1000, &bytes, &error));
        ck_assert_mem_eq(bytes, log.bytes + at, 1000);
    }
    lx__wal_close(&reader);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_scan_continues_from_an_offset)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__wal_scan first, second, again;
    struct log log = make("su");
    lx__wal_reader reader = log_put(&log);
    unit_ok(lx__wal_scan_from(&reader, &(lx__wal_position){0, 0, 0}, HERE, &first, &error));
    log_add(&log, &unsynced);
    log_add(&log, &synced);
    file_put("LOG", log.bytes, log.size);
    unit_ok(lx__wal_scan_from(&reader, &first.valid_in_boot, HERE, &second, &error));
    ck_assert_uint_eq(second.valid.sequence, 5);
    ck_assert_uint_eq(second.durable.sequence, 5);
    ck_assert_uint_eq(second.synced_start, 4 * EMPTY_FRAME);
    unit_ok(lx__wal_scan_from(&reader, &second.valid_in_boot, HERE, &again, &error));
    ck_assert_uint_eq(again.valid.offset, second.valid.offset);
    ck_assert_uint_eq(again.synced_start, LX_NONE);
    lx__wal_close(&reader);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_frame_changed_after_the_scan)
{
    static const size_t places[] = {0, 4, 32, 36}; /* magic, size, and the two counts */
    char *scratch = scratch_make();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__frame frame;
        struct log log = make("su");
        memset(log.bytes + EMPTY_FRAME + places[i], i < 2 ? 0 : 1, 4);
        lx__wal_reader reader = log_put(&log);
        unit_ok(lx__wal_read_frame(&reader, 0, &frame, &error));
        unit_fails(lx__wal_read_frame(&reader, EMPTY_FRAME, &frame, &error), LX_ERR_CORRUPT);
        unit_ok(lx__wal_read_frame(&reader, 144, &frame, &error));
        lx__wal_close(&reader);
        log_free(&log);
    }
    scratch_remove(scratch);
}
END_TEST

START_TEST(opens_the_log_of_a_generation)
{
    char *scratch = scratch_make();
    lx__wal_identity identity = example_log;
    identity.generation = 12;
    struct log log = log_new(&identity);
    expect_end(&log, 1, EMPTY_FRAME, false);
    ck_assert(file_exists("LOG.12"));
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

START_TEST(rejects_a_log_that_is_not_a_file)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    lx__wal_reader reader;
    lx__file here;
    unit_ok(lx__directory_open(&here, LX__CWD, ".", &error));
    unit_fails(lx__wal_open(&reader, &here, &example_log, &error), LX_ERR_CORRUPT);
    ck_assert_int_eq(lx__wal_open(&reader, &here, &example_log, NULL), LX_ERR_CORRUPT);
    struct log log = make("s");
    lx__wal_reader good = log_put(&log);
    lx__wal_close(&good);
    for (enum disguise what = 0; what < DISGUISES; what++) {
        file_disguise("LOG", what);
        unit_fails(lx__wal_open(&reader, &here, &example_log, &error), LX_ERR_CORRUPT);
        file_restore("LOG");
    }
    lx__file_close(&here);
    log_free(&log);
    scratch_remove(scratch);
}
END_TEST

/* ---- during writes */

struct other_side {
    struct log log;
    atomic_bool stop;
};

/** As a writer: frames are written in pieces, and a torn one may be truncated again. */
static void *write_frames(void *user)
{
    struct other_side *side = user;
    static uint8_t torn[200000];
    int fd = open("LOG", O_WRONLY | O_CLOEXEC);
    memcpy(torn, "LXLF", 4);
    lx__store_le32(torn + 4, EMPTY_FRAME + 16 * 12495);
    lx__store_le32(torn + 32, 12495);
    for (unsigned i = 0; !atomic_load(&side->stop); i++) {
        size_t end = side->log.size;
        if (i % 2 == 0) {
            ck_assert_int_eq(pwrite(fd, torn, sizeof torn, (off_t)end), sizeof torn);
            ck_assert_int_eq(ftruncate(fd, (off_t)end), 0);
            continue;
        }
        if (end > 20000000)
            break;
        log_add(&side->log, i % 4 == 1 ? &unsynced : &synced);
        for (size_t at = end; at < side->log.size; at += 24)
            ck_assert_int_eq(pwrite(fd, side->log.bytes + at, 24, (off_t)at), 24);
    }
    close(fd);
    return NULL;
}

START_TEST(never_reports_a_concurrent_write_as_damage)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    struct other_side side = {.log = make("s")};
    pthread_t thread;
    lx__wal_reader reader = log_put(&side.log);
    lx__wal_scan found = {0};
    ck_assert_int_eq(pthread_create(&thread, NULL, write_frames, &side), 0);
    for (double end = now() + 1; now() < end;) {
        lx__wal_position from = found.valid_in_boot;
        unit_ok(lx__wal_scan_from(&reader, &from, HERE, &found, &error));
        ck_assert_uint_ge(found.valid_in_boot.sequence, from.sequence);
    }
    atomic_store(&side.stop, true);
    pthread_join(thread, NULL);
    unit_ok(lx__wal_scan_from(&reader, &(lx__wal_position){0, 0, 0}, HERE, &found, &error));
    ck_assert_uint_eq(found.valid_in_boot.sequence, side.log.sequence);
    lx__wal_close(&reader);
    log_free(&side.log);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("zrecord/wal", replays_the_valid_frames,
          a_log_truncated_at_any_byte_ends_with_the_last_complete_frame,
          ignores_bytes_after_a_torn_end, any_flipped_bit_before_a_synced_frame_is_damage,
          an_invalid_complete_frame_of_this_boot_is_damage,
          a_frame_without_its_trailer_is_a_torn_end,
          damage_after_the_last_synced_frame_of_another_boot_is_a_torn_end,
          reports_a_synced_frame_out_of_sequence_as_damage,
          old_frames_after_a_torn_end_are_not_damage, frames_of_another_log_are_invalid,
          scans_many_false_frames_quickly, a_torn_end_with_a_few_false_frames_is_torn,
          scans_a_hole_of_any_size_quickly, reads_frames_larger_than_the_window,
          a_scan_continues_from_an_offset, rejects_a_frame_changed_after_the_scan,
          opens_the_log_of_a_generation, rejects_a_log_that_is_not_a_file,
          never_reports_a_concurrent_write_as_damage)
