/* SPDX-License-Identifier: MIT */
#include "record.h"

/* Minimum length of a text, and the length of the part that it repeats, so that it is
 * compressible. */
#define TEXT_MIN 24
#define TEXT_REPEAT 64
#define MISSING_EACH 16

lx_schema *record_schema(void)
{
    const uint64_t words = HEAD_WORDS, bytes = BLOCK_SIZE;
    lx_schema *schema = need(lx_schema_new());
    if (lx_schema_add_field(schema, "head", LX_UINT64, &words, 1, LX_COMPRESSION_RAW, NULL) !=
            LX_OK ||
        lx_schema_add_field(schema, "number", LX_INT64, NULL, 0, LX_COMPRESSION_RAW, NULL) !=
            LX_OK ||
        lx_schema_add_field(schema, "block", LX_UINT8, &bytes, 1, LX_COMPRESSION_RAW, NULL) !=
            LX_OK ||
        lx_schema_add_field(schema, "text", LX_BYTES, NULL, 0, LX_COMPRESSION_FLATE, NULL) != LX_OK)
        give_up("a schema");
    return schema;
}

static uint64_t check_head(const uint64_t words[HEAD_WORDS])
{
    uint64_t check = HEAD_WORDS;
    for (size_t i = 0; i + 1 < HEAD_WORDS; i++)
        check = rng_mix(check, words[i]);
    return check;
}

static void make_head(const struct record *record, uint8_t *data)
{
    uint64_t words[HEAD_WORDS] = {
        record->identity,
        record->commit,
        record->versions[NUMBER] | (uint64_t)record->versions[BLOCK] << 32,
        record->versions[TEXT],
        record->length,
        record->sum,
    };
    words[HEAD_WORDS - 1] = check_head(words);
    memcpy(data, words, sizeof words);
}

bool record_parse(const void *head, struct record *record)
{
    uint64_t words[HEAD_WORDS];
    memcpy(words, head, sizeof words);
    *record = (struct record){
        .identity = words[0],
        .commit = words[1],
        .versions = {0, (uint32_t)words[2], (uint32_t)(words[2] >> 32), (uint32_t)words[3]},
        .length = words[4],
        .sum = words[5],
    };
    return words[HEAD_WORDS - 1] == check_head(words);
}

/** 24 bits of each, and a checksum. */
static uint64_t make_number(uint64_t identity, uint64_t version)
{
    uint64_t low = (identity & 0xffffff) | (version & 0xffffff) << 24;
    return low | rng_mix(NUMBER, low) << 48;
}

/** The value of a field in chunks; returns its size, or LX_NONE if it is missing. */
static uint64_t make_stored(size_t field, uint64_t identity, uint64_t version, uint8_t *data)
{
    uint64_t words[VALUE_SIZE / 8] = {identity, version};
    struct rng rng = {rng_mix(identity, version) + field};
    uint64_t roll = rng_next(&rng), size = BLOCK_SIZE;
    if (field == TEXT) {
        if (roll % MISSING_EACH == 0)
            return LX_NONE;
        size = TEXT_MIN + roll % (VALUE_SIZE - TEXT_MIN);
    }
    for (size_t i = 2; i < VALUE_SIZE / 8; i++)
        words[i] = field == TEXT && i % (TEXT_REPEAT / 8) != 2 ? words[2] : rng_next(&rng);
    memcpy(data, words, (size_t)size);
    return size;
}

lx_value record_value(const struct record *record, size_t field, uint8_t data[VALUE_SIZE])
{
    uint64_t number;
    switch (field) {
    case HEAD:
        make_head(record, data);
        return (lx_value){data, HEAD_SIZE};
    case NUMBER:
        number = make_number(record->identity, record->versions[NUMBER]);
        memcpy(data, &number, sizeof number);
        return (lx_value){data, NUMBER_SIZE};
    case EXTRA:
        memcpy(data, &record->identity, sizeof record->identity);
        return (lx_value){data, sizeof record->identity};
    default:
        return (lx_value){data,
                          make_stored(field, record->identity, record->versions[field], data)};
    }
}

/** Whether a wrong value is that of any other record. */
static bool is_value(size_t field, const void *data, uint64_t size)
{
    uint8_t right[VALUE_SIZE];
    uint64_t words[2];
    if (field == NUMBER) {
        memcpy(words, data, NUMBER_SIZE);
        return words[0] == make_number(words[0], words[0] >> 24);
    }
    if (field == EXTRA)
        return size == sizeof words[0];
    if (size < sizeof words)
        return false;
    memcpy(words, data, sizeof words);
    return make_stored(field, words[0], words[1], right) == size &&
           memcmp(right, data, (size_t)size) == 0;
}

enum verdict record_compare(const struct record *record, size_t field, const void *data,
                            uint64_t size)
{
    uint8_t right[VALUE_SIZE];
    if (field == EXTRA && data == NULL)
        return RIGHT;
    lx_value value = record_value(record, field, right);
    if (value.size == LX_NONE || data == NULL)
        return value.size == LX_NONE && data == NULL ? RIGHT : MIXED;
    if (value.size == size && memcmp(right, data, (size_t)size) == 0)
        return RIGHT;
    return is_value(field, data, size) ? MIXED : TORN;
}

uint64_t record_sum(uint64_t index, const struct record *record)
{
    uint64_t sum = rng_mix(index, record->identity);
    sum = rng_mix(sum, record->commit);
    for (size_t i = NUMBER; i < FIELDS; i++)
        sum = rng_mix(sum, record->versions[i]);
    return sum;
}
