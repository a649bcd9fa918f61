/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What `loaderx pack` writes: a RecordIO file and its index, or a dataset.
 *
 * Until it is complete, it has another name: OUTPUT.pack-TAG, where the tag stands for what is
 * packed and how. After an interruption, the same command finds it by this name. It needs no other
 * state: each record has the id of its image. For the time when outputs get their names, see
 * pack-commit.h.
 */
#ifndef LX_TOOLS_PACK_OUTPUT_H
#define LX_TOOLS_PACK_OUTPUT_H

#include <stdbool.h>

#include <loaderx/executor.h>

#include "image-list.h"

/** What to do if there is an output of the same name, complete or not. */
typedef enum pack_mode {
    PACK_NEW,    /**< Fail. */
    PACK_RESUME, /**< Continue one that is not complete; fail if it is. */
    PACK_AGAIN,  /**< Begin again one that is not complete; fail if it is. */
    PACK_REPLACE /**< Replace it. */
} pack_mode;

/** How the writing ends. */
typedef enum pack_end {
    PACK_COMPLETE, /**< All records are there. */
    PACK_KEEP,     /**< Keep the records to continue later; if there are none, remove the output. */
    PACK_DISCARD   /**< Remove the output. */
} pack_end;

/** The images of an output, in the order of their records. */
typedef struct pack_images {
    const image_list *list;
    size_t first, count;
    bool gaps; /**< Images may have been left out, because they are bad. */
} pack_images;

typedef struct pack_output pack_output;

/** A kind of outputs. A call is made only after those before it have succeeded, except @c close
 * and @c free. */
typedef struct pack_output_class {
    size_t size; /**< Of the struct that begins with a ::pack_output. */

    /** Checks that the output may be written; writes nothing. */
    lx_status (*check)(pack_output *self, pack_mode mode, lx_error *error);
    /** Keeps other processes from packing the same; NULL: open() does. */
    lx_status (*lock)(pack_output *self, lx_error *error);
    /** Opens the output for writing. If it continues, @p at receives the first image to pack, and
     * @p found how many records there are. */
    lx_status (*open)(pack_output *self, const pack_images *images, pack_mode mode, size_t *at,
                      uint64_t *found, lx_error *error);
    /** Adds a record with MXNet's header. */
    lx_status (*add)(pack_output *self, uint64_t id, const void *record, size_t size,
                     lx_error *error);
    /** Closes the output, which is then durable, under its temporary name. One that is closed can
     * still be removed, with #PACK_DISCARD. */
    lx_status (*close)(pack_output *self, pack_end end, lx_error *error);
    /** Gives the closed output its name, unless it has it already. */
    lx_status (*install)(pack_output *self, lx_error *error);
    void (*free)(pack_output *self); /**< Frees what the kind has allocated, and its lock. */
} pack_output_class;

extern const pack_output_class pack_records_class, pack_dataset_class;

/** An output. */
struct pack_output {
    const pack_output_class *class;
    const char *path; /**< Borrowed. */
    char *unfinished; /**< Its temporary name. */
    uint32_t tag;
    bool committed;        /**< It was complete before, and may have its name already. */
    lx_executor *executor; /**< Of the writer of a dataset; borrowed. */
};

/**
 * Creates an output, and checks that it may be written. It is a RecordIO file if its name ends in
 * .rec. Free it with pack_output_free(), even after a failure.
 * @retval LX_ERR_EXISTS     It exists, complete or not, and the mode does not allow this.
 * @retval LX_ERR_NOT_FOUND  It was complete, but is not there any more.
 */
lx_status pack_output_new(const char *path, uint32_t tag, pack_mode mode, bool committed,
                          lx_executor *executor, pack_output **output, lx_error *error);

/** Whether it has its name already, because an earlier process gave it. */
bool pack_output_is_named(const pack_output *self);

/** NULL is allowed. */
void pack_output_free(pack_output *output);

/** A packer_take, for which @p user is the output. */
lx_status pack_output_take(void *user, uint64_t id, const void *record, size_t size,
                           lx_error *error);

/**
 * Locks a file of the output @p path until it is closed.
 * @retval LX_ERR_BUSY  Another process has locked it.
 */
lx_status pack_output_lock(int file, const char *path, lx_error *error);

/** Makes the temporary name of a file; NULL if memory runs out. */
char *pack_output_name(const char *path, uint32_t tag);

/** Fails because an interrupted pack has left the file or dataset @p name. */
lx_status pack_output_fail_begun(const char *name, lx_error *error);

/** Whether the record of image @p id may follow those of the images before @p at, which then moves
 * behind that image. */
bool pack_images_match(const pack_images *self, size_t *at, uint64_t id);

#endif
