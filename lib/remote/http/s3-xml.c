/* SPDX-License-Identifier: MIT */
#include "remote/http/s3-xml.h"

#include <stdint.h>
#include <string.h>

void lx__s3_xml_begin(lx__s3_xml *self, const char *text, size_t size)
{
    *self = (lx__s3_xml){.rest = {text != NULL ? text : "", size}};
}

static void pass(lx__span *rest, size_t size)
{
    rest->at += size;
    rest->size -= size;
}

static bool begins_with(lx__span span, const char *text)
{
    size_t size = strlen(text);
    return span.size >= size && memcmp(span.at, text, size) == 0;
}

static bool is_equal(lx__span a, lx__span b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/** Passes everything up to and with @p end; false if it does not occur. */
static bool pass_until(lx__span *rest, const char *end)
{
    for (; rest->size > 0; pass(rest, 1))
        if (begins_with(*rest, end)) {
            pass(rest, strlen(end));
            return true;
        }
    return false;
}

/** Returns the length of a tag that begins with "<", up to and with its ">", which may also be in a
 * quoted value; 0 if it does not end. */
static size_t measure_tag(lx__span rest)
{
    char quote = '\0';
    for (size_t i = 1; i < rest.size; i++) {
        char byte = rest.at[i];
        if (quote != '\0')
            quote = byte == quote ? '\0' : quote;
        else if (byte == '"' || byte == '\'')
            quote = byte;
        else if (byte == '>')
            return i + 1;
        else if (byte == '<')
            return 0;
    }
    return 0;
}

/** Returns the name at the start of what a tag contains; empty if there is none. */
static lx__span get_name(lx__span tag)
{
    size_t size = 0;
    while (size < tag.size && !lx__span_is_space(tag.at[size]) &&
           strchr("/<>=\"'&", tag.at[size]) == NULL)
        size++;
    return (lx__span){tag.at, size};
}

/** Takes a closing tag. */
static lx__s3_xml_event close_element(lx__s3_xml *self, lx__span tag, lx__span text)
{
    lx__span name = lx__span_trim((lx__span){tag.at + 2, tag.size - 3});
    if (self->depth == 0 || !is_equal(name, self->open[self->depth - 1]))
        return LX__S3_XML_BAD;
    lx__s3_xml_event event = self->leaf ? LX__S3_XML_VALUE : LX__S3_XML_CLOSE;
    self->depth--;
    self->leaf = false;
    self->ended = self->depth == 0;
    self->name = name;
    self->text = event == LX__S3_XML_VALUE ? text : (lx__span){text.at, 0};
    return event;
}

/** Takes an opening tag. Returns whether it is one, and sets @p event if the element is empty. */
static bool open_element(lx__s3_xml *self, lx__span tag, lx__s3_xml_event *event)
{
    bool empty = tag.size > 2 && tag.at[tag.size - 2] == '/';
    lx__span name = get_name((lx__span){tag.at + 1, tag.size - 2});
    if (name.size == 0 || self->ended || self->depth == LX__S3_XML_DEPTH)
        return false;
    if (empty) {
        self->name = name;
        self->text = (lx__span){tag.at, 0};
        self->leaf = false;
        self->ended = self->depth == 0;
        *event = LX__S3_XML_VALUE;
    } else {
        self->open[self->depth++] = name;
        self->leaf = true;
    }
    return true;
}

lx__s3_xml_event lx__s3_xml_next(lx__s3_xml *self)
{
    for (;;) {
        const char *bracket = memchr(self->rest.at, '<', self->rest.size);
        lx__span text = {self->rest.at,
                         bracket != NULL ? (size_t)(bracket - self->rest.at) : self->rest.size};
        if (self->depth == 0 && lx__span_trim(text).size > 0)
            return LX__S3_XML_BAD;
        pass(&self->rest, text.size);
        if (self->rest.size == 0)
            return self->ended ? LX__S3_XML_END : LX__S3_XML_BAD;
        if (begins_with(self->rest, "<?") || begins_with(self->rest, "<!--")) {
            bool comment = self->rest.at[1] == '!';
            if ((self->depth > 0 && self->leaf && text.size > 0) || /* the text would be in two */
                !pass_until(&self->rest, comment ? "-->" : "?>"))
                return LX__S3_XML_BAD;
            continue;
        }
        lx__span tag = {self->rest.at, measure_tag(self->rest)};
        if (tag.size < 3 || tag.at[1] == '!')
            return LX__S3_XML_BAD;
        pass(&self->rest, tag.size);
        if (tag.at[1] == '/')
            return close_element(self, tag, text);
        lx__s3_xml_event event = LX__S3_XML_BAD;
        if (!open_element(self, tag, &event) || event == LX__S3_XML_VALUE)
            return event;
    }
}

bool lx__s3_xml_is(const lx__s3_xml *self, const char *parent, const char *name)
{
    if (!is_equal(self->name, (lx__span){name, strlen(name)}))
        return false;
    return parent == NULL ? self->depth == 0
                          : self->depth > 0 && is_equal(self->open[self->depth - 1],
                                                        (lx__span){parent, strlen(parent)});
}

/** Writes a character as UTF-8, and returns its length; 0 if there is no such character. */
static size_t put_character(uint32_t code, char to[4])
{
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(first[more] | code >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        to[i] = (char)(0x80 | ((code >> (6 * (more - i))) & 0x3f));
    return more + 1;
}

/** Replaces the entity between "&" and ";"; returns the length of the character, or 0. */
static size_t put_entity(lx__span entity, char to[4])
{
    static const struct {
        const char *name;
        char character;
    } named[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (is_equal(entity, (lx__span){named[i].name, strlen(named[i].name)}))
            return put_character((uint32_t)named[i].character, to);
    if (!begins_with(entity, "#") || entity.size < 2 || entity.size > 9)
        return 0;
    uint32_t code = 0, base = entity.at[1] == 'x' ? 16 : 10;
    size_t at = base == 16 ? 2 : 1;
    if (at == entity.size)
        return 0;
    for (; at < entity.size; at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = entity.at[at] != '\0' ? strchr(digits, entity.at[at]) : NULL;
        if (digit == NULL || (uint32_t)(digit - digits) % 16 >= base)
            return 0;
        code = code * base + (uint32_t)(digit - digits) % 16;
    }
    return put_character(code, to);
}

bool lx__s3_xml_decode(lx__span text, char *to, size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < text.size; i++) {
        char character[4] = {text.at[i]};
        size_t size = text.at[i] != '\0';
        if (text.at[i] == '&') {
            const char *end = memchr(text.at + i, ';', text.size - i);
            if (end == NULL)
                return false;
            lx__span entity = {text.at + i + 1, (size_t)(end - text.at) - i - 1};
            size = put_entity(entity, character);
            i += entity.size + 1;
        }
        if (size == 0 || size >= capacity - used)
            return false;
        memcpy(to + used, character, size);
        used += size;
    }
    if (used >= capacity)
        return false;
    to[used] = '\0';
    return true;
}
