/* SPDX-License-Identifier: MIT */
/* Listings are tested with servers, too, in tests/remote/test_writing.py. */
#include "remote/http/s3-answers.h"

#include "../../unit.h"
#include "base/error.h"

static char visited[400];
static lx_error error;

static lx_status note(void *user, const char *key, const lx__remote_info *info, const char *upload,
                      lx_error *failure)
{
    (void)failure;
    ck_assert_ptr_eq(user, visited);
    size_t used = strlen(visited);
    snprintf(visited + used, sizeof visited - used, "%s %u %u %s%s;", key, (unsigned)info->bytes,
             (unsigned)info->modified, info->etag, upload);
    return LX_OK;
}

static lx_status parse(lx__s3_listing *listing, const char *text)
{
    lx__answer answer = {.total = LX_NONE};
    visited[0] = '\0';
    lx_error_clear(&error);
    lx_status status = lx__s3_listing_parse(listing, text, strlen(text), &answer, &error);
    ck_assert_int_eq(answer.retry, status == LX_ERR_IO ? LX__RETRY_LATER : LX__RETRY_NEVER);
    return status;
}

START_TEST(objects_are_listed)
{
    lx__s3_listing listing = {.prefix = "a/b/", .root = 2, .visit = note, .user = visited};
    unit_ok(parse(&listing, "<ListBucketResult><Contents><Key>a/b/c</Key><Size>5</Size>"
                            "<ETag>&quot;e&quot;</ETag><Owner><ID>x</ID></Owner>"
                            "<LastModified>1970-01-01T00:00:09.000Z</LastModified></Contents>"
                            "<IsTruncated>true</IsTruncated>"
                            "<NextContinuationToken>&amp;</NextContinuationToken>"
                            "</ListBucketResult>"));
    ck_assert_str_eq(visited, "b/c 5 9 \"e\";");
    ck_assert_str_eq(listing.token, "&");
    unit_ok(parse(&listing, "<ListBucketResult/>"));
    ck_assert_str_eq(visited, "");
    ck_assert_str_eq(listing.token, "");
}
END_TEST

START_TEST(the_last_key_and_the_order_are_known)
{
    lx__s3_listing listing = {.prefix = "", .visit = note, .user = visited};
    unit_ok(parse(&listing, "<ListBucketResult><Contents><Key>b</Key><Size>1</Size></Contents>"
                            "<Contents><Key>c/</Key><Size>1</Size></Contents></ListBucketResult>"));
    ck_assert_str_eq(listing.last, "c/");
    ck_assert(!listing.unsorted);
    unit_ok(parse(&listing, "<ListBucketResult><EncodingType>url</EncodingType><Contents>"
                            "<Key>%C3%BC</Key><Size>1</Size></Contents></ListBucketResult>"));
    ck_assert_str_eq(listing.last, "\xc3\xbc"); /* after ASCII, as bytes have no sign */
    ck_assert(!listing.unsorted);
    unit_ok(parse(&listing, "<ListBucketResult><Contents><Key>d</Key><Size>1</Size></Contents>"
                            "<Contents><Key>e</Key><Size>1</Size></Contents></ListBucketResult>"));
    ck_assert(listing.unsorted);
}
END_TEST

START_TEST(uploads_are_listed)
{
    static const char text[] =
        "<ListMultipartUploadsResult><EncodingType>url</EncodingType><Upload><Key>x+y</Key>"
        "<UploadId>1</UploadId><Initiated>1970-01-01T00:00:01Z</Initiated></Upload>"
        "<IsTruncated>true</IsTruncated><NextKeyMarker>x%2By</NextKeyMarker>"
        "<NextUploadIdMarker>1</NextUploadIdMarker></ListMultipartUploadsResult>";
    lx__s3_listing listing = {.prefix = "", .visit = note, .user = visited};
    unit_ok(parse(&listing, text));
    ck_assert_str_eq(visited, "x y 0 1 1;");
    ck_assert_str_eq(listing.token, "x+y");
    ck_assert_str_eq(listing.upload, "1");
    ck_assert_int_eq(parse(&listing, text), LX_ERR_IO); /* it gets no further */
    ck_assert_int_eq(parse(&listing, "<ListMultipartUploadsResult><Upload><Key>x</Key></Upload>"
                                     "</ListMultipartUploadsResult>"),
                     LX_ERR_IO);
}
END_TEST

static lx_status refuse(void *user, const char *key, const lx__remote_info *info,
                        const char *upload, lx_error *failure)
{
    (void)user, (void)key, (void)info, (void)upload;
    return lx_fail(failure, LX_ERR_LIMIT, "enough");
}

START_TEST(a_callback_that_fails_ends_the_listing)
{
    lx__s3_listing listing = {.prefix = "", .visit = refuse};
    ck_assert_int_eq(parse(&listing, "<ListBucketResult><Contents><Key>a</Key><Size>1</Size>"
                                     "</Contents></ListBucketResult>"),
                     LX_ERR_LIMIT);
}
END_TEST

START_TEST(values_are_found_in_their_root)
{
    static const char text[] = "<a><b><c>1</c></b><c>2</c></a>";
    char value[8] = "";
    ck_assert(lx__s3_find(text, strlen(text), "a", "c", value, sizeof value));
    ck_assert_str_eq(value, "2");
    ck_assert(lx__s3_find(text, strlen(text), "a", NULL, NULL, 0));
    ck_assert(!lx__s3_find(text, strlen(text), "b", "c", value, sizeof value));
    ck_assert(!lx__s3_find(text, strlen(text), "a", "d", value, sizeof value));
    ck_assert(!lx__s3_find(text, strlen(text) - 1, "a", "c", value, sizeof value));
    ck_assert(!lx__s3_find(text, strlen(text), "a", "c", value, 1));
    ck_assert(!lx__s3_find(NULL, 0, "a", "c", value, sizeof value));
}
END_TEST

UNIT_MAIN("remote/http/s3-answers", objects_are_listed, the_last_key_and_the_order_are_known,
          uploads_are_listed, a_callback_that_fails_ends_the_listing,
          values_are_found_in_their_root)
