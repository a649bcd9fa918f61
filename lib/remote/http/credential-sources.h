/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The places where credentials for S3 are looked for: environment, profile, the service of
 * the container, and that of the virtual machine.
 */
#ifndef LX_REMOTE_CREDENTIAL_SOURCES_H
#define LX_REMOTE_CREDENTIAL_SOURCES_H

#include <loaderx/remote.h>

#include "remote/http/aws-environment.h"
#include "remote/http/http-client.h"

/**
 * Gets credentials from the first source that is configured.
 *
 * @param client       For services.
 * @param credentials  Zeroed by the caller.
 * @retval LX_ERR_NOT_FOUND  No source is configured.
 * @retval LX_ERR_TIMEOUT    A service does not answer: try again later.
 * @retval LX_ERR_CANCELED   The client was stopped.
 * @return Other statuses if a source is configured wrongly.
 */
lx_status lx__credential_sources_ask(const lx__aws_environment *environment,
                                     lx__http_client *client, lx_credentials *credentials,
                                     lx_error *error);

/** Parses the JSON that services and processes answer with. @p source is for messages. */
lx_status lx__credentials_parse(const char *text, size_t size, const char *source,
                                lx_credentials *credentials, lx_error *error);

#endif
