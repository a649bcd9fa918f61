/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A file or pipe that is read once, from beginning to end, through a buffer that grows to
 * the longest record. It is decompressed if its first bytes show that it is compressed with gzip or
 * zstd.
 */
#ifndef LX_IMPORTER_INPUT_H
#define LX_IMPORTER_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/status.h>

/** Called several times a second while the input waits for a pipe; a failure ends the wait. */
typedef lx_status (*lx__input_wait)(void *user, lx_error *error);

typedef struct lx__input_gzip lx__input_gzip;
typedef struct lx__input_zstd lx__input_zstd;

/** An open input. Its user may read the first three members. */
typedef struct lx__input {
    const uint8_t *data; /**< The bytes in the buffer that were not taken yet. */
    size_t size;         /**< Their number. */
    uint64_t offset;     /**< The offset of @ref data in the input, after decompression. */
    const char *path;    /**< Borrowed. */
    int fd;
    size_t step;        /**< Bytes per read(). */
    bool regular;       /**< A regular file: reading it never waits. */
    bool once;          /**< It cannot be opened again from its beginning. */
    bool ended;         /**< No byte follows those in the buffer. */
    bool failed;        /**< Reading failed: no byte follows, but more should. */
    bool kept;          /**< The buffer keeps all bytes from the beginning; see
                             lx__input_rewind(). */
    bool overfull;      /**< Reading failed because it would have kept too many bytes. */
    uint64_t most_kept; /**< More bytes are not kept. */
    uint64_t file_read; /**< Bytes read from the file. */
    uint64_t file_size; /**< Of a regular file; otherwise LX_NONE. */
    uint8_t *buffer;
    size_t capacity;
    lx__input_gzip *gzip; /**< NULL: not compressed with gzip. */
    lx__input_zstd *zstd; /**< NULL: not compressed with zstd. */
    lx__input_wait wait;
    void *user;
} lx__input;

/**
 * Opens an input at its beginning; @p path "-" is the standard input. Call lx__input_close()
 * afterwards, even on failure.
 *
 * @param keep  If the input cannot be opened again, keep all bytes until lx__input_rewind(); when
 *              more than @p keep of them were taken, reading more is LX_ERR_LIMIT. 0: keep none.
 * @retval LX_ERR_NOT_FOUND  The file does not exist.
 */
LX_API lx_status lx__input_open(lx__input *self, const char *path, uint64_t keep,
                                lx__input_wait wait, void *user, lx_error *error);

/** The same, without a look at the first bytes: it is not decompressed. */
LX_API lx_status lx__input_open_stored(lx__input *self, const char *path, lx__input_wait wait,
                                       void *user, lx_error *error);

LX_API void lx__input_close(lx__input *self);

/** Goes back to the beginning of an input that keeps its bytes; from now on it does not keep
 * them. */
void lx__input_rewind(lx__input *self);

/**
 * Reads until @c size is at least @p wanted or the input has ended.
 *
 * @retval LX_ERR_CORRUPT  The compressed data is damaged or truncated.
 * @retval LX_ERR_LIMIT    The input would keep too many bytes.
 * @retval LX_ERR_NOMEM    The buffer cannot grow.
 */
LX_API lx_status lx__input_fill(lx__input *self, size_t wanted, lx_error *error);

/** Passes the byte order mark at the beginning of a text, if it has one: some programs write it. */
lx_status lx__input_pass_mark(lx__input *self, lx_error *error);

/**
 * Moves to an offset of a regular file, which may be beyond its end.
 *
 * @retval LX_ERR_STATE  The input is compressed, or is not a regular file.
 */
LX_API lx_status lx__input_seek(lx__input *self, uint64_t offset, lx_error *error);

/** Says how many bytes will probably be needed after the current place, so that no more are read
 * before. */
LX_API void lx__input_expect(lx__input *self, uint64_t size);

/** Moves @p size bytes on, at most @c self->size. */
LX_API void lx__input_take(lx__input *self, size_t size);

/** Moves @p size bytes on; if the input ends earlier, @p skipped is less than @p size. */
lx_status lx__input_skip(lx__input *self, uint64_t size, uint64_t *skipped, lx_error *error);

/**
 * Takes the next line, without its LF or CR LF. The last line may lack its line feed.
 *
 * @param[out] line  Valid until the next call.
 * @retval LX_END        There is no other line.
 * @retval LX_ERR_LIMIT  The line has more than @p limit bytes. It was taken.
 */
lx_status lx__input_line(lx__input *self, uint64_t limit, const char **line, size_t *size,
                         lx_error *error);

#endif
