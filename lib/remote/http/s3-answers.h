/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What S3 answers, as XML: listings of objects and of uploads, and single values. Everything
 * in it is checked; a listing that is wrong has no effect beyond the files before what is wrong.
 */
#ifndef LX_REMOTE_S3_ANSWERS_H
#define LX_REMOTE_S3_ANSWERS_H

#include "remote/transport/transport-writing.h"

/** The size of the key of an object, which S3 limits to 1024 bytes, with its NUL. */
#define LX__S3_KEY_SIZE 1025
/** The size of what a listing is continued with, with its NUL. */
#define LX__S3_TOKEN_SIZE 4096

/** A listing, by several requests. Zeros are the beginning. */
typedef struct lx__s3_listing {
    const char *prefix; /**< That of all keys; "" or with a slash at its end. */
    size_t root;        /**< How much of it the names of files do not have. */
    /** Called for each object, and for each upload with its name instead of an ETag. */
    lx_status (*visit)(void *user, const char *key, const lx__remote_info *info, const char *upload,
                       lx_error *error);
    void *user;
    char token[LX__S3_TOKEN_SIZE];  /**< To continue with; "": all of it was listed. */
    char upload[LX__UPLOAD_SIZE];   /**< To continue a listing of uploads with, too. */
    char last[3 * LX__S3_KEY_SIZE]; /**< The key of the last object or upload. */
    bool unsorted;                  /**< A key was not after the one before it, byte by byte. */
} lx__s3_listing;

/**
 * Visits the objects in one answer to ListObjectsV2, or the uploads in one to ListMultipartUploads.
 * Keys are relative to the URL. Those that cannot be names of files, such as "a//b", are left out.
 *
 * @retval LX_ERR_IO  The answer is not a listing, lists what was not asked for, or does not get any
 *                    further.
 * @return The failure of the callback; @p answer says then that another attempt is of no use.
 */
lx_status lx__s3_listing_parse(lx__s3_listing *self, const char *text, size_t size,
                               lx__answer *answer, lx_error *error);

/** Copies the text of the element @p name in the outermost element @p root; false if there is none,
 * or it does not fit. @p name may be NULL: then this tells only whether @p root is the outermost
 * element of a valid document. */
bool lx__s3_find(const char *text, size_t size, const char *root, const char *name, char *value,
                 size_t capacity);

#endif
