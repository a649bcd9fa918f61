/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Scans the XML that S3 answers with: elements that contain elements, or one text. A server
 * may have made it up. Nothing is allocated; attributes, comments and declarations are passed.
 * Document types and CDATA are errors: no server of S3 sends them, and entities of one's own are
 * how XML attacks its readers.
 */
#ifndef LX_REMOTE_S3_XML_H
#define LX_REMOTE_S3_XML_H

#include "remote/http/span.h"

/** The most elements in one another. */
#define LX__S3_XML_DEPTH 8

typedef enum lx__s3_xml_event {
    LX__S3_XML_VALUE, /**< An element with a text only, which may be empty. */
    LX__S3_XML_CLOSE, /**< The end of an element that contains elements. */
    LX__S3_XML_END,   /**< The end of the document. */
    LX__S3_XML_BAD    /**< What follows is not XML of this kind. */
} lx__s3_xml_event;

typedef struct lx__s3_xml {
    lx__span rest;
    lx__span open[LX__S3_XML_DEPTH]; /**< The names of the elements that contain the place. */
    unsigned depth;                  /**< Number of them. */
    bool leaf;                       /**< The innermost one contains no element so far. */
    bool ended;                      /**< The outermost one has ended. */
    lx__span name, text;             /**< Of the element of the last event. */
} lx__s3_xml;

/** Begins a scan of @p size bytes, which the caller keeps until it ends. @p text may be NULL if @p size
 * is 0. */
void lx__s3_xml_begin(lx__s3_xml *self, const char *text, size_t size);

/** Passes everything up to the next event. */
lx__s3_xml_event lx__s3_xml_next(lx__s3_xml *self);

/** Whether the element of the last event has the name, and is in one element named @p parent, or is
 * the outermost one if that is NULL. */
bool lx__s3_xml_is(const lx__s3_xml *self, const char *parent, const char *name);

/** Copies a text with its entities replaced. Returns false if it has @p capacity bytes or more, a
 * NUL, or an entity that is not of XML. */
bool lx__s3_xml_decode(lx__span text, char *to, size_t capacity);

#endif
