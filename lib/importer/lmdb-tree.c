/* SPDX-License-Identifier: MIT */
/* Source: the structures MDB_meta, MDB_db, MDB_page and MDB_node in mdb.c of LMDB 0.9. */
#include "importer/lmdb-tree.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

/* A page: u64 number, u16 unused, u16 flags, u16 end of the entries' places, u16 beginning of the
 * entries (or u32 number of pages of a large value), and the places, u16 each. */
#define PAGE_FLAGS 10
#define PAGE_LOWER 12
#define PAGE_UPPER 14
#define PAGE_HEAD 16
enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_LARGE = 4, PAGE_META = 8, PAGE_KINDS = 0x6f };

/* Pages 0 and 1 describe the state after the last two commits: after the head u32 magic, u32
 * version, two u64, the roots of the free pages and of the main database, u64 last page, u64 number
 * of the commit. A root: u32 page size, u16 flags, u16 depth, three u64, u64 keys, u64 page. */
#define META_PAGES 2
#define MIN_PAGE 512
#define MAX_PAGE 32768
#define META_SIZE 152
#define META_MAGIC 16
#define META_VERSION 20
#define META_FREE 40
#define META_MAIN 88
#define META_COMMIT 144
#define ROOT_FLAGS 4
#define ROOT_DEPTH 6
#define ROOT_ENTRIES 32
#define ROOT_PAGE 40
#define ROOT_SIZE 48
#define MAGIC UINT32_C(0xbeefc0de)
#define DATA_VERSION 1
#define NO_PAGE UINT64_MAX
enum { ROOT_DUPLICATES = 4 };

/* An entry: the low 32 bits of the size of the value or of the number of a page, u16 flags (in a
 * branch, more bits of the number), u16 size of the key, the key, the value. */
#define NODE_FLAGS 4
#define NODE_KEY_SIZE 6
#define NODE_KEY 8
enum { NODE_LARGE = 1, NODE_DATABASE = 2, NODE_DUPLICATES = 4 };

static unsigned load_le16(const uint8_t *from)
{
    return from[0] | (unsigned)from[1] << 8;
}

static lx_status fail(const lx__lmdb *self, const char *what, uint64_t page, lx_error *error)
{
    lx_status status = lx_fail(error, LX_ERR_CORRUPT, "the database is damaged: %s", what);
    lx_error_locate(error, self->file.path, NULL, LX_NONE, page * self->page_size);
    return status;
}

/* ---- opening */

static lx__lmdb_root read_root(const uint8_t *from)
{
    return (lx__lmdb_root){.flags = load_le16(from + ROOT_FLAGS),
                           .depth = load_le16(from + ROOT_DEPTH),
                           .entries = lx__load_le64(from + ROOT_ENTRIES),
                           .page = lx__load_le64(from + ROOT_PAGE)};
}

/** Goes to the beginning of a tree. */
static lx_status begin(lx__lmdb *self, lx__lmdb_root root, lx_error *error)
{
    if (root.page == NO_PAGE)
        root.depth = 0;
    if (root.depth > LX__LMDB_DEPTH)
        return fail(self, "a tree has too many levels", 0, error);
    if (root.flags & ROOT_DUPLICATES)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "a database with several values for a key (MDB_DUPSORT) is not supported");
    self->root = root;
    self->level = root.depth;
    self->visited = self->found = 0;
    return LX_OK;
}

/** Reads one of the two pages that describe the state, and keeps the later state. */
static lx_status read_meta(lx__lmdb *self, uint64_t page, uint64_t *commit, lx__lmdb_root *main,
                           lx_error *error)
{
    uint8_t meta[META_SIZE];
    lx_status status = lx__file_read(&self->file, meta, sizeof meta, page * self->page_size, error);
    if (status != LX_OK)
        return status;
    uint32_t version = lx__load_le32(meta + META_VERSION);
    if (!(load_le16(meta + PAGE_FLAGS) & PAGE_META) || lx__load_le32(meta + META_MAGIC) != MAGIC)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "the file is not an LMDB database of a 64-bit little-endian machine");
    if (version != DATA_VERSION)
        return lx_fail(error, LX_ERR_UNSUPPORTED,
                       "version %" PRIu32
                       " of LMDB's file format is not supported: convert it with "
                       "mdb_dump and mdb_load of LMDB 0.9",
                       version);
    if (page == 0)
        self->page_size = lx__load_le32(meta + META_FREE);
    if (page == 0 || lx__load_le64(meta + META_COMMIT) > *commit) {
        *commit = lx__load_le64(meta + META_COMMIT);
        *main = read_root(meta + META_MAIN);
    }
    return LX_OK;
}

lx_status lx__lmdb_open(lx__lmdb *self, const char *path, lx_error *error)
{
    uint64_t size = 0;
    *self = (lx__lmdb){.file = LX__FILE_CLOSED};
    lx_status status = lx__file_open(&self->file, LX__CWD, path, O_RDONLY, error);
    if (status == LX_OK)
        status = lx__file_size(&self->file, &size, error);
    if (status == LX_OK)
        status = read_meta(self, 0, &self->commit, &self->main, error);
    if (status != LX_OK)
        return status;
    uint32_t page = self->page_size;
    if (page < MIN_PAGE || page > MAX_PAGE || (page & (page - 1)) != 0)
        return fail(self, "its page size is invalid", 0, error);
    self->page_count = size / page;
    status = read_meta(self, 1, &self->commit, &self->main, error);
    return status == LX_OK ? begin(self, self->main, error) : status;
}

void lx__lmdb_close(lx__lmdb *self)
{
    for (size_t i = 0; i < LX__LMDB_DEPTH; i++)
        lx__free(self->pages[i]);
    lx__free(self->large);
    lx__file_close(&self->file);
    *self = (lx__lmdb){.file = LX__FILE_CLOSED};
}

lx_status lx__lmdb_check_unchanged(const lx__lmdb *self, lx_error *error)
{
    lx__lmdb now = {.file = self->file, .page_size = self->page_size};
    uint64_t commit = 0;
    lx_status status = read_meta(&now, 0, &commit, &now.main, error);
    if (status == LX_OK)
        status = read_meta(&now, 1, &commit, &now.main, error);
    if (status == LX_OK && commit != self->commit)
        return lx_fail(error, LX_ERR_MISMATCH,
                       "the database was changed while it was imported: import it again, while "
                       "nobody writes to it");
    return status;
}

/* ---- pages */

/** Reads a page of the tree. */
static lx_status read_page(lx__lmdb *self, uint64_t number, unsigned level, lx_error *error)
{
    uint32_t size = self->page_size;
    if (number < META_PAGES || number >= self->page_count)
        return fail(self, "a page does not lie within the file", number, error);
    if (self->visited++ >= self->page_count)
        return fail(self, "its pages form a circle", number, error);
    if (self->pages[level] == NULL && (self->pages[level] = lx__alloc(size)) == NULL)
        return lx__fail_memory(error, "a page of a database");
    uint8_t *page = self->pages[level];
    lx_status status = lx__file_read(&self->file, page, size, number * size, error);
    if (status != LX_OK)
        return status;
    self->read += size;
    unsigned kind = level + 1 == self->root.depth ? PAGE_LEAF : PAGE_BRANCH;
    unsigned lower = load_le16(page + PAGE_LOWER), upper = load_le16(page + PAGE_UPPER);
    if (lx__load_le64(page) != number || (load_le16(page + PAGE_FLAGS) & PAGE_KINDS) != kind)
        return fail(self, "a page is not what its tree says", number, error);
    if (lower < PAGE_HEAD || lower > upper || upper > size || lower % 2 != 0)
        return fail(self, "the bounds of a page are invalid", number, error);
    self->at[level] = 0;
    self->level = level;
    return LX_OK;
}

/** The next entry of the page at the place; NULL: there is no other. */
static lx_status next_node(lx__lmdb *self, const uint8_t **node, size_t *left, lx_error *error)
{
    uint8_t *page = self->pages[self->level];
    unsigned count = (load_le16(page + PAGE_LOWER) - PAGE_HEAD) / 2;
    *node = NULL;
    if (self->at[self->level] == count)
        return LX_OK;
    unsigned at = load_le16(page + PAGE_HEAD + 2 * self->at[self->level]++);
    if (at < load_le16(page + PAGE_UPPER) || at + NODE_KEY > self->page_size ||
        load_le16(page + at + NODE_KEY_SIZE) > self->page_size - at - NODE_KEY)
        return fail(self, "an entry does not lie within its page", lx__load_le64(page), error);
    *node = page + at;
    *left = self->page_size - at - NODE_KEY - load_le16(*node + NODE_KEY_SIZE);
    return LX_OK;
}

/** Goes to the next entry of a leaf; NULL: there is no other. */
static lx_status find_node(lx__lmdb *self, const uint8_t **node, size_t *left, lx_error *error)
{
    lx_status status = LX_OK;
    *node = NULL;
    if (self->root.depth == 0)
        return LX_OK;
    if (self->level == self->root.depth) /* there is no place yet */
        status = read_page(self, self->root.page, 0, error);
    while (status == LX_OK) {
        status = next_node(self, node, left, error);
        if (status != LX_OK)
            break;
        if (*node == NULL && self->level == 0)
            return LX_OK;
        if (*node == NULL)
            self->level--;
        else if (self->level + 1 == self->root.depth)
            return LX_OK;
        else
            status = read_page(self,
                               lx__load_le32(*node) | (uint64_t)load_le16(*node + NODE_FLAGS) << 32,
                               self->level + 1, error);
    }
    return status;
}

/* ---- entries */

/** Reads a value that has pages of its own. */
static lx_status read_large(lx__lmdb *self, uint64_t number, size_t size, lx_error *error)
{
    uint8_t head[PAGE_HEAD];
    uint64_t offset;
    if (number < META_PAGES || number >= self->page_count)
        return fail(self, "a value does not lie within the file", number, error);
    offset = number * self->page_size;
    lx_status status = lx__file_read(&self->file, head, sizeof head, offset, error);
    if (status != LX_OK)
        return status;
    uint64_t pages = lx__load_le32(head + PAGE_LOWER);
    if (lx__load_le64(head) != number || (load_le16(head + PAGE_FLAGS) & PAGE_KINDS) != PAGE_LARGE)
        return fail(self, "a page is not what its tree says", number, error);
    if (pages > self->page_count - number ||
        !lx__range_fits(PAGE_HEAD, size, pages * self->page_size))
        return fail(self, "a value does not lie within its pages", number, error);
    if (size > self->large_capacity && !lx__reserve(&self->large, &self->large_capacity, size))
        return lx__fail_memory(error, "a value");
    self->read += size;
    return lx__file_read(&self->file, self->large, size, offset + PAGE_HEAD, error);
}

static lx_status read_entry(lx__lmdb *self, const uint8_t *node, size_t left, uint64_t limit,
                            lx__lmdb_entry *entry, lx_error *error)
{
    unsigned flags = load_le16(node + NODE_FLAGS);
    uint8_t *page = self->pages[self->level];
    uint64_t number = lx__load_le64(page);
    *entry = (lx__lmdb_entry){.key = node + NODE_KEY,
                              .key_size = load_le16(node + NODE_KEY_SIZE),
                              .value_size = lx__load_le32(node),
                              .database = (flags & NODE_DATABASE) != 0,
                              .offset = number * self->page_size + (uint64_t)(node - page)};
    entry->value = entry->key + entry->key_size;
    if (flags & NODE_DUPLICATES)
        return lx_fail(error, LX_ERR_UNSUPPORTED, "the key has several values");
    if (entry->key_size + entry->value_size > limit)
        return lx_fail(error, LX_ERR_LIMIT,
                       "the key and its value have more than %" PRIu64
                       " bytes: raise the limit of a record",
                       limit);
    if (!(flags & NODE_LARGE))
        return entry->value_size <= left
                   ? LX_OK
                   : fail(self, "a value does not lie within its page", number, error);
    if (left < 8)
        return fail(self, "an entry does not lie within its page", number, error);
    lx_status status = read_large(self, lx__load_le64(entry->value), entry->value_size, error);
    entry->value = self->large;
    return status;
}

lx_status lx__lmdb_next(lx__lmdb *self, uint64_t limit, lx__lmdb_entry *entry, bool *lost,
                        lx_error *error)
{
    const uint8_t *node;
    size_t left = 0;
    entry->offset = LX_NONE;
    lx_status status = find_node(self, &node, &left, error);
    *lost = status != LX_OK;
    if (status != LX_OK)
        return status;
    if (node != NULL) {
        self->found++;
        return read_entry(self, node, left, limit, entry, error);
    }
    *lost = true;
    return self->found == self->root.entries ? LX_END
                                             : lx_fail(error, LX_ERR_CORRUPT,
                                                       "the database is damaged: it has %" PRIu64
                                                       " keys, but should have %" PRIu64,
                                                       self->found, self->root.entries);
}

lx_status lx__lmdb_select(lx__lmdb *self, const char *name, lx_error *error)
{
    lx__lmdb_entry entry = {0};
    bool lost;
    size_t size = strlen(name);
    lx_status status = begin(self, self->main, error);
    while (status == LX_OK) {
        lx_error why = LX_ERROR_INIT;
        status = lx__lmdb_next(self, MAX_PAGE, &entry, &lost, &why);
        if (status == LX_ERR_LIMIT) { /* a large value is no root */
            status = LX_OK;
            continue;
        }
        lx__error_propagate(error, &why);
        if (status == LX_OK && entry.database && entry.key_size == size &&
            memcmp(entry.key, name, size) == 0)
            break;
    }
    if (status == LX_END)
        return lx_fail(error, LX_ERR_ARGUMENT, "there is no database named '%.64s'", name);
    if (status == LX_OK && entry.value_size != ROOT_SIZE)
        return fail(self, "the root of a named database is invalid", 0, error);
    return status == LX_OK ? begin(self, read_root(entry.value), error) : status;
}
