/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Makes fork() and the opening of files exclude each other.
 *
 * fork() copies the descriptors first and the memory later. If another thread opens a file in
 * between, the child knows the number of a descriptor that it does not have, and that number may
 * soon refer to a different file. So fork() waits for files that are being opened, and no file is
 * opened while it waits and runs.
 */
#ifndef LX_BASE_FORK_GUARD_H
#define LX_BASE_FORK_GUARD_H

/** Begins to open a file: waits while another thread is in fork(). */
void lx__fork_guard_enter(void);

/** The file is open, or could not be opened. */
void lx__fork_guard_leave(void);

#endif
