/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A dataset that takes the place of another one, once it is whole.
 *
 * It is made beside the other, as DIR.new. Whatever interrupts that, the other one is as it was;
 * but on a file system that cannot exchange two names, the end is a removal and then a rename.
 */
#ifndef LX_TOOLS_REPLACEMENT_H
#define LX_TOOLS_REPLACEMENT_H

#include <loaderx/zrecord.h>

typedef struct replacement {
    char *path;       /**< What is replaced, if it is there; not a link to it. */
    char *made;       /**< Where the new one is to be made. */
    bool there;       /**< There is a dataset at @ref path. */
    lx_writer *lock;  /**< Keeps writers away from it; NULL where it is sealed. */
    bool kept;        /**< After replacement_finish(): the old one could not be removed. */
    char *former;     /**< Then where it is now. */
    lx_error why;     /**< Then why. */
    size_t former_size;
} replacement;

/**
 * @retval LX_ERR_BUSY    The dataset at @p path is being written.
 * @retval LX_ERR_EXISTS  Something else is at @p path or in the dataset there, or anything at
 *                        DIR.new.
 * @return Else as lx_writer_open().
 */
lx_status replacement_begin(replacement *self, const char *path, lx_error *error);

/** Puts the new dataset, which is made and closed, in the place of the other, which is removed. Who
 * still reads the other can go on: then it is kept as DIR.former-N, the first that is free; so
 * it is with a file in it that is not its own and came in meanwhile, or has the name of a table.
 * That is no failure. Nothing by such a name is ever removed here: it may be somebody's own. */
lx_status replacement_finish(replacement *self, lx_error *error);

/** Ends it, finished or not. */
void replacement_end(replacement *self);

#endif
