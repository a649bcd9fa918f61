/* SPDX-License-Identifier: MIT */
#include "zrecord/names.h"

#include <inttypes.h>
#include <stdio.h>

void lx__log_name(uint64_t generation, char *name)
{
    if (generation == 0)
        snprintf(name, LX__NAME_SIZE, LX__LOG_NAME);
    else
        snprintf(name, LX__NAME_SIZE, LX__LOG_NAME ".%" PRIu64, generation);
}

void lx__chunk_name(uint32_t id, char *name)
{
    snprintf(name, LX__NAME_SIZE, "%" PRIu32 ".zr", id);
}

void lx__table_name(const char *stem, const char *kind, uint32_t table_generation, char *name)
{
    if (table_generation == 0)
        snprintf(name, LX__NAME_SIZE, "%s.%s", stem, kind);
    else
        snprintf(name, LX__NAME_SIZE, "%s.%s.%" PRIu32, stem, kind, table_generation);
}
