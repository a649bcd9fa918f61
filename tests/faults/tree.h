/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Images as real directories.
 */
#ifndef LX_TESTS_FAULTS_TREE_H
#define LX_TESTS_FAULTS_TREE_H

#include "loss.h"

/** A new directory in memory where there is /dev/shm, else below TMPDIR; an absolute path without
 * links. For tree_remove() and free(). */
char *tree_scratch(void);

/** Removes all that is in the directory. */
void tree_clear(const char *root);

void tree_remove(const char *root);

/** Makes an image in an empty directory. */
void tree_make(const char *root, const struct image *image);

/** Whether the directory holds exactly that. */
bool tree_equals(const char *root, const struct image *image);

#endif
