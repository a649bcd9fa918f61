/* SPDX-License-Identifier: MIT */
#include "zrecord/format/parts.h"

#include "../meta-text.h"
#include "zrecord/format/meta-file.h"

/** Parses the example as a sealed dataset with the given features, and with @p parts as the value
 * of the key unless it is NULL. */
static lx_status parse_with(lx__meta *meta, const char *features, const char *sealed,
                            const char *parts, lx_error *error)
{
    static const char from[] = "  \"features\": {\"must\": [], \"may\": []},\n"
                               "  \"generation\": 0,\n"
                               "  \"uuid\": \"00112233-4455-6677-8899-aabbccddeeff\",\n"
                               "  \"sealed\": false,\n";
    static const char to[] = "  \"features\": {\"must\": [%s], \"may\": []},\n"
                             "  \"generation\": 0,\n"
                             "  \"uuid\": \"00112233-4455-6677-8899-aabbccddeeff\",\n"
                             "  \"sealed\": %s,\n%s%s%s\n";
    char *line;
    ck_assert_int_gt(asprintf(&line, to, features, sealed, parts != NULL ? "\"parts\": " : "",
                              parts != NULL ? parts : "", parts != NULL ? "," : ""),
                     0);
    const struct edit edit = {"parts", from, line, LX_OK, ""};
    char *text = edited(&edit);
    lx_status status = parse(meta, text, strlen(text), error);
    free(text);
    free(line);
    return status;
}

static void expect_path(const lx__meta *meta, uint32_t id, const char *expected)
{
    char path[LX__CHUNK_PATH_SIZE];
    lx__meta_get_chunk_path(meta, id, path);
    ck_assert_str_eq(path, expected);
}

START_TEST(finds_the_path_of_each_chunk)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    unit_ok(parse_with(&meta, "\"ragged\", \"parts\"", "true",
                       "[{\"path\": \"a/part/x\", \"chunks\": [[10, 0, 2], [0, 7, 1]]},"
                       " {\"path\": \"part/b\", \"chunks\": [[4294967293, 0, 2], [1, 2, 3]]}]",
                       &error));
    ck_assert_uint_eq(meta.run_count, 4);
    ck_assert_uint_eq(lx__meta_count_parts(&meta), 2);
    for (size_t i = 1; i < meta.run_count; i++)
        ck_assert_uint_lt(meta.runs[i - 1].first, meta.runs[i].first);
    expect_path(&meta, 0, "a/part/x/chunk/7.zr");
    expect_path(&meta, 1, "part/b/chunk/2.zr");
    expect_path(&meta, 3, "part/b/chunk/4.zr");
    expect_path(&meta, 4, "chunk/4.zr");
    expect_path(&meta, 9, "chunk/9.zr");
    expect_path(&meta, 10, "a/part/x/chunk/0.zr");
    expect_path(&meta, 11, "a/part/x/chunk/1.zr");
    expect_path(&meta, 12, "chunk/12.zr");
    expect_path(&meta, 4294967293, "part/b/chunk/0.zr");
    expect_path(&meta, 4294967294, "part/b/chunk/1.zr");
    lx__meta_free(&meta);
}
END_TEST

START_TEST(the_parts_require_the_feature_and_a_sealed_dataset)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    const char *parts = "[{\"path\": \"part/b\", \"chunks\": [[0, 0, 1]]}]";
    unit_ok(parse_with(&meta, "\"parts\"", "true", parts, &error));
    lx__meta_free(&meta);
    unit_fails(parse_with(&meta, "\"ragged\"", "true", parts, &error), LX_ERR_CORRUPT);
    unit_fails(parse_with(&meta, "\"parts\"", "false", parts, &error), LX_ERR_CORRUPT);
    unit_fails(parse_with(&meta, "\"parts\"", "true", NULL, &error), LX_ERR_CORRUPT);
    unit_fails(parse_with(&meta, "", "false", "null", &error), LX_ERR_CORRUPT);
    unit_ok(parse_with(&meta, "", "true", NULL, &error));
    ck_assert_uint_eq(meta.run_count, 0);
    ck_assert_uint_eq(lx__meta_count_parts(&meta), 0);
    expect_path(&meta, 3, "chunk/3.zr");
    lx__meta_free(&meta);
}
END_TEST

#define PART(path) "[{\"path\": \"" path "\", \"chunks\": [[0, 0, 1]]}]"
#define RUNS(runs) "[{\"path\": \"p\", \"chunks\": [" runs "]}]"
#define LONG_NAME SIXTEEN SIXTEEN SIXTEEN SIXTEEN

START_TEST(rejects_parts_that_break_a_rule)
{
    static const struct {
        const char *parts, *said;
    } cases[] = {
        {"{}", "parts"},
        {"[]", "empty"},
        {"[7]", "object"},
        {"[{\"chunks\": [[0, 0, 1]]}]", "path"},
        {"[{\"path\": 7, \"chunks\": [[0, 0, 1]]}]", "path"},
        {"[{\"path\": \"p\"}]", "chunks"},
        {"[{\"path\": \"p\", \"chunks\": {}}]", "chunks"},
        {"[{\"path\": \"p\", \"chunks\": []}]", "chunks"},
        {PART(""), "path"},
        {PART("/etc"), "path"},
        {PART(".."), "path"},
        {PART("."), "path"},
        {PART("part/.."), "path"},
        {PART("part/../../x"), "path"},
        {PART("part/./x"), "path"},
        {PART("part//x"), "path"},
        {PART("part/x/"), "path"},
        {PART("/"), "path"},
        {PART(".hidden"), "path"},
        {PART("https://example.org/x"), "path"},
        {PART("part\\\\x"), "path"},
        {PART("part/x y"), "path"},
        {PART("part/%2e%2e"), "path"},
        {PART("part/\xc3\xa4"), "path"},
        {PART("a/b/c/d/e/f/g/h/i"), "path"},
        {PART(LONG_NAME "x"), "path"},
        {PART(LONG_NAME "/" LONG_NAME "/" LONG_NAME "/1234567"), "path"},
        {RUNS("7"), "chunks"},
        {RUNS("[]"), "chunks"},
        {RUNS("[0, 0]"), "chunks"},
        {RUNS("[0, 0, 1, 1]"), "chunks"},
        {RUNS("[0, 0, 0]"), "chunks"},
        {RUNS("[-1, 0, 1]"), "chunks"},
        {RUNS("[0, -1, 1]"), "chunks"},
        {RUNS("[0, 0, -1]"), "chunks"},
        {RUNS("[0, 0, 1.0]"), "chunks"},
        {RUNS("[\"0\", 0, 1]"), "chunks"},
        {RUNS("[4294967295, 0, 1]"), "chunks"},
        {RUNS("[0, 4294967295, 1]"), "chunks"},
        {RUNS("[4294967294, 0, 2]"), "chunks"},
        {RUNS("[0, 4294967294, 2]"), "chunks"},
        {RUNS("[1, 0, 4294967295]"), "chunks"},
        {RUNS("[0, 0, 9223372036854775807]"), "chunks"},
        {RUNS("[0, 3, 1], [1, 2, 1]"), "order"},
        {RUNS("[0, 0, 2], [2, 1, 1]"), "twice"},
        {RUNS("[0, 0, 2], [1, 2, 1]"), "chunk 1"},
        {RUNS("[5, 0, 1], [0, 1, 9]"), "chunk 5"},
        {RUNS("[5, 0, 1], [5, 1, 1]"), "chunk 5"},
        {"[{\"path\": \"p\", \"chunks\": [[3, 0, 1]]}, {\"path\": \"q\", \"chunks\": [[2, 0, 2]]}]",
         "'q' and 'p'"},
        {"[{\"path\": \"p\", \"chunks\": [[0, 0, 1]]}, {\"path\": \"p\", \"chunks\": [[1, 1, 1]]}]",
         "order"},
        {"[{\"path\": \"q\", \"chunks\": [[0, 0, 1]]}, {\"path\": \"p\", \"chunks\": [[1, 1, 1]]}]",
         "order"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        lx_status status = parse_with(&meta, "\"parts\"", "true", cases[i].parts, &error);
        ck_assert_msg(status == LX_ERR_CORRUPT, "%s: %d", cases[i].parts, status);
        ck_assert_msg(strstr(error.message, cases[i].said) != NULL, "%s: %s", cases[i].parts,
                      error.message);
        ck_assert_ptr_null(meta.runs);
    }
}
END_TEST

START_TEST(accepts_the_longest_paths)
{
    static const char *const paths[] = {
        "a/b/c/d/e/f/g/h",
        LONG_NAME "/" LONG_NAME "/" LONG_NAME "/12345",
        "chunk",
        "part..x/a-b_c.zr",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__meta meta;
        char parts[LX__PART_PATH_MAX + 64], expected[LX__CHUNK_PATH_SIZE];
        snprintf(parts, sizeof parts, "[{\"path\": \"%s\", \"chunks\": [[0, 0, 4294967295]]}]",
                 paths[i]);
        unit_ok(parse_with(&meta, "\"parts\"", "true", parts, &error));
        ck_assert_int_lt(snprintf(expected, sizeof expected, "%s/chunk/4294967294.zr", paths[i]),
                         (int)sizeof expected);
        expect_path(&meta, 4294967294, expected);
        lx__meta_free(&meta);
    }
}
END_TEST

static lx__meta sealed(void)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta meta;
    lx_schema *schema = records_schema();
    unit_ok(lx__meta_make(&meta, schema, 1000, 1 << 20, &error));
    lx_schema_free(schema);
    unit_ok(lx__meta_seal(&meta, NULL, 0, &error));
    return meta;
}

/** Makes the parts p0, p1, ... of two chunks each. Their order is not that of their paths. */
static lx__chunk_run *many_runs(uint32_t count, char (*paths)[24])
{
    lx__chunk_run *runs = calloc(count, sizeof *runs);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = (uint32_t)((uint64_t)i * 7919 % count);
        snprintf(paths[i], sizeof *paths, "part/p%u", k);
        runs[i] = (lx__chunk_run){2 * k + 5, k, 2, paths[i]};
    }
    return runs;
}

START_TEST(writes_what_it_reads)
{
    char *scratch = scratch_make();
    lx_error error = LX_ERROR_INIT;
    enum { PARTS = 10000 };
    char(*paths)[24] = calloc(PARTS, sizeof *paths), expected[64];
    lx__chunk_run *runs = many_runs(PARTS, paths);
    lx__meta meta = sealed(), back;
    lx__file here;
    unit_ok(lx__meta_set_parts(&meta, runs, PARTS, &error));
    free(runs); /* it has been copied */
    free(paths);
    expect_path(&meta, 5, "part/p0/chunk/0.zr");
    unit_ok(lx__directory_open(&here, LX__CWD, ".", &error));
    unit_ok(lx__meta_replace(&meta, &here, &error));
    lx__file_close(&here);
    unit_ok(read_here(&back, &error));
    ck_assert_uint_eq(back.run_count, PARTS);
    ck_assert_uint_eq(lx__meta_count_parts(&back), PARTS);
    ck_assert(lx__meta_requires(&back, LX__FEATURE_PARTS));
    for (uint32_t k = 0; k < PARTS; k++) {
        snprintf(expected, sizeof expected, "part/p%u/chunk/%u.zr", k, k + 1);
        expect_path(&back, 2 * k + 6, expected);
    }
    lx__meta_free(&back);
    lx__meta_free(&meta);
    scratch_remove(scratch);
}
END_TEST

START_TEST(a_dataset_without_parts_requires_nothing)
{
    lx_error error = LX_ERROR_INIT;
    lx__meta meta = sealed();
    unit_ok(lx__meta_set_parts(&meta, NULL, 0, &error));
    ck_assert(!lx__meta_requires(&meta, LX__FEATURE_PARTS));
    ck_assert_ptr_null(json_object_get(meta.document, LX__KEY_PARTS));
    lx__meta_free(&meta);
}
END_TEST

START_TEST(does_not_set_parts_that_overlap)
{
    lx_error error = LX_ERROR_INIT;
    const lx__chunk_run chunks[] = {{0, 0, 2, "p"}, {1, 0, 1, "q"}};
    const lx__chunk_run outside[] = {{0, 0, 1, "../q"}};
    lx__meta meta = sealed();
    unit_fails(lx__meta_set_parts(&meta, chunks, 2, &error), LX_ERR_CORRUPT);
    lx__meta_free(&meta);
    meta = sealed();
    unit_fails(lx__meta_set_parts(&meta, outside, 1, &error), LX_ERR_CORRUPT);
    lx__meta_free(&meta);
}
END_TEST

UNIT_MAIN("zrecord/parts", finds_the_path_of_each_chunk,
          the_parts_require_the_feature_and_a_sealed_dataset, rejects_parts_that_break_a_rule,
          accepts_the_longest_paths, writes_what_it_reads, a_dataset_without_parts_requires_nothing,
          does_not_set_parts_that_overlap)
