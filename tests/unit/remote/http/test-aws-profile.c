/* SPDX-License-Identifier: MIT */
#include "remote/http/aws-profile.h"

#include <sys/stat.h>

#include "../../scratch.h"
#include "../../unit.h"

/** Finds a value of up to 15 bytes; "-" if there is none, "!" if it does not fit. */
static const char *find(const char *text, size_t size, const char *section, const char *key)
{
    static char value[16];
    char *copy = malloc(size + 1); /* so that sanitizers detect an over-read */
    memcpy(copy, text, size);
    strcpy(value, "-");
    bool fits = lx__aws_profile_find(copy, size, section, key, value, sizeof value);
    free(copy);
    return fits ? value : "!";
}

START_TEST(finds_a_value_in_its_section)
{
    static const char text[] = "key = outside\n"
                               "# [a]\n"
                               "[ a ] ; comment\r\n"
                               "key=1\r\n"
                               "other key = 2\n"
                               "empty =\n"
                               ";key = 3\n"
                               "nested =\n"
                               "  key = 4\n"
                               "[profile a]\n"
                               "key = x = y \n"
                               "nothing\n"
                               "[a b\n"
                               "key = 5\n"
                               "[a]\n"
                               "late = 6";
    static const char *const cases[][3] = {{"a", "key", "1"},
                                           {"a", "other key", "2"},
                                           {"a", "empty", ""},
                                           {"profile a", "key", "x = y"},
                                           {"a", "late", "6"},
                                           {"a", "none", "-"},
                                           {"b", "key", "-"},
                                           {"a b", "key", "-"},
                                           {"profile a", "nothing", "-"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(find(text, sizeof text - 1, cases[i][0], cases[i][1]), cases[i][2]);
}
END_TEST

START_TEST(the_last_line_counts)
{
    static const char text[] = "[a]\nkey = 12345678901234567890\nkey = 2\n[b]\n[a]\nkey = 3\n";
    ck_assert_str_eq(find(text, sizeof text - 1, "a", "key"), "3");
}
END_TEST

START_TEST(refuses_values_that_do_not_fit)
{
    ck_assert_str_eq(find("[a]\nkey=123456789012345", 23, "a", "key"), "123456789012345");
    ck_assert_str_eq(find("[a]\nkey=1234567890123456", 24, "a", "key"), "!");
    ck_assert_str_eq(find("[a]\nkey=a\0b", 11, "a", "key"), "!");
}
END_TEST

START_TEST(survives_every_truncation)
{
    static const char text[] = "[a]\nkey = value\n[profile b]\r\n = x\n[]\n[\n=\n";
    for (size_t size = 0; size < sizeof text; size++)
        find(text, size, "a", "key");
    ck_assert_str_eq(find(text, 10, "a", "key"), "");
}
END_TEST

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(looks_in_both_files)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make(), value[32];
    char work[] = "work", other[] = "other", folder[] = ".aws";
    lx__aws_environment environment = {.home = scratch};
    unit_ok(lx__aws_profile_get(&environment, "key", value, sizeof value, &error));
    ck_assert_str_eq(value, "");

    ck_assert_int_eq(mkdir(".aws", 0700), 0);
    write_file(".aws/credentials", "[default]\na = 1\n[work]\na = 2\n");
    write_file(".aws/config", "[default]\na = 3\nb = 4\n[profile work]\nb = 5\n[work]\nb = 6\n");
    unit_ok(lx__aws_profile_get(&environment, "a", value, sizeof value, &error));
    ck_assert_str_eq(value, "1");
    unit_ok(lx__aws_profile_get(&environment, "b", value, sizeof value, &error));
    ck_assert_str_eq(value, "4");
    environment.value[LX__AWS_PROFILE] = work;
    unit_ok(lx__aws_profile_get(&environment, "a", value, sizeof value, &error));
    ck_assert_str_eq(value, "2");
    unit_ok(lx__aws_profile_get(&environment, "b", value, sizeof value, &error));
    ck_assert_str_eq(value, "5");

    write_file("other", "[work]\na = 7\n");
    environment.value[LX__AWS_SHARED_CREDENTIALS_FILE] = other;
    unit_ok(lx__aws_profile_get(&environment, "a", value, sizeof value, &error));
    ck_assert_str_eq(value, "7");
    environment.value[LX__AWS_SHARED_CREDENTIALS_FILE] = folder; /* a directory */
    lx_status status = lx__aws_profile_get(&environment, "a", value, sizeof value, &error);
    ck_assert_int_ne(status, LX_OK);
    ck_assert_str_eq(error.path, ".aws");
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("remote/http/aws-profile", finds_a_value_in_its_section, the_last_line_counts,
          refuses_values_that_do_not_fit, survives_every_truncation, looks_in_both_files)
