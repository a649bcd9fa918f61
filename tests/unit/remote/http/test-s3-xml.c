/* SPDX-License-Identifier: MIT */
#include "remote/http/s3-xml.h"

#include "../../unit.h"

/** Scans a text, and describes its events: "parent/name=text;" and "name.", then "!" if it is
 * bad. */
static const char *scan(const char *text)
{
    static char found[2000];
    size_t used = 0;
    lx__s3_xml xml;
    lx__s3_xml_begin(&xml, text, strlen(text));
    found[0] = '\0';
    for (;;) {
        lx__s3_xml_event event = lx__s3_xml_next(&xml);
        lx__span parent = xml.depth > 0 ? xml.open[xml.depth - 1] : (lx__span){"", 0};
        if (event == LX__S3_XML_END)
            return found;
        if (event == LX__S3_XML_BAD)
            return strcat(found, "!");
        used += (size_t)(event == LX__S3_XML_VALUE
                             ? sprintf(found + used, "%.*s/%.*s=%.*s;", (int)parent.size, parent.at,
                                       (int)xml.name.size, xml.name.at, (int)xml.text.size,
                                       xml.text.at)
                             : sprintf(found + used, "%.*s.", (int)xml.name.size, xml.name.at));
    }
}

START_TEST(values_and_ends_are_found)
{
    static const char *const cases[][2] = {
        {"<a/>", "/a=;"},
        {"<a></a>", "/a=;"},
        {"<a>text</a>", "/a=text;"},
        {"<a>  x &amp; y\n</a >", "/a=  x &amp; y\n;"},
        {"<?xml version=\"1.0\"?>\n<!-- <x> -->\n<a/>\n", "/a=;"},
        {"<a><b>1</b><b/><c x='>' y=\"</c>\">2</c></a>", "a/b=1;a/b=;a/c=2;a."},
        {"<a>\n <b>\n  <c>1</c>\n </b>\n</a>", "b/c=1;b.a."},
        {"<a><!-- no text --><b>1</b></a>", "a/b=1;a."},
        {"<a:b><a:c>1</a:c></a:b>", "a:b/a:c=1;a:b."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(scan(cases[i][0]), cases[i][1]);
}
END_TEST

START_TEST(what_is_not_xml_is_bad)
{
    static const char *const texts[] = {
        "",
        " ",
        "text",
        "<",
        "<a",
        "<a>",
        "<a",
        "<a><b></a>",
        "</a>",
        "<a></b>",
        "<a/><b/>",
        "<a/>text",
        "x<a/>",
        "<>",
        "</>",
        "< a/>",
        "<a><",
        "<!-- a",
        "<?a",
        "<!DOCTYPE a><a/>",
        "<a><![CDATA[x]]></a>",
        "<a x='></a>",
        "<a <b/></a>",
        "<a>x<!-- y -->z</a>",
        "<a><b><c><d><e><f><g><h><i>1</i></h></g></f></e></d></c></b></a>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *found = scan(texts[i]);
        ck_assert_msg(strchr(found, '!') != NULL, "%s: %s", texts[i], found);
    }
}
END_TEST

START_TEST(elements_are_recognized_by_their_parent)
{
    static const char text[] = "<a><b>1</b></a>";
    lx__s3_xml xml;
    lx__s3_xml_begin(&xml, text, strlen(text));
    ck_assert_int_eq(lx__s3_xml_next(&xml), LX__S3_XML_VALUE);
    ck_assert(lx__s3_xml_is(&xml, "a", "b"));
    ck_assert(!lx__s3_xml_is(&xml, NULL, "b"));
    ck_assert(!lx__s3_xml_is(&xml, "aa", "b"));
    ck_assert(!lx__s3_xml_is(&xml, "a", "bb"));
    ck_assert_int_eq(lx__s3_xml_next(&xml), LX__S3_XML_CLOSE);
    ck_assert(lx__s3_xml_is(&xml, NULL, "a"));
    ck_assert(!lx__s3_xml_is(&xml, "a", "a"));
}
END_TEST

static bool decodes(const char *text, const char *expected, size_t capacity)
{
    char to[64];
    memset(to, 'x', sizeof to);
    bool done = lx__s3_xml_decode((lx__span){text, strlen(text)}, to, capacity);
    for (size_t i = capacity; i < sizeof to; i++)
        ck_assert_int_eq(to[i], 'x');
    return done && strcmp(to, expected) == 0;
}

START_TEST(entities_are_decoded)
{
    static const char *const bad[] = {"&",     "&x;",      "&;",         "&#;",           "&#x;",
                                      "&#0;",  "&#xd800;", "&#x110000;", "&#99999999;",   "&#1a;",
                                      "&#xg;", "&amp",     "&#-1;",      "&#00000000065;"};
    ck_assert(decodes("a&lt;&gt;&amp;&quot;&apos;b", "a<>&\"'b", 20));
    ck_assert(decodes("&#65;&#x41;&#xFc;&#x20ac;&#x1F600;",
                      "AA\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80", 20));
    ck_assert(decodes("", "", 1));
    ck_assert(decodes("abc", "abc", 4));
    ck_assert(!decodes("abc", "abc", 3));
    ck_assert(!decodes("a&#x20ac;", "", 4));
    ck_assert(!decodes("", "", 0));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!decodes(bad[i], "", 20), "%s", bad[i]);
    char to[8];
    ck_assert(!lx__s3_xml_decode((lx__span){"a\0b", 3}, to, sizeof to));
}
END_TEST

UNIT_MAIN("remote/http/s3-xml", values_and_ends_are_found, what_is_not_xml_is_bad,
          elements_are_recognized_by_their_parent, entities_are_decoded)
