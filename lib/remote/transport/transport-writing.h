/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How a transport writes, lists and removes files, for those that can. Each function makes
 * one attempt, like @ref lx__transport_class.read, and fills in @ref lx__answer the same way; the
 * request queue repeats attempts (lx__request.attempt). Names are relative to the URL of the
 * transport.
 */
#ifndef LX_REMOTE_TRANSPORT_WRITING_H
#define LX_REMOTE_TRANSPORT_WRITING_H

#include "remote/transport/transport.h"

/** The size of an ETag, with the NUL. */
#define LX__ETAG_SIZE 256
/** The size of the name of an upload, with the NUL. */
#define LX__UPLOAD_SIZE 1024

/** What a server tells about a file. */
typedef struct lx__remote_info {
    uint64_t bytes;
    uint64_t modified;        /**< In seconds since 1970, by the server's clock. */
    char etag[LX__ETAG_SIZE]; /**< "" if the server has none. */
} lx__remote_info;

/** What must be true of a file for it to be written. */
typedef enum lx__precondition {
    LX__WRITE_ALWAYS,
    LX__WRITE_IF_ABSENT, /**< There is no such file. */
    LX__WRITE_IF_MATCH   /**< The file has a given ETag. */
} lx__precondition;

/** Returns the precondition that a file is still what was found; @p etag is "" if the server has
 * none, and then nothing can be demanded of a file that was there. */
static inline lx__precondition lx__precondition_for(bool exists, const char *etag)
{
    return !exists ? LX__WRITE_IF_ABSENT : etag[0] != '\0' ? LX__WRITE_IF_MATCH : LX__WRITE_ALWAYS;
}

/** A part of a file that was uploaded. */
typedef struct lx__uploaded_part {
    char etag[LX__ETAG_SIZE];
    uint32_t crc; /**< The CRC-32C of its bytes. */
} lx__uploaded_part;

/** Called for each file of a listing. */
typedef lx_status lx__visit_remote(void *user, const char *name, const lx__remote_info *info,
                                   lx_error *error);

/** Whether an upload of the file @p name may be abandoned. */
typedef bool lx__is_ours(const void *user, const char *name);

typedef struct lx__transport_writing {
    /** Gets the length of a file and when it was written.
     * @retval LX_ERR_NOT_FOUND  There is no such file. */
    lx_status (*stat)(lx__connection *connection, const char *name, lx__remote_info *info,
                      lx__answer *answer, lx_error *error);

    /**
     * Writes a whole file, which appears at once and complete, or not at all.
     *
     * @param etag   For #LX__WRITE_IF_MATCH; otherwise ignored.
     * @retval LX_ERR_STATE  The precondition is not true: somebody else has written the file. After
     *                       an attempt whose answer was lost, it may have been this caller, who
     *                       must read the file to know.
     * @retval LX_ERR_UNSUPPORTED  #LX__WRITE_IF_MATCH with an ETag that the server cannot compare.
     */
    lx_status (*put)(lx__connection *connection, const char *name, const uint8_t *data, size_t size,
                     lx__precondition precondition, const char *etag, lx__answer *answer,
                     lx_error *error);

    /** @name A large file in parts
     * The parts of an upload have the same size, except the last one, and may be put in any order
     * and at the same time. The file appears when the upload is completed. */
    /** @{ */

    /** Returns how large the parts of a file of @p bytes are to be. */
    size_t (*get_part_size)(const lx__transport *self, uint64_t bytes);
    /** Begins an upload; @p upload receives its name. */
    lx_status (*begin)(lx__connection *connection, const char *name, uint64_t bytes,
                       char upload[LX__UPLOAD_SIZE], lx__answer *answer, lx_error *error);
    /** Puts the part @p number, counted from 0, whose first byte is at @p offset of the file. */
    lx_status (*put_part)(lx__connection *connection, const char *name, const char *upload,
                          uint32_t number, uint64_t offset, const uint8_t *data, size_t size,
                          lx__uploaded_part *part, lx__answer *answer, lx_error *error);
    /** Makes the file of its parts; the precondition is as for @ref put. Some stores ignore it.
     * @retval LX_ERR_NOT_FOUND  There is no such upload: it was abandoned, or an attempt whose
     *                           answer was lost has completed it, so that the file is there.
     * @retval LX_ERR_STATE      The precondition is not true. */
    lx_status (*complete)(lx__connection *connection, const char *name, const char *upload,
                          const lx__uploaded_part *parts, uint32_t count,
                          lx__precondition precondition, const char *etag, lx__answer *answer,
                          lx_error *error);
    /** Frees what all uploads below the transport's URL have stored that were begun before the time
     * @p before and not completed. Such an upload of another process that is under way then fails.
     *
     * @param before   In seconds since 1970, by the server's clock; LX_NONE: all.
     * @param is_ours  Tells from its name whether a file is meant: other programs may write to the
     *                 same place. */
    lx_status (*abandon_all)(lx__connection *connection, uint64_t before, lx__is_ours *is_ours,
                             const void *user, lx__answer *answer, lx_error *error);
    /** @} */

    /** Visits all files below the folder @p name ("" for all), in no particular order, with their
     * names relative to the transport's URL. There need not be such a folder. A listing of several
     * answers makes several requests, and may begin again after a failure: then files are visited
     * twice. Uploads that are not complete are no files. */
    lx_status (*list)(lx__connection *connection, const char *name, lx__visit_remote *visit,
                      void *user, lx__answer *answer, lx_error *error);
    /** Removes a file; does nothing if it does not exist. */
    lx_status (*remove)(lx__connection *connection, const char *name, lx__answer *answer,
                        lx_error *error);
} lx__transport_writing;

#endif
