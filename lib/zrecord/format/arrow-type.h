/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The types of Arrow columns, and the fields that correspond to them.
 *
 * One table lists all types. The rest of the library knows only their layouts.
 */
#ifndef LX_ZRECORD_ARROW_TYPE_H
#define LX_ZRECORD_ARROW_TYPE_H

#include <loaderx/arrow.h>

/** How the buffers of an array represent its values. */
typedef enum lx__arrow_layout {
    LX__ARROW_REFUSED,     /**< There is no field for such values. */
    LX__ARROW_NULLS,       /**< All values are null; there are no buffers. */
    LX__ARROW_BITS,        /**< One bit per value. */
    LX__ARROW_FIXED,       /**< One number per value. */
    LX__ARROW_BLOCKS,      /**< A fixed number of bytes per value. */
    LX__ARROW_OFFSETS32,   /**< Bytes between 32-bit offsets. */
    LX__ARROW_OFFSETS64,   /**< Bytes between 64-bit offsets. */
    LX__ARROW_VIEWS,       /**< Short bytes in place, others in one of several buffers. */
    LX__ARROW_LISTS32,     /**< Items of the child between 32-bit offsets. */
    LX__ARROW_LISTS64,     /**< Items of the child between 64-bit offsets. */
    LX__ARROW_FIXED_LISTS, /**< A fixed number of items of the child per value. */
    LX__ARROW_FILES,       /**< The bytes of a file, and its path. */
} lx__arrow_layout;

/** A row of the table of types. */
typedef struct lx__arrow_format {
    const char *text; /**< The format string; "x:" stands for all that begin with "x:". */
    const char *name; /**< For errors. */
    lx__arrow_layout layout;
    lx_dtype stored; /**< The type of the numbers in the buffers. */
    lx_dtype dtype;  /**< The dtype of a field for the values, unless metadata says otherwise. */
} lx__arrow_format;

/** The type of a column: at most one list of varying length, which contains at most LX_MAX_NDIM
 * fixed-size lists, which contain values. Each part may be absent, except the values. */
typedef struct lx__arrow_type {
    const lx__arrow_format *format; /**< Of the values. */
    const lx__arrow_format *list;   /**< Of the list of varying length; NULL: there is none. */
    const lx__arrow_format *index;  /**< Of the indices into a dictionary; NULL: there is none. */
    const lx__arrow_format *path;   /**< Of the paths; NULL: the column is not a struct of bytes,
                                         which are the values, and paths. */
    lx_dtype dtype;                 /**< Of a field for the values. */
    size_t ndim;
    uint64_t shape[LX_MAX_NDIM];  /**< The sizes of the fixed-size lists, or of a block. */
    uint64_t items;               /**< The product of the shape. */
    size_t tensor_ndim;           /**< 0: the values are not tensors. */
    uint64_t tensor[LX_MAX_NDIM]; /**< The shape of tensors, whose lists are not nested. */
} lx__arrow_type;

/** Parses the type of a column. Errors do not name the column. */
lx_status lx__arrow_type_parse(const struct ArrowSchema *column, lx__arrow_type *type,
                               lx_error *error);

/** Fails unless values of @p type may become values of @p field. The lengths of lists, if they
 * vary, remain to be checked. */
lx_status lx__arrow_type_check(const lx__arrow_type *type, const lx_field *field, lx_error *error);

/** Whether elements of @p dtype are times, of which NaT stands for none. */
static inline bool lx__arrow_is_time(lx_dtype dtype)
{
    return dtype >= LX_DATETIME64_D && dtype <= LX_DATETIME64_NS;
}

/** Fails on a big-endian machine, because values of fields are little-endian. */
lx_status lx__arrow_machine_check(lx_error *error);

/** Fails unless @p columns is a struct type with children. */
lx_status lx__arrow_struct_check(const struct ArrowSchema *columns, lx_error *error);

/** Returns the format in which elements of @p dtype leave the library; NULL if Arrow has none. */
const lx__arrow_format *lx__arrow_format_for(lx_dtype dtype);

#endif
