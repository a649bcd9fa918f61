/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Helpers that repair the dataset "d", record the findings, and check the result.
 */
#ifndef LX_TESTS_REPAIRED_H
#define LX_TESTS_REPAIRED_H

#include "../harm.h"

/** The findings of a repair. */
struct found {
    lx_finding findings[64];
    size_t count;
    uint64_t stop_at; /**< The number of the finding at which the repair is canceled; 0: never. */
};

static inline lx_status add_finding(const lx_finding *finding, void *user, lx_error *error)
{
    (void)error;
    struct found *found = user;
    if (found->count < sizeof found->findings / sizeof *found->findings)
        found->findings[found->count] = *finding;
    return ++found->count == found->stop_at ? LX_ERR_CANCELED : LX_OK;
}

/** The call, and its policy. */
enum how { REPORT, APPLY, REPORT_DELETE, APPLY_DELETE, INTO, INTO_DELETE };
/** Whether values that cannot be read are given up. */
static bool lose_unreadable;

/** Repairs "d", or recovers it into "new". */
static inline lx_status repair_with(enum how how, lx_finding_function found, void *user,
                                    lx_progress_function progress, void *progress_user,
                                    lx_repair_result *result, lx_error *error)
{
    bool deletes = how == REPORT_DELETE || how == APPLY_DELETE || how == INTO_DELETE;
    bool applies = how == APPLY || how == APPLY_DELETE;
    lx_error_clear(error);
    *result = (lx_repair_result){0};
    lx_repair_options *options = lx_repair_options_new();
    if (options == NULL)
        return LX_ERR_NOMEM;
    lx_status status = lx_repair_options_set_policy(
        options, deletes ? LX_REPAIR_DELETE : LX_REPAIR_MISSING, error);
    if (status == LX_OK)
        status = lx_repair_options_set_apply(options, applies, error);
    if (status == LX_OK)
        status = lx_repair_options_set_lose_unreadable(options, lose_unreadable, error);
    if (status == LX_OK)
        status = lx_repair_options_set_found(options, found, user, error);
    if (status == LX_OK)
        status = lx_repair_options_set_progress(options, progress, progress_user, error);
    if (status == LX_OK)
        status = how < INTO ? lx_dataset_repair("d", options, result, error)
                            : lx_dataset_recover("d", "new", options, result, error);
    lx_repair_options_free(options);
    return status;
}

static inline lx_status repair(enum how how, struct found *found, lx_repair_result *result,
                               lx_error *error)
{
    *found = (struct found){.count = 0};
    return repair_with(how, add_finding, found, NULL, NULL, result, error);
}

static inline void remove_tree(const char *path)
{
    nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/** A digest of all files of the dataset: FNV-1a over names and bytes, in the order of names. */
static inline uint64_t digest_of(const char *path)
{
    uint64_t digest = 0;
    DIR *list = opendir(path);
    ck_assert_ptr_nonnull(list);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        struct stat about;
        char name[1024];
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "LOCK") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        ck_assert_int_eq(lstat(name, &about), 0);
        uint64_t one = 0xCBF29CE484222325u;
        for (const char *at = entry->d_name; *at != '\0'; at++)
            one = (one ^ (uint8_t)*at) * 0x100000001B3u;
        if (S_ISDIR(about.st_mode)) {
            one ^= digest_of(name);
        } else {
            size_t size;
            uint8_t *bytes = file_bytes(name, &size);
            for (size_t i = 0; i < size; i++)
                one = (one ^ bytes[i]) * 0x100000001B3u;
            free(bytes);
        }
        digest += one; /* readdir() has no fixed order */
    }
    closedir(list);
    return digest;
}

/** Checks that the dataset at @p path is undamaged and has @p length records, with the right values
 * except those that @p missing selects. */
static inline void expect_whole(const char *path, uint64_t length,
                                bool (*missing)(int field, uint64_t index))
{
    lx_error error = LX_ERROR_INIT;
    lx_dataset *dataset = open_dataset(path);
    unit_ok(lx_dataset_verify(dataset, NULL, NULL, NULL, NULL, &error));
    ck_assert_uint_eq(lx_dataset_get_length(dataset), length);
    for (uint64_t index = 0; index < length; index++) {
        for (int field = 0; field < FIELDS; field++) {
            uint8_t value[VALUE_MAX];
            uint64_t size;
            bool there;
            if (missing == NULL || !missing(field, index)) {
                expect_value(dataset, field, index);
                continue;
            }
            unit_ok(read_value(dataset, (size_t)field, index, value, &size, &there, &error));
            ck_assert(!there);
        }
    }
    lx_dataset_close(dataset);
    /* It can be written to. */
    lx_writer *writer = records_reopen(path, NULL);
    records_append(writer, 3);
    close_writer(writer);
}

/** A dataset "d" with 8 records per chunk: commits of 3 records that are kept, and 5 commits after
 * an invalid frame of the log. */
static inline void make_lost_commits(int kept)
{
    lx_error error = LX_ERROR_INIT;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 8, 1 << 20, &error));
    lx_writer *writer = records_create("d", options);
    uint64_t end = log_size("d/LOG");
    for (int i = 0; i < kept + 5; i++) {
        records_append(writer, 3);
        commit(writer);
        if (i < kept)
            end = log_size("d/LOG");
    }
    close_writer(writer);
    file_flip("d/LOG", 8 * (end + 70));
}

#endif
