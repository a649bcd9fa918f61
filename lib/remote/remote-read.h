/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads a file of a dataset elsewhere: the pages that are here, and the others by fetching
 * them. See lx__provider_class for what each function does.
 */
#ifndef LX_REMOTE_READ_H
#define LX_REMOTE_READ_H

#include "remote/remote-file.h"

lx_status lx__remote_file_get_size(lx__remote_file *file, uint64_t *size, lx_error *error);
lx_status lx__remote_file_expect_size(lx__remote_file *file, uint64_t size, bool exact,
                                      lx_error *error);
lx_status lx__remote_file_read(lx__remote_file *file, void *data, size_t size, uint64_t offset,
                               size_t *got, lx_error *error);
void lx__remote_file_will_need(lx__remote_file *file, uint64_t offset, uint64_t size);
bool lx__remote_file_is_absent(lx__remote_file *file, uint64_t offset);

/** Drops pages; see lx__provider_class. The file is read past the tier from then on. */
bool lx__remote_file_renew(lx__remote_file *file, uint64_t offset, uint64_t size);

#endif
