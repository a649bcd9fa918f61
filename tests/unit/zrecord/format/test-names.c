/* SPDX-License-Identifier: MIT */
#include "zrecord/format/names.h"

#include <loaderx/zrecord.h>

#include <string.h>

#include "../../unit.h"
#include "zrecord/format/meta.h"

START_TEST(the_first_generation_has_no_number)
{
    char name[LX__NAME_SIZE];
    lx__wal_name(0, name);
    ck_assert_str_eq(name, "LOG");
    lx__table_name("image", LX__OFFSET_KIND, 0, name);
    ck_assert_str_eq(name, "image.offset");
    lx__table_name("image~2", LX__CHECK_KIND, 0, name);
    ck_assert_str_eq(name, "image~2.check");
    lx__chunk_name(0, name);
    ck_assert_str_eq(name, "0.zr");
}
END_TEST

START_TEST(later_generations_end_with_their_number)
{
    char name[LX__NAME_SIZE];
    lx__wal_name(7, name);
    ck_assert_str_eq(name, "LOG.7");
    lx__table_name("image", LX__OFFSET_KIND, 10, name);
    ck_assert_str_eq(name, "image.offset.10");
    lx__chunk_name(100, name);
    ck_assert_str_eq(name, "100.zr");
    lx__dict_name("image~2", name); /* it has no generation */
    ck_assert_str_eq(name, "image~2.dict");
}
END_TEST

START_TEST(the_longest_names_fit)
{
    char name[LX__NAME_SIZE], stem[LX_MAX_FIELD_NAME + 16], expected[256];
    memset(stem, 'x', LX_MAX_FIELD_NAME);
    strcpy(stem + LX_MAX_FIELD_NAME, "~4294967295");
    lx__table_name(stem, LX__OFFSET_KIND, UINT32_MAX, name);
    snprintf(expected, sizeof expected, "%s.offset.4294967295", stem);
    ck_assert_str_eq(name, expected);
    lx__wal_name(LX__GENERATION_MAX, name);
    ck_assert_str_eq(name, "LOG.4611686018427387904");
    lx__chunk_name(LX__CHUNK_ID_MAX, name);
    ck_assert_str_eq(name, "4294967294.zr");
}
END_TEST

START_TEST(recognizes_names_of_files)
{
    static const struct {
        const char *name;
        bool log, table, chunk;
        uint64_t number;
    } cases[] = {
        {"LOG", true, false, false, 0},
        {"LOG.7", true, false, false, 7},
        {"LOG.0", false, false, false, 0},
        {"LOG.07", false, false, false, 0},
        {"LOG.", false, false, false, 0},
        {"LOGS", false, false, false, 0},
        {"x.offset", false, true, false, 0},
        {"x.check.12", false, true, false, 12},
        {"x.offset.", false, false, false, 0},
        {"x.offset.1a", false, false, false, 0},
        {"xx.offset", false, false, false, 0},
        {"x.offset.bak", false, false, false, 0},
        {"0.zr", false, false, true, 0},
        {"12.zr", false, false, true, 12},
        {"012.zr", false, false, false, 0},
        {"12.zr.bak", false, false, false, 0},
        {"4294967294.zr", false, false, true, 4294967294u},
        {"4294967295.zr", false, false, false, 0},
        {"99999999999999999999.zr", false, false, false, 0},
        {".zr", false, false, false, 0},
        {"", false, false, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t number;
        char stem[LX__NAME_SIZE];
        ck_assert(lx__name_is_log(cases[i].name, &number) == cases[i].log);
        if (cases[i].log)
            ck_assert_uint_eq(number, cases[i].number);
        bool table = lx__name_split_table(cases[i].name, stem, &number);
        ck_assert((table && strcmp(stem, "x") == 0) == cases[i].table);
        if (cases[i].table)
            ck_assert_uint_eq(number, cases[i].number);
        ck_assert(lx__name_is_chunk(cases[i].name, &number) == cases[i].chunk);
        if (cases[i].chunk)
            ck_assert_uint_eq(number, cases[i].number);
    }
}
END_TEST

START_TEST(names_of_tables_contain_stems)
{
    static const struct {
        const char *name, *stem;
        uint64_t generation;
    } cases[] = {
        {"x.offset", "x", 0},
        {"x.check.7", "x", 7},
        {"a.b_c-D.offset", "a.b_c-D", 0},
        {"x~3.offset.12", "x~3", 12},
        {"x.offset.check", "x.offset", 0},
        {"x.5.offset.4294967295", "x.5", 4294967295u},
        {"x.offset.4294967296", NULL, 0},
        {"x.offset.0", NULL, 0},
        {"x.offset.07", NULL, 0},
        {".offset", NULL, 0},
        {"offset", NULL, 0},
        {".x.offset", NULL, 0},
        {"x y.offset", NULL, 0},
        {"x~0.offset", NULL, 0},
        {"x~4294967296.offset", NULL, 0},
        {"x~.offset", NULL, 0},
        {"x~1~2.offset", NULL, 0},
        {"x.offsets", NULL, 0},
        {"7.offset", "7", 0},
        {"", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t number;
        char stem[LX__NAME_SIZE];
        bool is_one = lx__name_split_table(cases[i].name, stem, &number);
        ck_assert_msg(is_one == (cases[i].stem != NULL), "%s", cases[i].name);
        if (!is_one)
            continue;
        ck_assert_str_eq(stem, cases[i].stem);
        ck_assert_uint_eq(number, cases[i].generation);
    }
}
END_TEST

START_TEST(names_of_dictionaries_contain_stems)
{
    char stem[LX__NAME_SIZE], long_name[300];
    ck_assert(lx__name_split_dict("caption.dict", stem));
    ck_assert_str_eq(stem, "caption");
    ck_assert(lx__name_split_dict("x~2.dict", stem));
    ck_assert_str_eq(stem, "x~2");
    ck_assert(!lx__name_split_dict("caption.dict.1", stem));
    ck_assert(!lx__name_split_dict(".dict", stem));
    memset(long_name, 'x', sizeof long_name);
    strcpy(long_name + 290, ".dict");
    ck_assert(!lx__name_split_dict(long_name, stem));
    strcpy(long_name + 64, ".dict");
    ck_assert(lx__name_split_dict(long_name, stem));
    strcpy(long_name + 65, ".dict");
    ck_assert(!lx__name_split_dict(long_name, stem));
}
END_TEST

UNIT_MAIN("zrecord/names", the_first_generation_has_no_number,
          later_generations_end_with_their_number, the_longest_names_fit, recognizes_names_of_files,
          names_of_tables_contain_stems, names_of_dictionaries_contain_stems)
