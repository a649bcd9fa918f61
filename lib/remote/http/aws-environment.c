/* SPDX-License-Identifier: MIT */
#include "remote/http/aws-environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "remote/http/wipe.h"

static const char *const names[] = {
#define NAME(name) "AWS_" #name,
    LX__AWS_MAP(NAME)
#undef NAME
};

static lx_status read_variable(const char *name, char **value, lx_error *error)
{
    const char *text = getenv(name);
    *value = NULL;
    if (text != NULL && *text != '\0' && (*value = lx__strdup(text)) == NULL)
        return lx__fail_memory(error, "the environment");
    return LX_OK;
}

lx_status lx__aws_environment_read(lx__aws_environment *environment, lx_error *error)
{
    *environment = (lx__aws_environment){0};
    lx_status status = read_variable("HOME", &environment->home, error);
    for (size_t i = 0; i < LX__AWS_COUNT && status == LX_OK; i++)
        status = read_variable(names[i], &environment->value[i], error);
    if (status != LX_OK)
        lx__aws_environment_clear(environment);
    return status;
}

void lx__aws_environment_clear(lx__aws_environment *environment)
{
    for (size_t i = 0; i < LX__AWS_COUNT; i++) {
        if (environment->value[i] != NULL)
            lx__wipe(environment->value[i], strlen(environment->value[i]));
        lx__free(environment->value[i]);
    }
    lx__free(environment->home);
    *environment = (lx__aws_environment){0};
}
