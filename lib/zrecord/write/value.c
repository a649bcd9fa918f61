/* SPDX-License-Identifier: MIT */
#include "zrecord/write/value.h"

#include "base/error.h"
#include "base/image-signature.h"
#include "base/log.h"
#include "zrecord/format/content.h"

static lx_status check_size(const lx_field *field, uint64_t size, lx_error *error)
{
    if (field->size != LX_NONE && size != field->size)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the value has %llu bytes, but a value of this field has %llu",
                       (unsigned long long)size, (unsigned long long)field->size);
    if (size > LX_MAX_VALUE)
        return lx_fail(error, LX_ERR_LIMIT, "the value has %llu bytes, but at most %u are allowed",
                       (unsigned long long)size, LX_MAX_VALUE);
    if (field->size == LX_NONE && size % field->item_size != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the value has %llu bytes, which is not a multiple of the %llu bytes of an "
                       "item of this field",
                       (unsigned long long)size, (unsigned long long)field->item_size);
    return LX_OK;
}

lx_status lx__value_check_field(const lx_field *field, const lx_value *value, lx_error *error)
{
    if (value->size == LX_NONE)
        return LX_OK;
    lx_status status = check_size(field, value->size, error);
    if (status == LX_OK && value->data == NULL && value->size != 0)
        status = lx_fail(error, LX_ERR_ARGUMENT, "the value has %llu bytes, but its data is NULL",
                         (unsigned long long)value->size);
    return status == LX_OK
               ? lx__content_check_new(field->dtype, value->data, (size_t)value->size, error)
               : status;
}

void lx__value_log_format(lx_writer *writer, const lx_field *field, const lx_value *value)
{
    if (field->dtype != LX_IMAGE || value->size == LX_NONE)
        return;
    lx__image_signature found = lx__image_signature_find(value->data, (size_t)value->size);
    if (lx__image_signature_is_decoded(found) || (writer->logged_formats >> found & 1) != 0)
        return;
    writer->logged_formats |= 1u << found;
    lx__log(LX_LOG_WARNING,
            "%s, field '%s': %s is stored, but cannot be decoded for training: convert the images "
            "to JPEG, PNG or WebP, or decode them yourself",
            writer->directory.path, field->name, lx__image_signature_get_name(found));
}

lx_status lx__value_check(const lx_writer *writer, size_t field, const lx_value *value,
                          lx_error *error)
{
    const lx_field *shown = &lx__schema_field(writer->meta.schema, field)->shown;
    lx_status status = lx__value_check_field(shown, value, error);
    if (status != LX_OK)
        lx_error_locate(error, writer->directory.path, shown->name, LX_NONE, LX_NONE);
    return status;
}

lx_value lx__column_value(const lx_field *field, const lx_values *column, uint64_t i)
{
    bool varies = field->size == LX_NONE;
    if ((column->data == NULL && !(varies && column->offsets != NULL)) ||
        (column->present != NULL && !column->present[i]))
        return (lx_value){NULL, LX_NONE};
    const uint8_t *data = column->data;
    if (!varies)
        return (lx_value){data + i * field->size, field->size};
    uint64_t start = column->offsets[i];
    return (lx_value){data != NULL ? data + start : NULL, column->offsets[i + 1] - start};
}

/** Checks value @p i of a column whose values vary in size. */
static lx_status check_varying(const lx_field *field, const lx_values *column, uint64_t i,
                               lx_error *error)
{
    if (column->offsets[i + 1] < column->offsets[i])
        return lx_fail(error, LX_ERR_ARGUMENT, "offsets must not decrease");
    if (column->data == NULL && column->offsets[i + 1] != column->offsets[i])
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the offsets describe nonempty values, but data is NULL");
    lx_value value = lx__column_value(field, column, i);
    lx_status status = lx__value_check_field(field, &value, error);
    if (status != LX_OK)
        lx_error_locate(error, NULL, NULL, i, LX_NONE);
    return status;
}

lx_status lx__column_check_field(const lx_field *field, const lx_values *column, uint64_t count,
                                 lx_error *error)
{
    lx_status status = LX_OK;
    if (field->size != LX_NONE)
        return LX_OK;
    if (column->data != NULL && column->offsets == NULL && count != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "the values of the field vary in size, so offsets are required");
    for (uint64_t i = 0; status == LX_OK && column->offsets != NULL && i < count; i++)
        status = check_varying(field, column, i, error);
    return status;
}

lx_status lx__column_check(const lx_writer *writer, size_t field, const lx_values *column,
                           uint64_t count, lx_error *error)
{
    const lx_field *shown = &lx__schema_field(writer->meta.schema, field)->shown;
    lx_status status = lx__column_check_field(shown, column, count, error);
    if (status != LX_OK)
        lx_error_locate(error, writer->directory.path, shown->name, LX_NONE, LX_NONE);
    return status;
}
