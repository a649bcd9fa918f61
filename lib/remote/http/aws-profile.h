/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The files ~/.aws/credentials and ~/.aws/config: sections with lines "key = value".
 */
#ifndef LX_REMOTE_AWS_PROFILE_H
#define LX_REMOTE_AWS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "remote/http/aws-environment.h"

/** The most bytes of such a file. */
#define LX__AWS_FILE_SIZE ((size_t)1 << 20)

/**
 * Finds @p key in the section @p section of the text of a file. The last of several lines counts.
 * Comments, and lines that are indented, which belong to nested settings, are ignored.
 *
 * @param section  Such as "default" or "profile work".
 * @param value    Receives the value, NUL-terminated. Unchanged if there is none.
 * @return False if a value was found but has @p capacity bytes or more, or a NUL.
 */
bool lx__aws_profile_find(const char *text, size_t size, const char *section, const char *key,
                          char *value, size_t capacity);

/**
 * Gets a setting of the profile that the environment selects, from the file of credentials or, if
 * it is not there, from that of the configuration. A file that does not exist has no settings.
 *
 * @param value  Receives the value; "" if there is none.
 * @retval LX_ERR_IO     A file cannot be read.
 * @retval LX_ERR_LIMIT  A file or the value is too long.
 */
lx_status lx__aws_profile_get(const lx__aws_environment *environment, const char *key, char *value,
                              size_t capacity, lx_error *error);

#endif
