/* SPDX-License-Identifier: MIT */
#include "remote/http/s3-answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "remote/http/s3-xml.h"
#include "remote/http/utc-time.h"

/** The answers to the two requests. */
static const struct kind {
    const char *root, *item, *modified, *next;
} objects = {"ListBucketResult", "Contents", "LastModified", "NextContinuationToken"},
  uploads = {"ListMultipartUploadsResult", "Upload", "Initiated", "NextKeyMarker"};

/** What one element of a listing says. */
struct item {
    char key[3 * LX__S3_KEY_SIZE]; /* perhaps encoded */
    char upload[LX__UPLOAD_SIZE];
    lx__remote_info info;
    bool has_key, has_bytes;
};

/** A listing that is parsed. */
struct parsing {
    lx__s3_listing *listing;
    const struct kind *kind;
    struct item item;
    bool encoded;   /* keys are encoded as in a URL */
    bool truncated; /* there is more */
    char next[LX__S3_TOKEN_SIZE], next_upload[LX__UPLOAD_SIZE];
};

static int get_digit(char byte)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = byte != '\0' ? strchr(digits, byte) : NULL;
    return found != NULL ? (int)(found - digits) % 16 : -1;
}

/** Decodes a text of a URL in its place: "%2F", and "+" for a space. False if it is invalid. */
static bool decode_url(char *text)
{
    char *to = text;
    for (; *text != '\0'; text++, to++) {
        *to = *text == '+' ? ' ' : *text;
        if (*text != '%')
            continue;
        int high = get_digit(text[1]), low = high >= 0 ? get_digit(text[2]) : -1;
        if (low < 0 || high + low == 0)
            return false;
        *to = (char)(high * 16 + low);
        text += 2;
    }
    *to = '\0';
    return true;
}

/** Whether a path has only components that can be names of files. */
static bool is_path(const char *path)
{
    for (;; path++) {
        size_t size = strcspn(path, "/");
        if (size == 0 || (size == 1 && path[0] == '.') ||
            (size == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        path += size;
        if (*path == '\0')
            return true;
    }
}

static bool parse_number(const char *text, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && *number <= INT64_MAX;
}

/** Takes a value of an object or an upload; false if it is invalid. */
static bool take_item_value(struct parsing *self, const lx__s3_xml *xml)
{
    struct item *item = &self->item;
    const char *parent = self->kind->item;
    char text[64];
    if (lx__s3_xml_is(xml, parent, "Key"))
        return item->has_key = lx__s3_xml_decode(xml->text, item->key, sizeof item->key);
    if (lx__s3_xml_is(xml, parent, "UploadId"))
        return lx__s3_xml_decode(xml->text, item->upload, sizeof item->upload);
    if (lx__s3_xml_is(xml, parent, "ETag")) {
        if (!lx__s3_xml_decode(xml->text, item->info.etag, sizeof item->info.etag))
            item->info.etag[0] = '\0';
    } else if (lx__s3_xml_is(xml, parent, "Size")) {
        return item->has_bytes = lx__s3_xml_decode(xml->text, text, sizeof text) &&
                                 parse_number(text, &item->info.bytes);
    } else if (lx__s3_xml_is(xml, parent, self->kind->modified)) {
        return lx__s3_xml_decode(xml->text, text, sizeof text) &&
               lx__utc_time_parse(text, &item->info.modified);
    }
    return true;
}

/** Takes a value; false if it is invalid. */
static bool take_value(struct parsing *self, const lx__s3_xml *xml)
{
    char text[8];
    const char *root = self->kind->root;
    if (lx__s3_xml_is(xml, root, self->kind->next))
        return lx__s3_xml_decode(xml->text, self->next, sizeof self->next);
    if (lx__s3_xml_is(xml, root, "NextUploadIdMarker"))
        return lx__s3_xml_decode(xml->text, self->next_upload, sizeof self->next_upload);
    if (lx__s3_xml_is(xml, root, "IsTruncated"))
        self->truncated = lx__s3_xml_decode(xml->text, text, sizeof text) &&
                          strcmp(text, "true") == 0;
    return take_item_value(self, xml);
}

static lx_status fail(lx__answer *answer, const char *why, lx_error *error)
{
    answer->retry = LX__RETRY_LATER;
    return lx_fail(error, LX_ERR_IO, "%s", why);
}

/** Visits what the current item says. */
static lx_status visit(struct parsing *self, lx__answer *answer, lx_error *error)
{
    lx__s3_listing *listing = self->listing;
    struct item *item = &self->item;
    bool complete = item->has_key &&
                    (self->kind == &objects ? item->has_bytes : item->upload[0] != '\0');
    lx_status status = LX_OK;
    if (!complete || (self->encoded && !decode_url(item->key)))
        return fail(answer, "the server sends a listing that is invalid", error);
    if (strncmp(item->key, listing->prefix, strlen(listing->prefix)) != 0)
        return fail(answer, "the server lists files that were not asked for", error);
    listing->unsorted |= strcmp(item->key, listing->last) <= 0;
    memcpy(listing->last, item->key, sizeof listing->last);
    if (is_path(item->key + listing->root))
        status = listing->visit(listing->user, item->key + listing->root, &item->info, item->upload,
                                error);
    *item = (struct item){.has_key = false};
    return status;
}

/** Takes over what the listing continues with. */
static lx_status finish(struct parsing *self, lx__answer *answer, lx_error *error)
{
    lx__s3_listing *listing = self->listing;
    if (!self->truncated)
        self->next[0] = self->next_upload[0] = '\0';
    else if (self->next[0] == '\0' ||
             (self->kind == &uploads && self->encoded && !decode_url(self->next)) ||
             (strcmp(self->next, listing->token) == 0 &&
              strcmp(self->next_upload, listing->upload) == 0))
        return fail(answer, "the server sends a listing that does not end", error);
    memcpy(listing->token, self->next, sizeof listing->token);
    memcpy(listing->upload, self->next_upload, sizeof listing->upload);
    return LX_OK;
}

lx_status lx__s3_listing_parse(lx__s3_listing *self, const char *text, size_t size,
                               lx__answer *answer, lx_error *error)
{
    struct parsing parsing = {.listing = self, .kind = &objects};
    char encoding[8] = "";
    lx__s3_xml xml;
    lx_status status = LX_OK;
    if (lx__s3_find(text, size, uploads.root, NULL, NULL, 0))
        parsing.kind = &uploads;
    else if (!lx__s3_find(text, size, objects.root, NULL, NULL, 0))
        return fail(answer, "the server sends no listing", error);
    /* Not all servers know the encoding, or tell it before the keys. */
    parsing.encoded = lx__s3_find(text, size, parsing.kind->root, "EncodingType", encoding,
                                  sizeof encoding) &&
                      strcmp(encoding, "url") == 0;
    lx__s3_xml_begin(&xml, text, size);
    for (lx__s3_xml_event event; status == LX_OK;) {
        event = lx__s3_xml_next(&xml);
        if (event == LX__S3_XML_END)
            return finish(&parsing, answer, error);
        if (event == LX__S3_XML_BAD || (event == LX__S3_XML_VALUE && !take_value(&parsing, &xml)))
            return fail(answer, "the server sends a listing that is invalid", error);
        if (event == LX__S3_XML_CLOSE &&
            lx__s3_xml_is(&xml, parsing.kind->root, parsing.kind->item))
            status = visit(&parsing, answer, error);
    }
    return status;
}

bool lx__s3_find(const char *text, size_t size, const char *root, const char *name, char *value,
                 size_t capacity)
{
    lx__s3_xml xml;
    lx__s3_xml_begin(&xml, text, size);
    bool found = name == NULL;
    for (lx__s3_xml_event event; (event = lx__s3_xml_next(&xml)) != LX__S3_XML_BAD;) {
        if (event == LX__S3_XML_END)
            return found && lx__s3_xml_is(&xml, NULL, root);
        if (event == LX__S3_XML_VALUE && name != NULL && lx__s3_xml_is(&xml, root, name))
            found = lx__s3_xml_decode(xml.text, value, capacity);
    }
    return false;
}
