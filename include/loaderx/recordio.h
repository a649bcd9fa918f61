/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reading and writing RecordIO files.
 */
#ifndef LOADERX_RECORDIO_H
#define LOADERX_RECORDIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <loaderx/progress.h>
#include <loaderx/source.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_recordio_writer Write RecordIO files
 *
 * RecordIO is the format in which MXNet stores data sets, in files that end in .rec. The files are
 * the same, byte for byte, as those that MXNet and dmlc-core write. An index, in a file that ends
 * in .idx, tells where each record begins; it is a text with a line for each record: its key, a
 * tab, and its offset.
 *
 * @code
 * lx_recordio_writer *writer;
 * lx_recordio_writer_create("a.rec", "a.idx", false, &writer, &error);
 * for (size_t i = 0; writer != NULL && i < count; i++)
 *     lx_recordio_writer_write(writer, NULL, data[i], sizes[i], &error);
 * lx_recordio_writer_close(writer, &error);
 * return error.status == LX_OK ? LX_OK : complain(&error);
 * @endcode
 * @see lx_error, lx_recordio_reader
 * @{
 */

/** The length of a record must be less than this: 2^29. */
#define LX_MAX_RECORDIO_LENGTH ((size_t)1 << 29)

/**
 * A writer of a RecordIO file and its index.
 *
 * @par Thread safety
 * Only one thread at a time may use a writer. In a child of fork(2), it can only be closed, which
 * then writes nothing.
 */
typedef struct lx_recordio_writer lx_recordio_writer;

/**
 * Creates a file, and an index if wanted.
 *
 * @param[in]  path     The file.
 * @param[in]  index    The index; NULL: none.
 * @param[in]  replace  Whether existing files are emptied first.
 * @param[out] writer   Receives the writer; close it with lx_recordio_writer_close(). NULL on
 *                      failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The files are open.
 * @retval LX_ERR_ARGUMENT  @p path or @p writer is NULL; or a path is "-", a pipe, or something
 *                          else than a regular file.
 * @retval LX_ERR_EXISTS    One of the files exists, and @p replace is false.
 * @retval LX_ERR_NOT_FOUND The folder does not exist.
 * @retval LX_ERR_IO        A file cannot be created.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_recordio_writer_create(const char *path, const char *index, bool replace,
                                           lx_recordio_writer **writer, lx_error *error);

/**
 * Opens an existing file, and its index if it has one, to append records. All heads of records are
 * read first, so that nothing is appended to a file that is damaged or cut.
 *
 * @param[in]  path    The file.
 * @param[in]  index   Its index, which must describe all of its records; NULL: the file has none.
 * @param[out] writer  Receives the writer. NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The files are open.
 * @retval LX_ERR_ARGUMENT   @p path or @p writer is NULL.
 * @retval LX_ERR_NOT_FOUND  A file does not exist.
 * @retval LX_ERR_CORRUPT    The file is damaged, or ends within a record.
 * @retval LX_ERR_MISMATCH   The index does not describe the records of the file.
 * @return Otherwise, any status that lx_recordio_writer_create() returns.
 */
LX_API lx_status lx_recordio_writer_append(const char *path, const char *index,
                                           lx_recordio_writer **writer, lx_error *error);

/**
 * Writes a record. Writes are buffered, and a failure may be reported by a later call; after a
 * failure, all calls fail.
 *
 * @param[in]  writer  The writer.
 * @param[in]  key     The key in the index, which must not contain a tab, a line feed or a carriage
 *                     return; NULL: the number of the record in the file.
 * @param[in]  data    The record; may be NULL if @p size is 0.
 * @param[in]  size    Its length.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The record was written, or waits in the buffer.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL, or the key is invalid. The writer is unchanged.
 * @retval LX_ERR_LIMIT     The record is too long. The writer is unchanged.
 * @retval LX_ERR_FORKED    The writer belongs to the parent process.
 * @retval LX_ERR_IO        Writing failed.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_recordio_writer_write(lx_recordio_writer *writer, const char *key,
                                          const void *data, size_t size, lx_error *error);

/** Returns the offset in the file at which the next record will begin. */
LX_API uint64_t lx_recordio_writer_get_offset(const lx_recordio_writer *writer);

/** Returns the number of records in the file, including those that wait in the buffer. */
LX_API uint64_t lx_recordio_writer_get_count(const lx_recordio_writer *writer);

/**
 * Writes what is buffered, makes both files durable, and frees the writer, even on failure. NULL is
 * allowed.
 *
 * @retval LX_OK      Both files are complete.
 * @retval LX_ERR_IO  A write or a sync failed, now or earlier.
 */
LX_API lx_status lx_recordio_writer_close(lx_recordio_writer *writer, lx_error *error);

/** @} */

/**
 * @defgroup lx_recordio_reader Read RecordIO files
 *
 * @code
 * lx_recordio_record record;
 * while ((status = lx_recordio_reader_next(reader, &record, &error)) ==
 *        LX_OK)
 *     use(record.data, record.size);
 * if (status != LX_END)
 *     return complain(&error);
 * @endcode
 * @see lx_error, lx_recordio_writer
 * @{
 */

/** The largest record that is accepted unless lx_recordio_reader_set_limit() sets another limit, in
 * bytes: 1 GiB. */
#define LX_DEFAULT_RECORDIO_LIMIT ((uint64_t)1 << 30)

/**
 * A reader of a RecordIO file.
 *
 * @par Thread safety
 * Only one thread at a time may use a reader. In a child of fork(2), it can only be closed.
 */
typedef struct lx_recordio_reader lx_recordio_reader;

/** A record that was read. */
typedef struct lx_recordio_record {
    const void *data; /**< Its bytes, which are valid until the next call of the reader. */
    size_t size;      /**< Their number. */
    uint64_t offset;  /**< The offset in its file where the record begins. */
} lx_recordio_record;

/** What a reader has passed over. */
typedef struct lx_recordio_skipped {
    uint64_t places; /**< The number of places where the file was damaged. Several records may have
                          been lost at each. */
    uint64_t bytes;  /**< The number of bytes between the last good record before each place and the
                          first one after it. */
    bool rest;       /**< The last place is damaged or cut compressed data, which cannot be read any
                          further. @ref bytes counts only what was decompressed. */
} lx_recordio_skipped;

/**
 * Opens a file, a pipe, or the standard input. Data that is compressed with gzip or zstd is
 * decompressed; offsets are those in the decompressed data.
 *
 * @param[in]  path      The file; "-": the standard input.
 * @param[in]  skip      Whether the reader passes over damage and counts it, instead of reporting
 *                       it.
 * @param[in]  progress  Called several times a second while this call or lx_recordio_reader_next()
 *                       waits for a pipe, with the number of bytes read from it; the total is
 *                       #LX_NONE. If it ends a call, the call may be repeated. NULL: none.
 * @param[in]  user      Passed to @p progress.
 * @param[out] reader    Receives the reader; close it with lx_recordio_reader_close(). NULL on
 *                       failure.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK               The reader is at the first record.
 * @retval LX_ERR_ARGUMENT     @p path or @p reader is NULL.
 * @retval LX_ERR_NOT_FOUND    The file does not exist.
 * @retval LX_ERR_CORRUPT      The compressed data is damaged.
 * @retval LX_ERR_UNSUPPORTED  The data is compressed with zstd, which this build does not support.
 * @retval LX_ERR_IO           The file cannot be opened or read.
 * @retval LX_ERR_NOMEM        Out of memory.
 * @return Otherwise, the status with which @p progress ended the call.
 */
LX_API lx_status lx_recordio_reader_open(const char *path, bool skip, lx_progress_function progress,
                                         void *user, lx_recordio_reader **reader, lx_error *error);

/**
 * Opens one of several parts of one or more files, as dmlc-core's InputSplit does: the files are
 * taken as one sequence of bytes, which is cut into @p parts parts of equal length, and a part has
 * the records that begin in it. Thus every record is in exactly one part, also if the files are
 * damaged.
 *
 * @param[in]  paths   The files, which must be regular and not compressed.
 * @param[in]  count   Their number.
 * @param[in]  part    The part, less than @p parts.
 * @param[in]  parts   The number of parts.
 * @param[in]  skip    As for lx_recordio_reader_open().
 * @param[out] reader  Receives the reader; it returns #LX_END at the end of the part. It cannot be
 *                     moved with lx_recordio_reader_seek(). NULL on failure.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The reader is at the first record of the part.
 * @retval LX_ERR_ARGUMENT  @p part is not less than @p parts, a pointer is NULL, @p count is 0, or
 *                          a file is not regular or is compressed.
 * @retval LX_ERR_CORRUPT   The length of a file is not a multiple of 4: it was cut.
 * @retval LX_ERR_LIMIT     The files have 2^63 bytes or more in total.
 * @return Otherwise, any status that lx_recordio_reader_open() returns.
 */
LX_API lx_status lx_recordio_reader_open_part(const char *const *paths, size_t count, uint64_t part,
                                              uint64_t parts, bool skip,
                                              lx_recordio_reader **reader, lx_error *error);

/**
 * Opens one of several parts of one or more files with indexes: the records of all indexes, in the
 * order of the files and of their offsets, are cut into @p parts parts of equal numbers of records.
 * A record that its index does not have is not read.
 *
 * @param[in]  paths    The files, as for lx_recordio_reader_open_part().
 * @param[in]  indexes  The index of each file.
 * @param[in]  count    The number of files.
 * @param[in]  part     The part, less than @p parts.
 * @param[in]  parts    The number of parts.
 * @param[in]  skip     As for lx_recordio_reader_open().
 * @param[out] reader   Receives the reader, as for lx_recordio_reader_open_part().
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_MISMATCH  An index has an offset beyond the end of its file.
 * @return Otherwise, any status that lx_recordio_reader_open_part() and lx_recordio_index_open()
 *         return.
 */
LX_API lx_status lx_recordio_reader_open_indexed(const char *const *paths,
                                                 const char *const *indexes, size_t count,
                                                 uint64_t part, uint64_t parts, bool skip,
                                                 lx_recordio_reader **reader, lx_error *error);

/**
 * Returns to the beginning of a part, and reads it in another order: the part is cut into chunks,
 * which are read in a shuffled order, each of them from its beginning to its end. The records are
 * the same. The order depends only on the part, the number of parts, @p chunks, @p seed and @p
 * epoch.
 *
 * @param[in]  reader  A reader of a part.
 * @param[in]  chunks  The number of chunks, which have equal lengths, in bytes, or in records if
 *                     the part has indexes. There are fewer chunks if the part is too short; with
 *                     indexes, #LX_NONE makes each record a chunk. 1: the order is that of the
 *                     files.
 * @param[in]  seed    Any value; orders with different seeds are unrelated.
 * @param[in]  epoch   Any value; likewise.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The reader is at the first record of the first chunk.
 * @retval LX_ERR_ARGUMENT  @p reader is NULL, or @p chunks is 0.
 * @retval LX_ERR_LIMIT     The product of @p epoch, the number of parts and @p chunks is about 2^64
 *                          or more.
 * @retval LX_ERR_STATE     The reader was not opened for a part.
 * @retval LX_ERR_FORKED    The reader belongs to the parent process.
 * @retval LX_ERR_IO        A file cannot be read.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_recordio_reader_shuffle(lx_recordio_reader *reader, uint64_t chunks,
                                            uint64_t seed, uint64_t epoch, lx_error *error);

/** Frees a reader. NULL is allowed. */
LX_API void lx_recordio_reader_close(lx_recordio_reader *reader);

/**
 * Sets the largest record that the reader accepts, in bytes; the default is
 * #LX_DEFAULT_RECORDIO_LIMIT. A longer record counts as damaged.
 */
LX_API void lx_recordio_reader_set_limit(lx_recordio_reader *reader, uint64_t limit);

/**
 * Reads the next record.
 *
 * @param[in]  reader  The reader.
 * @param[out] record  Receives the record.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            A record was read.
 * @retval LX_END           There are no more records.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_CORRUPT   The file is damaged here, or ends within a record. The next call
 *                          continues at the next place where a record begins. After damage to
 *                          compressed data, nothing can be read, and it returns #LX_END.
 * @retval LX_ERR_LIMIT     The record is too long; the next call continues after it.
 * @retval LX_ERR_FORKED    The reader belongs to the parent process.
 * @retval LX_ERR_IO        The file cannot be read.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, the status with which the progress function ended the call.
 */
LX_API lx_status lx_recordio_reader_next(lx_recordio_reader *reader, lx_recordio_record *record,
                                         lx_error *error);

/**
 * Writes the record that lx_recordio_reader_next() returned last to another file, byte for byte as
 * it is stored, so that its data is not searched and cut again.
 *
 * @param[in]  reader  The reader.
 * @param[in]  writer  The writer of the other file.
 * @param[in]  key     As for lx_recordio_writer_write().
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_ERR_STATE  The last call of the reader returned no record.
 * @return Otherwise, any status that lx_recordio_writer_write() returns.
 */
LX_API lx_status lx_recordio_reader_copy(const lx_recordio_reader *reader,
                                         lx_recordio_writer *writer, const char *key,
                                         lx_error *error);

/**
 * Moves to the record at an offset, for example one from an index. If no record begins there, the
 * next read fails, even if the reader passes over damage; beyond the end of the file, it returns
 * #LX_END. An input that cannot be moved may still move within what was read ahead.
 *
 * @retval LX_OK            The reader is at the offset.
 * @retval LX_ERR_ARGUMENT  @p reader is NULL, or the offset is not a multiple of 4.
 * @retval LX_ERR_STATE     The input is a pipe or is compressed, or the reader was opened for a
 *                          part of files, so that it cannot move.
 * @retval LX_ERR_FORKED    The reader belongs to the parent process.
 * @retval LX_ERR_IO        The file cannot be moved.
 */
LX_API lx_status lx_recordio_reader_seek(lx_recordio_reader *reader, uint64_t offset,
                                         lx_error *error);

/** Returns the offset of the next record; after damage, where the search for it begins. */
LX_API uint64_t lx_recordio_reader_tell(const lx_recordio_reader *reader);

/** Returns the path of the file that the reader is in. It is valid until the next call of the
 * reader. */
LX_API const char *lx_recordio_reader_get_path(const lx_recordio_reader *reader);

/** Returns what the reader has passed over, since it was opened. */
LX_API lx_recordio_skipped lx_recordio_reader_get_skipped(const lx_recordio_reader *reader);

/** @} */

/**
 * @defgroup lx_recordio_index Read the index of a RecordIO file
 *
 * @code
 * uint64_t position, offset;
 * if (lx_recordio_index_find(index, "1234", &position)) {
 *     offset = lx_recordio_index_get_offset(index, position);
 *     lx_recordio_reader_seek(reader, offset, &error);
 * }
 * @endcode
 * @see lx_recordio_reader
 * @{
 */

/**
 * An index that was read: the keys of records, and where they begin.
 *
 * @par Thread safety
 * Any number of threads may use an index at a time, except lx_recordio_index_free().
 */
typedef struct lx_recordio_index lx_recordio_index;

/**
 * Reads an index into memory.
 *
 * @param[in]  path   The file.
 * @param[out] index  Receives the index; free it with lx_recordio_index_free(). NULL on failure.
 * @param[out] error  Receives the first failure; may be NULL.
 *
 * @retval LX_OK             The index was read.
 * @retval LX_ERR_ARGUMENT   A pointer is NULL.
 * @retval LX_ERR_NOT_FOUND  The file does not exist.
 * @retval LX_ERR_CORRUPT    A line is not a key, a tab and a multiple of 4.
 * @retval LX_ERR_LIMIT      The file has more than 16 GiB.
 * @retval LX_ERR_IO         The file cannot be read.
 * @retval LX_ERR_NOMEM      Out of memory.
 */
LX_API lx_status lx_recordio_index_open(const char *path, lx_recordio_index **index,
                                        lx_error *error);

/** Frees an index. NULL is allowed. */
LX_API void lx_recordio_index_free(lx_recordio_index *index);

/** Returns the number of records in the index. */
LX_API uint64_t lx_recordio_index_get_count(const lx_recordio_index *index);

/** Returns the key of line @p position, which must be less than the count. It belongs to the
 * index. */
LX_API const char *lx_recordio_index_get_key(const lx_recordio_index *index, uint64_t position);

/** Returns where the record of line @p position begins in the file. */
LX_API uint64_t lx_recordio_index_get_offset(const lx_recordio_index *index, uint64_t position);

/**
 * Finds the last line with a key: if a key occurs more than once, the last one counts, as in MXNet.
 * Compares with one key after another, from the end.
 *
 * @return Whether there is one; only then, @p position is set.
 */
LX_API bool lx_recordio_index_find(const lx_recordio_index *index, const char *key,
                                   uint64_t *position);

/** @} */

/**
 * @defgroup lx_recordio_label The header that MXNet puts before an image
 *
 * MXNet's records of images begin with a header of 24 bytes. If an image has several labels, they
 * follow the header; then comes the image, usually a JPEG. Whether the records of a file have this
 * header is not stored in it.
 *
 * @see lx_recordio_reader, lx_recordio_writer
 * @{
 */

/** A header, and where the rest of its record is. */
typedef struct lx_recordio_label {
    uint64_t id;        /**< The number of the image in the list from which it was packed. */
    uint64_t id2;       /**< Usually 0. */
    float label;        /**< The only label, if @ref count is 0. */
    uint32_t count;     /**< The number of labels in @ref labels; 0: the only one is @ref label. */
    const void *labels; /**< The labels, floats in little-endian order, not aligned. */
    const void *data;   /**< The image, within the record. */
    size_t size;        /**< Its bytes. */
} lx_recordio_label;

/**
 * Reads the header of a record.
 *
 * @param[in]  record  The record.
 * @param[in]  size    Its bytes.
 * @param[out] label   Receives the header; its pointers lead into the record.
 * @param[out] error   Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The header was read.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_CORRUPT   The record is too short for the header or for its labels.
 */
LX_API lx_status lx_recordio_label_read(const void *record, size_t size, lx_recordio_label *label,
                                        lx_error *error);

/** Returns label @p position, which must be less than @c count, or 0 if @c count is 0. */
LX_API float lx_recordio_label_get(const lx_recordio_label *label, uint32_t position);

/** The size of the header before the labels and the image, in bytes. */
#define LX_RECORDIO_LABEL_BYTES 24

/**
 * Writes the header and the labels of a record: #LX_RECORDIO_LABEL_BYTES + 4 * @c count bytes. The
 * members @c data and @c size are not used.
 */
LX_API void lx_recordio_label_write(const lx_recordio_label *label, void *out);

/** @} */

/**
 * @defgroup lx_source_open_recordio RecordIO files as sources of loaders
 * @see lx_loader, lx_recordio_index, lx_source_new_images(), loaderx(7)
 * @{
 */

/**
 * Opens a RecordIO file as a source: record i is the one in line i of the index. The file is mapped
 * into memory, so it must not be truncated while it is read.
 *
 * Without an index, this call reads the whole file to find the records, which then have their order
 * in the file. It keeps a list of 8 to 16 bytes for each record in memory, and writes nothing. If
 * several processes or many runs read a file, an index saves that time.
 *
 * With MXNet's header, the columns are "label" (#LX_FLOAT32; several labels are an array of
 * @p label_width numbers), "id" (#LX_INT64) and "image" (#LX_IMAGE, the rest of the record). If
 * records have no header, the only column is "data" (#LX_BYTES). An id of 2^63 or more keeps its
 * 64 bits, so that it is negative as an int64_t: 2^64 - 1 becomes -1.
 *
 * A damaged record fails with #LX_ERR_CORRUPT when it is read, and so does one that has another
 * number of labels: the ::lx_damage_policy of a loader applies. Sources of several files can be
 * combined with lx_source_new_concat().
 *
 * @param[in]  records      The file.
 * @param[in]  index        Its index, as lx_recordio_writer_create() or the command `loaderx
 *                          recordio index` makes it. NULL: the file is read to find the records.
 * @param[in]  label_width  The number of labels in the header of each record; 0: records have no
 *                          header.
 * @param[in]  progress     Called with the bytes read and those of the file, if there is no index;
 *                          it may end the call. NULL: none.
 * @param[in]  user         Passed to @p progress.
 * @param[out] source       Receives the source; release it with lx_source_unref().
 * @param[out] error        Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was opened.
 * @retval LX_ERR_MISMATCH  The index has records beyond the end of the file.
 * @retval LX_ERR_ARGUMENT  @p records or @p source is NULL; or there is no index, and the file is
 *                          compressed.
 * @retval LX_ERR_CORRUPT   The file is not a regular file; or there is no index, and the file is
 *                          damaged. An index that was made with `loaderx recordio index --skip`
 *                          leaves out what is damaged.
 * @retval LX_ERR_LIMIT     There is no index, and a record is larger than
 *                          #LX_DEFAULT_RECORDIO_LIMIT.
 * @return Otherwise, any status that lx_recordio_index_open() returns, or with which @p progress
 *         ended the call.
 */
LX_API lx_status lx_source_open_recordio(const char *records, const char *index,
                                         uint32_t label_width, lx_progress_function progress,
                                         void *user, lx_source **source, lx_error *error);

/** @} */

LX_END_DECLS

#endif
