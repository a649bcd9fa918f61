/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Directories for tests.
 */
#ifndef LX_TESTS_FAULTS_TREE_H
#define LX_TESTS_FAULTS_TREE_H

#include "support.h"

/** A new directory in memory where there is /dev/shm, else below TMPDIR; an absolute path without
 * links. For tree_remove() and free(). */
char *tree_scratch(void);

/** Removes the content of the directory. */
void tree_clear(const char *root);

void tree_remove(const char *root);

/** Copies a directory, which must hold only files and directories. */
void tree_copy(const char *from, const char *to);

#endif
