/* SPDX-License-Identifier: MIT */
#include "forge.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../stamp.h"

const uint8_t forge_uuid[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

static void write_all(int fd, const void *data, size_t size, uint64_t offset, const char *path)
{
    for (size_t done = 0; done < size;) {
        ssize_t moved = pwrite(fd, (const char *)data + done, size - done, (off_t)(offset + done));
        if (moved <= 0)
            give_up(path);
        done += (size_t)moved;
    }
}

void forge_file(const struct forge *forge, const char *name, const void *data, size_t size,
                uint64_t length)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/%s", forge->path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd == -1)
        give_up(path);
    write_all(fd, data, size, 0, path);
    if (length > size && ftruncate(fd, (off_t)length) == -1)
        give_up(path);
    close(fd);
}

void forge_begin(struct forge *forge, const char *path, const char *meta, size_t size)
{
    char chunk[4300];
    *forge = (struct forge){.path = path};
    memcpy(forge->identity.uuid, forge_uuid, sizeof forge_uuid);
    snprintf(chunk, sizeof chunk, "%s/chunk", path);
    if (mkdir(path, 0777) == -1 || mkdir(chunk, 0777) == -1)
        give_up(path);
    forge_file(forge, "LOCK", "", 0, 0);
    char *whole = stamped(meta, size, &size);
    forge_file(forge, "meta.json", whole, size, size);
    free(whole);
    forge_file(forge, "LOG", "", 0, 0);
    forge_frame(forge, (lx__frame){.flags = LX__FRAME_SNAPSHOT | LX__FRAME_SYNCED}, NULL, 0, NULL,
                0);
}

void forge_end(struct forge *forge)
{
    lx__frame_builder_free(&forge->builder);
}

char *forge_meta(size_t count, const char *compress)
{
    size_t size = 0, room = 1000 + count * 200;
    char *text = need(malloc(room));
    size += (size_t)snprintf(
        text, room,
        "{\"format\": [1, 0], \"features\": {\"must\": [], \"may\": []}, \"generation\": 0,\n"
        " \"uuid\": \"" FORGE_UUID "\", \"sealed\": false, \"length\": 0, \"chunks\": {\"num\": 0,"
        " \"size\": 1048576, \"limit\": 1073741824, \"unfull\": []}, \"next_field\": %zu,\n"
        " \"fields\": [",
        count);
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, room - size,
                                 "%s{\"id\": %zu, \"name\": \"f%zu\", \"stem\": \"f%zu\", "
                                 "\"dtype\": \"bytes\", \"shape\": [], \"compress\": \"%s\", "
                                 "\"align\": 1, \"dict\": null}",
                                 i != 0 ? ",\n  " : "", i, i, i, compress);
    snprintf(text + size, room - size, "]}\n");
    return text;
}

void forge_frame(struct forge *forge, lx__frame frame, const lx__chunk_item *chunks,
                 size_t chunk_count, const lx__update_item *updates, size_t update_count)
{
    char path[4300];
    if (lx__frame_begin(&forge->builder, chunk_count, update_count, NULL) != LX_OK)
        give_up("a frame");
    for (size_t i = 0; i < chunk_count; i++)
        lx__frame_add_chunk(&forge->builder, &chunks[i]);
    for (size_t i = 0; i < update_count; i++)
        lx__frame_add_update(&forge->builder, &updates[i]);
    frame.sequence = forge->sequence++;
    frame.previous_crc = forge->crc;
    lx__frame_finish(&forge->builder, &frame, &forge->identity);
    forge->crc = frame.crc;
    snprintf(path, sizeof path, "%s/LOG", forge->path);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd == -1)
        give_up(path);
    write_all(fd, forge->builder.data, forge->builder.size, forge->offset, path);
    forge->offset += forge->builder.size;
    close(fd);
}

void forge_seal(lx__entry *entry, uint32_t field, const void *stored, uint64_t index)
{
    lx__entry_rules rules = {.field = field, .align = 1, .size = LX_NONE};
    memcpy(rules.uuid, forge_uuid, sizeof forge_uuid);
    entry->crc = lx__entry_crc(entry, &rules, stored) ^ lx__index_crc(index);
}

void forge_tables(const struct forge *forge, const lx__entry *entries, size_t count)
{
    uint8_t *offsets = need(malloc(count * LX__OFFSET_ROW + 1));
    uint8_t *checks = need(malloc(count * LX__CHECK_ROW + 1));
    for (size_t i = 0; i < count; i++)
        lx__entry_store(&entries[i], offsets + i * LX__OFFSET_ROW, checks + i * LX__CHECK_ROW);
    forge_file(forge, "f0.offset", offsets, count * LX__OFFSET_ROW, 0);
    forge_file(forge, "f0.check", checks, count * LX__CHECK_ROW, 0);
    free(offsets);
    free(checks);
}
