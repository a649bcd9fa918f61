/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The members of a tar archive: ustar, pax and GNU headers. Nothing is extracted, and names
 * are only texts.
 *
 * Sources: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Interchange Format"; the manual
 * of GNU tar, "Basic Tar Format".
 */
#ifndef LX_IMPORTER_TAR_MEMBER_H
#define LX_IMPORTER_TAR_MEMBER_H

#include "importer/input.h"

/** Size of a header, and unit of the size of a member. */
#define LX__TAR_BLOCK 512

/** Longest name of a member, in bytes, and longest extended headers. */
#define LX__TAR_NAME 4096
#define LX__TAR_EXTENDED ((size_t)1 << 20)

/** What a member is. */
typedef enum lx__tar_type {
    LX__TAR_FILE,
    LX__TAR_OTHER,      /**< A directory: passed over. */
    LX__TAR_UNSUPPORTED /**< A link, a device, or a sparse file. */
} lx__tar_type;

/** A member. */
typedef struct lx__tar_member {
    lx__tar_type type;
    char name[LX__TAR_NAME + 1];
    size_t begin;  /**< Of its first header, in bytes after input->data, as are the next two. */
    size_t data;   /**< Of its content. */
    uint64_t next; /**< Of the header of the next member. */
    uint64_t size; /**< Of its content. */
} lx__tar_member;

/**
 * Reads the headers of the member that begins @p at bytes after input->data, without taking them.
 * Its content need not be in the buffer.
 *
 * @retval LX_END          The archive ends here.
 * @retval LX_ERR_CORRUPT  The header is damaged, or the archive ends too early.
 */
lx_status lx__tar_member_read(lx__input *input, size_t at, lx__tar_member *member, lx_error *error);

/**
 * Passes over the blocks of zeros at the end of an archive, which input->data begins with; another
 * archive may follow, as after "cat a.tar b.tar".
 *
 * @retval LX_END  Nothing follows.
 */
lx_status lx__tar_pass_zeros(lx__input *input, lx_error *error);

#endif
