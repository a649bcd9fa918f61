/* SPDX-License-Identifier: MIT */
#include "sampler/orders/mixture-weights.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sampler/core/saved-state.h"

/** Prints "%.17g" as in the "C" locale: replaces the locale's decimal separator, which may have
 * several bytes. */
static void print_weight(double weight, char text[32])
{
    bool is_point = false;
    char *to = text, *from = text;
    snprintf(text, 32, "%.17g", weight);
    for (; *from != '\0'; from++) {
        bool was_point = is_point;
        is_point = strchr("0123456789+-e", *from) == NULL;
        if (!is_point)
            *to++ = *from;
        else if (!was_point)
            *to++ = '.';
    }
    *to = '\0';
}

/** Lists weights as strings: some JSON readers do not preserve fractions exactly. */
static json_t *list_weights(const double *weights, size_t count)
{
    char text[32];
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        print_weight(weights[i], text);
        if (json_array_append_new(list, json_string(text)) == -1) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static lx_status state_weights(const lx__mixture_weights *weighting, size_t count,
                               lx__saved_weights *stated, lx_error *error)
{
    json_t *json = lx__state_shorten(list_weights(weighting->weights, count));
    stated->begin = weighting->begin;
    if (json_is_string(json))
        snprintf(stated->digest, sizeof stated->digest, "%s", json_string_value(json));
    else if (json != NULL)
        stated->weights = lx__alloc_array(count, sizeof *stated->weights);
    if (stated->weights != NULL)
        memcpy(stated->weights, weighting->weights, count * sizeof *stated->weights);
    bool is_stated = stated->weights != NULL || json_is_string(json);
    json_decref(json);
    return is_stated ? LX_OK : lx__fail_memory(error, "a mixture");
}

lx_status lx__saved_weights_list_new(const lx_mixture *mixture, lx__saved_weights_list *weightings,
                                     lx_error *error)
{
    size_t count = mixture->weighting_count;
    *weightings = (lx__saved_weights_list){
        .set_count = mixture->count, .list = lx__alloc_array(count, sizeof *weightings->list)};
    if (weightings->list == NULL)
        return lx__fail_memory(error, "a mixture");
    weightings->count = count;
    lx_status status = LX_OK;
    for (size_t i = 0; status == LX_OK && i < count; i++)
        status = state_weights(&mixture->weightings[i], mixture->count, &weightings->list[i],
                               error);
    if (status != LX_OK)
        lx__saved_weights_list_free(weightings);
    return status;
}

void lx__saved_weights_list_free(lx__saved_weights_list *weightings)
{
    for (size_t i = 0; i < weightings->count; i++)
        lx__free(weightings->list[i].weights);
    lx__free(weightings->list);
    *weightings = (lx__saved_weights_list){0};
}

json_t *lx__saved_weights_list_to_json(const lx__saved_weights_list *weightings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < weightings->count; i++) {
        const lx__saved_weights *stated = &weightings->list[i];
        json_t *item = json_object();
        int failed = json_object_set_new(item, "begin", lx__state_number(stated->begin));
        failed |= json_object_set_new(item, "weights",
                                      stated->weights != NULL
                                          ? list_weights(stated->weights, weightings->set_count)
                                          : json_string(stated->digest));
        /* Takes ownership of the item, even on failure. */
        if (json_array_append_new(list, item) == -1 || failed != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return lx__state_shorten(list);
}
