/* SPDX-License-Identifier: MIT */
#include "maintenance.h"

static lx_status take_option(void *user, const command_option *option, char *value, lx_error *error)
{
    maintenance_request *self = user;
    (void)value, (void)error;
    self->quiet = self->quiet || option->id == 'q';
    self->json = self->json || option->id == OPTION_JSON;
    self->wait = self->wait || option->id == 'w';
    return LX_OK;
}

static lx_status take_argument(void *user, const char *text, lx_error *error)
{
    maintenance_request *self = user;
    return command_take_directory(&self->path, text, error);
}

lx_status maintenance_parse(maintenance_request *request, const command *self, int argc,
                            char **argv, lx_error *error)
{
    const command_line line = {take_option, take_argument, request};
    *request = (maintenance_request){0};
    lx_status status = command_parse(self, argc, argv, &line, error);
    return status == LX_OK ? command_need_directory(request->path, error) : status;
}
