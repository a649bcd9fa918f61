/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a reader sees of a dataset, and which version that is.
 */
#ifndef LX_TESTS_FAULTS_CRASH_CONTENT_H
#define LX_TESTS_FAULTS_CRASH_CONTENT_H

#include "version.h"

/** In place of whether a value is there: it is damaged. */
#define CONTENT_LOST 0xff

/** All values of a dataset, and its fields. */
struct content {
    struct columns columns;
    uint64_t length;
    uint8_t *present[RECORDS_FIELDS]; /**< 0: missing, CONTENT_LOST: damaged. */
    uint64_t *offsets[RECORDS_FIELDS];
    uint8_t *data[RECORDS_FIELDS];
    uint64_t lost; /**< Values that are damaged. */
};

/** Reads every value. False, and the reason in @p why, if one cannot be read; @p lossy: if that is
 * not because it is damaged. */
bool content_read(struct content *content, lx_dataset *dataset, bool lossy, char *why, size_t size);
void content_free(struct content *content);

/** A number of which two contents that differ have two. Never 0. */
uint64_t content_digest(const struct content *content);

/** That of a reader that sees the version. */
uint64_t content_digest_of(const struct version *version, struct records *records);

/** Whether a content is that of a version, but for its damaged values. */
bool content_agrees(const struct content *content, const struct version *version,
                    struct records *records);

/** Whether @p after is @p before, of which values may be damaged that are not any more. */
bool content_keeps(const struct content *before, const struct content *after);

/** Reports in what a content differs from a version. */
void content_tell(const struct content *content, const struct version *version,
                  struct records *records, char *why, size_t size);

#endif
