/* SPDX-License-Identifier: MIT */
/* Prints the samples of each set, as text and as JSON. */
#include "mixing-counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "report.h"
#include "table.h"

static double part_of(uint64_t samples, uint64_t positions)
{
    return (double)samples / (double)positions;
}

/** Formats a ratio as a percentage, or as a dash if there are no positions. */
static void print_percent(char *cell, double part, uint64_t positions)
{
    if (positions != 0)
        snprintf(cell, TABLE_CELL, "%.2f%%", 100 * part);
    else
        snprintf(cell, TABLE_CELL, "-");
}

/* ---- as text */

static lx_status print_sets(const mixing_counts *self, lx_error *error)
{
    static const char *const headings[] = {"set",     "records", "weight",
                                           "samples", "share",   "epochs"};
    uint64_t positions = self->end - self->first;
    table sets;
    lx_status status = table_begin(&sets, headings, 6, 1, error);
    for (size_t i = 0; status == LX_OK && i < self->mixed->count; i++) {
        const mixing_set *set = &self->mixed->sets[i];
        char(*row)[TABLE_CELL] = table_add(&sets, error);
        if (row == NULL) {
            status = LX_ERR_NOMEM;
            break;
        }
        snprintf(row[0], TABLE_CELL, "%s", set->name);
        snprintf(row[1], TABLE_CELL, "%" PRIu64, set->records);
        print_percent(row[2], self->wanted[i], positions);
        snprintf(row[3], TABLE_CELL, "%" PRIu64, self->samples[i]);
        print_percent(row[4], part_of(self->samples[i], positions), positions);
        snprintf(row[5], TABLE_CELL, "%.4g", part_of(self->samples[i], set->records));
    }
    if (status == LX_OK)
        table_print(&sets);
    table_free(&sets);
    return status;
}

static lx_status add_phase(const mixing_counts *self, const mixing_phase *phase, table *phases,
                           lx_error *error)
{
    char(*row)[TABLE_CELL] = table_add(phases, error);
    if (row == NULL)
        return LX_ERR_NOMEM;
    snprintf(row[0], TABLE_CELL, "%" PRIu64, phase->begin);
    snprintf(row[1], TABLE_CELL, "%" PRIu64, phase->end);
    snprintf(row[2], TABLE_CELL, "%" PRIu64, phase->positions);
    for (size_t i = 0; i < self->mixed->count; i++)
        print_percent(row[3 + i], part_of(phase->samples[i], phase->positions), phase->positions);
    return LX_OK;
}

/** Prints one line for each phase of an epoch, with a column for the share of each set. */
static lx_status print_phases(const mixing_counts *self, lx_error *error)
{
    size_t count = self->mixed->count;
    table phases = {0};
    const char **headings = calloc(3 + count, sizeof *headings);
    if (headings == NULL)
        return fail_memory(error, "a table");
    headings[0] = "offset";
    headings[1] = "until";
    headings[2] = "samples";
    for (size_t i = 0; i < count; i++)
        headings[3 + i] = self->mixed->sets[i].name;
    lx_status status = table_begin(&phases, headings, 3 + count, 0, error);
    for (size_t i = 0; status == LX_OK && i < self->mixed->weighting_count; i++)
        status = add_phase(self, &self->phases[i], &phases, error);
    if (status == LX_OK) {
        printf("\nphases of an epoch:\n");
        table_print(&phases);
    }
    table_free(&phases);
    free(headings);
    return status;
}

lx_status mixing_counts_print(const mixing_counts *self, lx_error *error)
{
    printf("positions %" PRIu64 " to %" PRIu64 "; an epoch has %" PRIu64 "\n\n", self->first,
           self->end, self->length);
    lx_status status = print_sets(self, error);
    if (status == LX_OK && self->mixed->weighting_count > 1)
        status = print_phases(self, error);
    return status;
}

/* ---- as JSON, with integers formatted as text, because jansson's integers end at 2^63 - 1 */

static void print_part(const char *name, double part, bool is_there)
{
    char text[REPORT_REAL_TEXT];
    printf(", \"%s\": %s", name, is_there ? report_real(part, text) : "null");
}

static lx_status print_set(const mixing_counts *self, size_t number, lx_error *error)
{
    const mixing_set *set = &self->mixed->sets[number];
    uint64_t samples = self->samples[number], positions = self->end - self->first;
    printf("%s\n    {\"name\": ", number != 0 ? "," : "");
    lx_status status = report_print_text(set->name, error);
    printf(", \"records\": %" PRIu64, set->records);
    print_part("weight", self->wanted[number], positions != 0);
    printf(", \"samples\": %" PRIu64, samples);
    print_part("share", part_of(samples, positions), positions != 0);
    print_part("epochs", part_of(samples, set->records), true);
    putchar('}');
    return status;
}

static void print_phase(const mixing_counts *self, size_t number)
{
    const mixing_phase *phase = &self->phases[number];
    char text[REPORT_REAL_TEXT];
    printf("%s\n    {\"offset\": %" PRIu64 ", \"until\": %" PRIu64 ", \"positions\": %" PRIu64
           ",\n     \"weights\": [",
           number != 0 ? "," : "", phase->begin, phase->end, phase->positions);
    for (size_t i = 0; i < self->mixed->count; i++)
        printf("%s%s", i != 0 ? ", " : "",
               report_real(self->mixed->weightings[number].weights[i], text));
    printf("],\n     \"samples\": [");
    for (size_t i = 0; i < self->mixed->count; i++)
        printf("%s%" PRIu64, i != 0 ? ", " : "", phase->samples[i]);
    printf("]}");
}

lx_status mixing_counts_print_json(const mixing_counts *self, lx_error *error)
{
    lx_status status = LX_OK;
    printf("{\n  \"length\": %" PRIu64 ",\n  \"exhausted\": \"%s\",\n  \"method\": \"%s\",\n",
           self->length, mixing_exhausted(self->mixed), mixing_method(self->mixed));
    printf("  \"from\": %" PRIu64 ",\n  \"until\": %" PRIu64 ",\n  \"sets\": [", self->first,
           self->end);
    for (size_t i = 0; status == LX_OK && i < self->mixed->count; i++)
        status = print_set(self, i, error);
    printf("],\n  \"phases\": [");
    for (size_t i = 0; status == LX_OK && i < self->mixed->weighting_count; i++)
        print_phase(self, i);
    printf("]\n}\n");
    return status;
}
