/* SPDX-License-Identifier: MIT */
#include "mixing-counts.h"

#include <stdlib.h>
#include <string.h>

#include "failure.h"

/** The number of positions below @p end that have an offset in a phase. */
static uint64_t covered(const mixing_counts *self, const mixing_phase *phase, uint64_t end)
{
    uint64_t rest = end % self->length, whole = end / self->length * (phase->end - phase->begin);
    if (rest <= phase->begin)
        return whole;
    return whole + (rest < phase->end ? rest : phase->end) - phase->begin;
}

/** Counts the samples of each set at positions below @p end that have an offset in a phase, in
 * whole epochs and in the partial one. Adds the counts, multiplied by @p sign, to @p samples. */
static lx_status add_below(const mixing_counts *self, const mixing_phase *phase, uint64_t end,
                           uint64_t sign, uint64_t *samples, lx_error *error)
{
    uint64_t rest = end % self->length, epochs = end / self->length;
    size_t count = self->mixed->count;
    uint64_t *counts = calloc(count, sizeof *counts);
    lx_status status = counts != NULL ? LX_OK : fail_memory(error, "counting");
    if (status == LX_OK)
        status = lx_order_get_part_lengths(self->order, phase->begin, phase->end, counts, error);
    for (size_t i = 0; status == LX_OK && i < count; i++)
        samples[i] += sign * epochs * counts[i];
    if (status == LX_OK && rest > phase->begin) {
        status = lx_order_get_part_lengths(self->order, phase->begin,
                                           rest < phase->end ? rest : phase->end, counts, error);
        for (size_t i = 0; status == LX_OK && i < count; i++)
            samples[i] += sign * counts[i];
    }
    free(counts);
    return status;
}

static lx_status count_phase(mixing_counts *self, size_t number, lx_error *error)
{
    const mixing_weighting *weighting = &self->mixed->weightings[number];
    bool is_last = number + 1 == self->mixed->weighting_count;
    uint64_t begin = weighting->begin, end = is_last ? self->length : weighting[1].begin;
    mixing_phase *phase = &self->phases[number];
    phase->begin = begin < self->length ? begin : self->length;
    phase->end = end < self->length ? end : self->length;
    phase->positions = covered(self, phase, self->end) - covered(self, phase, self->first);
    phase->samples = calloc(self->mixed->count, sizeof *phase->samples);
    if (phase->samples == NULL)
        return fail_memory(error, "counting");
    lx_status status = add_below(self, phase, self->end, 1, phase->samples, error);
    if (status == LX_OK)
        status = add_below(self, phase, self->first, UINT64_MAX, phase->samples, error);
    return status;
}

/** Adds the samples that the weights of a phase demand for the range. */
static void want(mixing_counts *self, size_t number)
{
    const double *weights = self->mixed->weightings[number].weights;
    double largest = 0, sum = 0, part;
    for (size_t i = 0; i < self->mixed->count; i++)
        largest = weights[i] > largest ? weights[i] : largest;
    for (size_t i = 0; i < self->mixed->count; i++)
        sum += weights[i] / largest; /* scaled, because the sum of the weights themselves may be
                                        infinite */
    part = (double)self->phases[number].positions / (double)(self->end - self->first);
    for (size_t i = 0; i < self->mixed->count; i++)
        self->wanted[i] += weights[i] / largest / sum * part;
}

lx_status mixing_counts_new(mixing_counts *self, const mixing *mixed, lx_order *order,
                            uint64_t first, uint64_t end, lx_error *error)
{
    *self = (mixing_counts){.mixed = mixed,
                            .order = order,
                            .length = lx_order_get_length(order),
                            .first = first,
                            .end = end,
                            .samples = calloc(mixed->count, sizeof *self->samples),
                            .wanted = calloc(mixed->count, sizeof *self->wanted),
                            .phases = calloc(mixed->weighting_count, sizeof *self->phases)};
    lx_status status = self->samples != NULL && self->wanted != NULL && self->phases != NULL
                           ? LX_OK
                           : fail_memory(error, "counting");
    if (status == LX_OK)
        status = lx_order_get_part_lengths(order, first, end, self->samples, error);
    for (size_t i = 0; status == LX_OK && i < mixed->weighting_count; i++) {
        status = count_phase(self, i, error);
        if (status == LX_OK && first < end)
            want(self, i);
    }
    return status;
}

void mixing_counts_free(mixing_counts *self)
{
    for (size_t i = 0; self->phases != NULL && i < self->mixed->weighting_count; i++)
        free(self->phases[i].samples);
    free(self->phases);
    free(self->wanted);
    free(self->samples);
    *self = (mixing_counts){0};
}
