/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

char *report_size(uint64_t bytes, char *text)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 1024) {
        snprintf(text, REPORT_SIZE_TEXT, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
        return text;
    }
    for (; value >= 999.95; unit++)
        value /= 1024;
    snprintf(text, REPORT_SIZE_TEXT, "%.1f %s", value, units[unit]);
    return text;
}

char *report_shape(const lx_field *field, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (size_t i = 0; i < field->ndim && used < size; i++)
        used += field->shape[i] == LX_NONE
                    ? (size_t)snprintf(text + used, size - used, "varies")
                    : (size_t)snprintf(text + used, size - used, "%s%" PRIu64, i != 0 ? ", " : "",
                                       field->shape[i]);
    if (used < size)
        snprintf(text + used, size - used, "%s)", field->ndim == 1 ? "," : "");
    return text;
}

const char *report_compression(lx_compression compression)
{
    switch (compression) {
    case LX_COMPRESSION_RAW:
        return "raw";
    case LX_COMPRESSION_FLATE:
        return "flate";
    case LX_COMPRESSION_ZSTD:
        return "zstd";
    }
    return "unknown";
}

json_t *report_number(uint64_t number)
{
    return json_integer(number < INT64_MAX ? (json_int_t)number : INT64_MAX);
}

json_t *report_text(const char *text)
{
    json_t *made = json_string(text);
    char *plain = made == NULL ? strdup(text) : NULL;
    if (plain == NULL)
        return made;
    for (char *at = plain; *at != '\0'; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    made = json_string(plain);
    free(plain);
    return made;
}

char *report_real(double number, char *text)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, REPORT_REAL_TEXT, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return text;
}

lx_status report_print_text(const char *text, lx_error *error)
{
    json_t *value = report_text(text);
    char *quoted = value != NULL ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    lx_status status = quoted != NULL ? LX_OK : fail_memory(error, "a text");
    if (quoted != NULL)
        printf("%s", quoted);
    json_decref(value);
    free(quoted);
    return status;
}

/** Whether a control character begins at @p at. In UTF-8, those from U+0080 to U+009F begin with
 * C2. */
static bool is_control(const unsigned char *at)
{
    return at[0] < ' ' || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0);
}

void report_card(const lx_card *card)
{
    for (size_t i = 0; i < lx_card_get_count(card); i++) {
        const lx_card_entry *entry = lx_card_get_entry(card, i);
        printf("%-12s ", entry->key);
        for (const char *at = entry->text; *at != '\0'; at++) {
            const unsigned char *byte = (const unsigned char *)at;
            if (*at == '\n')
                printf("\n%*s", 13, "");
            else if (!is_control(byte))
                putchar(*at);
            else {
                putchar('?');
                at += *byte == 0xc2;
            }
        }
        putchar('\n');
    }
}

json_t *report_card_json(const lx_card *card)
{
    json_t *object = json_object();
    for (size_t i = 0; object != NULL && i < lx_card_get_count(card); i++) {
        const lx_card_entry *entry = lx_card_get_entry(card, i);
        if (json_object_set_new(object, entry->key, json_string(entry->text)) == 0)
            continue;
        json_decref(object);
        object = NULL;
    }
    return object;
}

lx_status report_print(json_t *document, lx_error *error)
{
    if (document == NULL)
        return fail_memory(error, "the report");
    int failed = json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(document);
    putchar('\n');
    return failed == 0 || ferror(stdout) ? LX_OK : fail_memory(error, "the report");
}
