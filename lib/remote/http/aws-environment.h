/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The environment variables that configure access to S3, as the tools of AWS read them. They
 * are read once, by the thread that opens a dataset: another thread might change them later.
 */
#ifndef LX_REMOTE_AWS_ENVIRONMENT_H
#define LX_REMOTE_AWS_ENVIRONMENT_H

#include <loaderx/status.h>

#define LX__AWS_MAP(X)                                                                             \
    X(ACCESS_KEY_ID)                                                                               \
    X(SECRET_ACCESS_KEY)                                                                           \
    X(SESSION_TOKEN)                                                                               \
    X(PROFILE)                                                                                     \
    X(SHARED_CREDENTIALS_FILE)                                                                     \
    X(CONFIG_FILE)                                                                                 \
    X(CONTAINER_CREDENTIALS_FULL_URI)                                                              \
    X(CONTAINER_CREDENTIALS_RELATIVE_URI)                                                          \
    X(CONTAINER_AUTHORIZATION_TOKEN)                                                               \
    X(CONTAINER_AUTHORIZATION_TOKEN_FILE)                                                          \
    X(EC2_METADATA_DISABLED)                                                                       \
    X(EC2_METADATA_SERVICE_ENDPOINT)                                                               \
    X(ENDPOINT_URL_S3)                                                                             \
    X(ENDPOINT_URL)                                                                                \
    X(REGION)                                                                                      \
    X(DEFAULT_REGION)                                                                              \
    X(CA_BUNDLE)

/** LX__AWS_REGION is the index of the variable AWS_REGION, and so on. */
enum {
#define LX__AWS_CONSTANT(name) LX__AWS_##name,
    LX__AWS_MAP(LX__AWS_CONSTANT)
#undef LX__AWS_CONSTANT
        LX__AWS_COUNT
};

typedef struct lx__aws_environment {
    char *value[LX__AWS_COUNT]; /**< Owned; NULL if the variable is absent or empty. */
    char *home;                 /**< $HOME; owned; may be NULL. */
} lx__aws_environment;

lx_status lx__aws_environment_read(lx__aws_environment *environment, lx_error *error);

/** Overwrites and frees the values. */
void lx__aws_environment_clear(lx__aws_environment *environment);

#endif
