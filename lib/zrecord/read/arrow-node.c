/* SPDX-License-Identifier: MIT */
#include "zrecord/read/arrow-node.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

/* Arrow recommends this alignment of buffers. */
#define ALIGN 64

/* The most buffers of an array. */
#define BUFFERS 3

/* ---- types */

typedef struct schema_memory {
    char *text; /**< The format and the name. */
    struct ArrowSchema *children;
    struct ArrowSchema *pointers[];
} schema_memory;

static void free_schema(schema_memory *memory)
{
    lx__free(memory->text);
    lx__free(memory->children);
    lx__free(memory);
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
    free_schema(schema->private_data);
    schema->release = NULL;
}

lx_status lx__arrow_schema_make(struct ArrowSchema *schema, const char *format, const char *name,
                                size_t count, lx_error *error)
{
    schema_memory *memory = lx__alloc(sizeof *memory + count * sizeof *memory->pointers);
    if (memory == NULL)
        return lx__fail_memory(error, "an Arrow schema");
    size_t size = strlen(format) + 1;
    memory->text = lx__alloc(size + strlen(name) + 1);
    memory->children = lx__alloc_array(count, sizeof *memory->children);
    if (memory->text == NULL || memory->children == NULL) {
        free_schema(memory);
        return lx__fail_memory(error, "an Arrow schema");
    }
    memcpy(memory->text, format, size);
    memcpy(memory->text + size, name, strlen(name) + 1);
    for (size_t i = 0; i < count; i++)
        memory->pointers[i] = &memory->children[i];
    *schema = (struct ArrowSchema){.format = memory->text,
                                   .name = memory->text + size,
                                   .flags = ARROW_FLAG_NULLABLE,
                                   .n_children = (int64_t)count,
                                   .children = memory->pointers,
                                   .release = release_schema,
                                   .private_data = memory};
    return LX_OK;
}

/* ---- arrays */

typedef struct array_memory {
    void *blocks[BUFFERS]; /**< What the buffers are in. */
    const void *buffers[BUFFERS];
    struct ArrowArray *children;
    struct ArrowArray *pointers[];
} array_memory;

static void release_array(struct ArrowArray *array)
{
    array_memory *memory = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    for (size_t i = 0; i < BUFFERS; i++)
        lx__free(memory->blocks[i]);
    lx__free(memory->children);
    lx__free(memory);
    array->release = NULL;
}

lx_status lx__arrow_array_make(struct ArrowArray *array, uint64_t length, size_t buffers,
                               size_t count, lx_error *error)
{
    array_memory *memory = lx__alloc_array(1, sizeof *memory + count * sizeof *memory->pointers);
    struct ArrowArray *children = lx__alloc_array(count, sizeof *children);
    if (memory == NULL || children == NULL) {
        lx__free(memory);
        lx__free(children);
        return lx__fail_memory(error, "an Arrow array");
    }
    memory->children = children;
    for (size_t i = 0; i < count; i++)
        memory->pointers[i] = &children[i];
    *array = (struct ArrowArray){.length = (int64_t)length,
                                 .n_buffers = (int64_t)buffers,
                                 .n_children = (int64_t)count,
                                 .buffers = memory->buffers,
                                 .children = memory->pointers,
                                 .release = release_array,
                                 .private_data = memory};
    return LX_OK;
}

void *lx__arrow_array_allocate(struct ArrowArray *array, size_t buffer, uint64_t size)
{
    array_memory *memory = array->private_data;
    if (size > SIZE_MAX - ALIGN)
        return NULL;
    void *block = lx__alloc((size_t)size + ALIGN);
    if (block == NULL)
        return NULL;
    uintptr_t start = (uintptr_t)block;
    memory->blocks[buffer] = block;
    void *aligned = (uint8_t *)block + (lx__align_up(start, ALIGN) - start);
    memory->buffers[buffer] = aligned;
    return aligned;
}
