/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What a reader sees of a dataset, and which version that is.
 */
#ifndef LX_TESTS_FAULTS_CRASH_CONTENT_H
#define LX_TESTS_FAULTS_CRASH_CONTENT_H

#include "version.h"

/** All values of a dataset, and its fields. */
struct content {
    struct columns columns;
    uint64_t length;
    uint8_t *present[RECORDS_FIELDS];
    uint64_t *offsets[RECORDS_FIELDS];
    uint8_t *data[RECORDS_FIELDS];
};

/** Reads every value. False, and the reason in @p why, if one cannot be read. */
bool content_read(struct content *content, lx_dataset *dataset, char *why, size_t size);
void content_free(struct content *content);

/** A number of which two contents that differ have two. Never 0. */
uint64_t content_digest(const struct content *content);

/** That of a reader that sees the version. */
uint64_t content_digest_of(const struct version *version, struct records *records);

/** Tells in what a content differs from a version. */
void content_tell(const struct content *content, const struct version *version,
                  struct records *records, char *why, size_t size);

#endif
