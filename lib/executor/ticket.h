/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Tickets, as the layers above use them.
 */
#ifndef LX_EXECUTOR_TICKET_H
#define LX_EXECUTOR_TICKET_H

#include <stdbool.h>

#include <loaderx/executor.h>

/** Whether the ticket's task is over: no part of it is running or will run. */
LX_API bool lx__ticket_is_over(lx_ticket *ticket);

#endif
