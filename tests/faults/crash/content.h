/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The content of a dataset that a reader sees, and its comparison with versions.
 */
#ifndef LX_TESTS_FAULTS_CRASH_CONTENT_H
#define LX_TESTS_FAULTS_CRASH_CONTENT_H

#include "version.h"

/** Presence of a value that is damaged. */
#define CONTENT_LOST 0xff

/** All values of a dataset, and its fields. */
struct content {
    struct columns columns;
    uint64_t length;
    uint8_t *present[RECORDS_FIELDS]; /**< 0: missing, CONTENT_LOST: damaged. */
    uint64_t *offsets[RECORDS_FIELDS];
    uint8_t *data[RECORDS_FIELDS];
    uint64_t lost; /**< Number of damaged values. */
};

/** Reads every value. Returns false, and the reason in @p why, if one cannot be read; if @p lossy,
 * only for other reasons than damage. */
bool content_read(struct content *content, lx_dataset *dataset, bool lossy, char *why, size_t size);
void content_free(struct content *content);

bool content_equal_values(lx_value left, lx_value right);

/** A digest that differs between different contents. Never 0. */
uint64_t content_digest(const struct content *content);

/** The digest of a reader that sees the version. */
uint64_t content_digest_of(const struct version *version, struct records *records);

/** Whether a content is that of a version, except for damaged values. */
bool content_agrees(const struct content *content, const struct version *version,
                    struct records *records);

/** Whether @p after equals @p before, except that damaged values may be readable now. */
bool content_keeps(const struct content *before, const struct content *after);

/** Reports the difference between a content and a version. */
void content_tell(const struct content *content, const struct version *version,
                  struct records *records, char *why, size_t size);

#endif
