/* SPDX-License-Identifier: MIT */
/* Files whose bytes come from a provider: which of its functions each call uses. */
#include <string.h>

#include "../scratch.h"
#include "../unit.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file-system.h"
#include "base/file.h"

static const char bytes[] = "sixteen bytes...";
#define BYTES 16

/** Everything that was called, and what the next read returns. */
struct calls {
    lx__provider base;
    unsigned closed, expected, wanted, renewed;
    lx_status next_read;
    size_t most; /**< The most bytes that a read returns. */
};

static struct calls *calls_of(lx__provider *self)
{
    return (struct calls *)self;
}

static lx_status open_any(lx__provider *directory, const char *name, lx__provider **file,
                          lx_error *error)
{
    if (strcmp(name, "none") == 0)
        return lx_fail(error, LX_ERR_NOT_FOUND, "there is no such file");
    *file = directory; /* one provider is all files */
    return LX_OK;
}

static void close_any(lx__provider *self)
{
    calls_of(self)->closed++;
}

static lx_status get_size(lx__provider *self, uint64_t *size, lx_error *error)
{
    (void)self, (void)error;
    *size = BYTES;
    return LX_OK;
}

static lx_status expect_size(lx__provider *self, uint64_t size, bool exact, lx_error *error)
{
    calls_of(self)->expected++;
    return size == BYTES || (size < BYTES && !exact)
               ? LX_OK
               : lx_fail(error, LX_ERR_CORRUPT, "the length differs");
}

static lx_status read_some(lx__provider *self, void *data, size_t size, uint64_t offset,
                           size_t *got, lx_error *error)
{
    struct calls *calls = calls_of(self);
    if (calls->next_read != LX_OK)
        return lx_fail(error, calls->next_read, "no answer");
    size_t left = offset < BYTES ? BYTES - (size_t)offset : 0;
    *got = size < left ? size : left;
    *got = *got < calls->most ? *got : calls->most;
    memcpy(data, bytes + offset, *got);
    return LX_OK;
}

static void will_need(lx__provider *self, uint64_t offset, uint64_t size)
{
    calls_of(self)->wanted += (unsigned)(offset + size);
}

static bool is_absent(lx__provider *self, uint64_t offset)
{
    (void)self;
    return offset == 3;
}

static bool renew(lx__provider *self, uint64_t offset, uint64_t size)
{
    calls_of(self)->renewed++;
    return offset == 1 && size == 2;
}

static const char *get_network(lx__provider *self)
{
    (void)self;
    return "test";
}

static const lx__provider_class class = {get_network, open_any,  close_any, get_size, expect_size,
                                         read_some,   will_need, is_absent, renew};

START_TEST(a_provided_file_is_read)
{
    lx_error error = LX_ERROR_INIT;
    struct calls calls = {.base = {&class}, .most = 5};
    lx__file directory = {-1, lx__strdup("test:"), &calls.base}, file, folder;
    char out[BYTES + 1] = "", *all;
    uint64_t size;
    size_t got;
    ck_assert(lx__file_is_open(&directory));
    ck_assert_str_eq(lx__file_network(&directory), "test");
    unit_ok(lx__directory_open(&folder, &directory, "folder", &error));
    unit_ok(lx__file_open(&file, &folder, "f", O_RDONLY, &error));
    ck_assert_str_eq(file.path, "test:/folder/f");
    ck_assert_int_eq(file.fd, -1);
    unit_ok(lx__file_size(&file, &size, &error));
    ck_assert_uint_eq(size, BYTES);
    unit_ok(lx__file_read_once(&file, out, BYTES, 0, &got, &error));
    ck_assert_uint_eq(got, 5);
    unit_ok(lx__file_read(&file, out, BYTES, 0, &error));
    ck_assert_str_eq(out, bytes);
    unit_fails(lx__file_read(&file, out, BYTES, 1, &error), LX_ERR_CORRUPT);
    unit_ok(lx__file_read_all(&file, 100, &all, &got, &error));
    ck_assert_str_eq(all, bytes);
    lx__free(all);
    lx__file_will_need(&file, 100, 11);
    ck_assert_uint_eq(calls.wanted, 111);
    ck_assert(lx__file_is_absent(&file, 3) && !lx__file_is_absent(&file, 4));
    ck_assert(lx__file_renew(&file, 1, 2) && !lx__file_renew(&file, 2, 2));
    lx__file_close(&file);
    ck_assert(!lx__file_is_open(&file));
    lx__file_close(&file);
    lx__file_close(&folder);
    lx__file_close(&directory);
    ck_assert_uint_eq(calls.closed, 3);
}
END_TEST

START_TEST(a_provided_file_cannot_be_written)
{
    lx_error error = LX_ERROR_INIT;
    struct calls calls = {.base = {&class}};
    lx__file directory = {-1, lx__strdup("test:"), &calls.base}, file;
    unit_fails(lx__file_open(&file, &directory, "f", O_RDWR, &error), LX_ERR_UNSUPPORTED);
    unit_fails(lx__file_open(&file, &directory, "f", O_WRONLY | O_CREAT, &error),
               LX_ERR_UNSUPPORTED);
    ck_assert(!lx__file_is_open(&file));
    unit_fails(lx__file_open(&file, &directory, "none", O_RDONLY, &error), LX_ERR_NOT_FOUND);
    ck_assert(!lx__file_is_open(&file));
    lx__file_close(&directory);
}
END_TEST

START_TEST(failures_of_a_provider_are_passed_on)
{
    lx_error error = LX_ERROR_INIT;
    struct calls calls = {.base = {&class}, .next_read = LX_ERR_IO, .most = BYTES};
    lx__file file = {-1, lx__strdup("test:f"), &calls.base};
    char out[BYTES];
    ck_assert_int_eq(lx__file_read(&file, out, BYTES, 0, &error), LX_ERR_IO);
    ck_assert_str_eq(error.message, "no answer");
    lx_error_clear(&error);
    calls.next_read = LX_ERR_NOT_FOUND; /* only noticed now, so the file was deleted */
    ck_assert_int_eq(lx__file_read(&file, out, BYTES, 0, &error), LX_ERR_CORRUPT);
    ck_assert_int_eq(error.status, LX_ERR_CORRUPT);
    lx_error_clear(&error);
    ck_assert(lx__file_gave_up(&file, LX_ERR_IO) && lx__file_gave_up(&file, LX_ERR_CANCELED));
    ck_assert(!lx__file_gave_up(&file, LX_OK) && !lx__file_gave_up(&file, LX_ERR_CORRUPT));
    lx__file_close(&file);
}
END_TEST

START_TEST(the_size_must_be_the_expected_one)
{
    lx_error error = LX_ERROR_INIT;
    char *scratch = scratch_make();
    struct calls calls = {.base = {&class}};
    lx__file files[2] = {{-1, lx__strdup("test:f"), &calls.base}, LX__FILE_CLOSED};
    unit_ok(lx__file_open(&files[1], LX__CWD, "f", O_RDWR | O_CREAT, &error));
    unit_ok(lx__file_write(&files[1], bytes, BYTES, 0, &error));
    for (int i = 0; i < 2; i++) {
        unit_ok(lx__file_expect_size(&files[i], BYTES, true, &error));
        unit_ok(lx__file_expect_size(&files[i], BYTES - 1, false, &error));
        unit_fails(lx__file_expect_size(&files[i], BYTES - 1, true, &error), LX_ERR_CORRUPT);
        unit_fails(lx__file_expect_size(&files[i], BYTES + 1, false, &error), LX_ERR_CORRUPT);
    }
    ck_assert_uint_eq(calls.expected, 4);
    ck_assert(!lx__file_renew(&files[1], 1, 2)); /* it is no copy */
    ck_assert(!lx__file_gave_up(&files[1], LX_ERR_IO));
    lx__file_close(&files[0]);
    lx__file_close(&files[1]);
    scratch_remove(scratch);
}
END_TEST

UNIT_MAIN("base/file-provider", a_provided_file_is_read, a_provided_file_cannot_be_written,
          failures_of_a_provider_are_passed_on, the_size_must_be_the_expected_one)
