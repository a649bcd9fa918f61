/* SPDX-License-Identifier: MIT */
/* A source whose dataset comes from a provider: its records and its saved state are those of the
 * local dataset. */
#include <loaderx/source.h>

#include "../../scratch.h"
#include "../../zrecord/provider.h"
#include "../../zrecord/records.h"

#define RECORDS 500
#define STATE_MAX 4096

START_TEST(saves_the_state_of_the_local_dataset)
{
    char *scratch = scratch_make(), states[2][STATE_MAX];
    lx_error error = LX_ERROR_INIT;
    struct elsewhere place;
    lx_dataset *datasets[2];
    lx_source *sources[2];
    records_make_sealed("d", RECORDS);
    elsewhere_begin(&place);
    unit_ok(lx_dataset_open("d", NULL, &datasets[0], &error));
    unit_ok(elsewhere_dataset(&place, "d", NULL, &datasets[1], &error));
    for (int i = 0; i < 2; i++) {
        unit_ok(lx_source_new_dataset(datasets[i], &sources[i], &error));
        unit_ok(lx_source_save(sources[i], states[i], STATE_MAX, NULL, &error));
    }
    ck_assert_str_eq(states[0], states[1]);
    unit_ok(lx_source_match(sources[1], states[0], false, &error));
    unit_ok(lx_source_match(sources[0], states[1], false, &error));
    for (int i = 0; i < 2; i++) {
        lx_source_unref(sources[i]);
        lx_dataset_close(datasets[i]);
    }
    elsewhere_end(&place);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_state_is_saved_although_rows_cannot_be_fetched)
{
    char *scratch = scratch_make(), state[STATE_MAX];
    lx_error error = LX_ERROR_INIT;
    struct elsewhere place;
    lx_dataset *dataset;
    lx_source *source;
    records_make_sealed("d", RECORDS);
    elsewhere_begin(&place);
    unit_ok(elsewhere_dataset(&place, "d", NULL, &dataset, &error));
    unit_ok(lx_source_new_dataset(dataset, &source, &error));
    place.fails = LX_ERR_IO;
    place.victim = ".offset";
    unit_ok(lx_source_save(source, state, STATE_MAX, NULL, &error));
    ck_assert_uint_eq(place.failures, 1); /* one is enough */
    place.fails = LX_OK;
    unit_ok(lx_source_match(source, state, false, &error));
    lx_source_unref(source);
    lx_dataset_close(dataset);
    elsewhere_end(&place);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("loader/sources/source-elsewhere", saves_the_state_of_the_local_dataset,
          a_state_is_saved_although_rows_cannot_be_fetched)
