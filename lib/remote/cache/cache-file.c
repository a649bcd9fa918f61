/* SPDX-License-Identifier: MIT */
#include "remote/cache/cache-file.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/log.h"

/* The layout; see the header. */
#define GROUP_PAGES ((uint64_t)512)
#define GROUP_BYTES ((GROUP_PAGES + 1) * LX__PAGE_BYTES)
#define ENTRY_BYTES 8

/* The longest file of a dataset: the offsets of its pages fit in an off_t. */
#define SIZE_MAX_BYTES ((uint64_t)1 << 62)

/* Pages that are verified with one read. */
#define VERIFIED_AT_ONCE 8

/* The bitmap of present pages consists of parts, each twice as long as the one before it. A part is
 * allocated when the first page in it is found, so the bitmap grows without moving. The last part
 * ends after the longest file. */
#define PART_PAGES ((uint64_t)8192)
#define PARTS 38

typedef _Atomic uint64_t part_word;

struct lx__cache_file {
    lx__file file; /**< Closed if a child of fork() could not open it again: no page is present. */
    uint64_t size; /**< Of the dataset's file. */
    uint16_t boot;
    bool wary;          /**< See lx__cache_file_distrust(). */
    atomic_bool told;   /**< A message says that a page is not what was stored in this boot. */
    atomic_bool failed; /**< Pages could not be dropped: no page is present any more. */
    _Atomic(part_word *) parts[PARTS]; /**< NULL: no page of the part was found yet. */
};

typedef struct page_entry {
    uint32_t crc;
    uint16_t bytes, boot;
} page_entry;

/* ---- the layout */

static uint64_t page_offset(uint64_t page)
{
    return (page + page / GROUP_PAGES + 1) * LX__PAGE_BYTES;
}

static uint64_t entry_offset(uint64_t page)
{
    return page / GROUP_PAGES * GROUP_BYTES + page % GROUP_PAGES * ENTRY_BYTES;
}

/** Returns how many of the pages are in the group of the first. */
static uint64_t count_in_group(lx__pages pages)
{
    uint64_t left = GROUP_PAGES - pages.first % GROUP_PAGES;
    return pages.count < left ? pages.count : left;
}

static page_entry entry_load(const uint8_t *from)
{
    uint32_t second = lx__load_le32(from + 4);
    return (page_entry){lx__load_le32(from), (uint16_t)second, (uint16_t)(second >> 16)};
}

static void entry_store(uint8_t *to, page_entry entry)
{
    lx__store_le32(to, entry.crc);
    lx__store_le32(to + 4, entry.bytes | (uint32_t)entry.boot << 16);
}

/** Returns those of the pages that the dataset's file has. */
static lx__pages clip(const lx__cache_file *self, lx__pages pages)
{
    uint64_t end = (self->size + LX__PAGE_BYTES - 1) / LX__PAGE_BYTES;
    uint64_t left = pages.first < end ? end - pages.first : 0;
    return (lx__pages){pages.first, pages.count < left ? pages.count : left};
}

/** Returns how many bytes the page must have: fewer than 4096 only at the end of the file. */
static uint64_t bytes_of_page(const lx__cache_file *self, uint64_t page)
{
    uint64_t left = self->size - page * LX__PAGE_BYTES;
    return left < LX__PAGE_BYTES ? left : LX__PAGE_BYTES;
}

/* ---- the bitmap */

/** Finds the part of a page, and makes @p page relative to it. */
static unsigned part_of(uint64_t *page)
{
    uint64_t block = *page / PART_PAGES + 1;
    unsigned part = 63 - (unsigned)__builtin_clzll(block);
    *page -= (((uint64_t)1 << part) - 1) * PART_PAGES;
    return part;
}

/** Returns the word with the bit of a page, and the bit; NULL: the part is not there. */
static part_word *find_word(lx__cache_file *self, uint64_t page, unsigned *bit)
{
    unsigned part = part_of(&page);
    part_word *words = atomic_load_explicit(&self->parts[part], memory_order_acquire);
    *bit = (unsigned)(page % 64);
    return words != NULL ? &words[page / 64] : NULL;
}

/** Returns how many of the pages, from the first, this process has found. */
static uint64_t count_known(lx__cache_file *self, lx__pages pages)
{
    uint64_t count = 0;
    while (count < pages.count) {
        unsigned bit;
        const part_word *word = find_word(self, pages.first + count, &bit);
        uint64_t absent = word != NULL ? ~atomic_load_explicit(word, memory_order_acquire) >> bit
                                       : 1;
        unsigned known = absent != 0 ? (unsigned)__builtin_ctzll(absent) : 64 - bit;
        count += known;
        if (bit + known != 64)
            break;
    }
    return count < pages.count ? count : pages.count;
}

/** Allocates the part that contains a page. If memory runs out, the pages in it are looked up in
 * the file each time. */
static void make_part(lx__cache_file *self, uint64_t page)
{
    unsigned part = part_of(&page);
    uint64_t words = (PART_PAGES << part) / 64;
    part_word *first = NULL, *made = NULL;
    if (words == (size_t)words)
        made = lx__alloc_array((size_t)words, sizeof *made);
    if (!atomic_compare_exchange_strong(&self->parts[part], &first, made))
        lx__free((void *)made);
}

static void mark(lx__cache_file *self, lx__pages pages, bool present)
{
    for (uint64_t i = 0; i < pages.count; i++) {
        unsigned bit;
        part_word *word = find_word(self, pages.first + i, &bit);
        if (word == NULL && present) {
            make_part(self, pages.first + i);
            word = find_word(self, pages.first + i, &bit);
        }
        /* A thread that sees a bit may read the page, which was written earlier. */
        if (word != NULL && present)
            atomic_fetch_or_explicit(word, (uint64_t)1 << bit, memory_order_release);
        else if (word != NULL)
            atomic_fetch_and_explicit(word, ~((uint64_t)1 << bit), memory_order_release);
    }
}

/* ---- entries */

/** Whether the entry can be of the page. One with fewer bytes was made before the file grew. */
static bool is_plausible(const lx__cache_file *self, uint64_t page, page_entry entry)
{
    return entry.boot != 0 && entry.bytes <= LX__PAGE_BYTES &&
           entry.bytes >= bytes_of_page(self, page);
}

/** Whether a page with this entry is used without verification. */
static bool is_trusted(const lx__cache_file *self, page_entry entry)
{
    return entry.boot == self->boot && !self->wary;
}

/** Returns how many pages, from the first, have entries that are not trusted, but a right CRC. At
 * most #VERIFIED_AT_ONCE are verified. */
static uint64_t count_intact(lx__cache_file *self, lx__pages pages, const uint8_t *entries)
{
    uint8_t data[VERIFIED_AT_ONCE * LX__PAGE_BYTES];
    uint64_t count = 0;
    size_t got = 0;
    while (count < pages.count && count < VERIFIED_AT_ONCE) {
        page_entry found = entry_load(entries + count * ENTRY_BYTES);
        if (!is_plausible(self, pages.first + count, found) || is_trusted(self, found))
            break;
        count++;
    }
    if (count == 0 || lx__file_read_some(&self->file, data, count * LX__PAGE_BYTES,
                                         page_offset(pages.first), &got, NULL) != LX_OK)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        page_entry found = entry_load(entries + i * ENTRY_BYTES);
        if (!lx__range_fits(i * LX__PAGE_BYTES, found.bytes, got) ||
            lx__crc32c(0, data + i * LX__PAGE_BYTES, found.bytes) != found.crc)
            return i;
    }
    return count;
}

/** Verifies pages that are not trusted, and writes this boot's number into their entries. Returns
 * how many of the pages, from the first, are intact. */
static uint64_t verify(lx__cache_file *self, lx__pages pages, uint8_t *entries)
{
    uint64_t count = count_intact(self, pages, entries);
    bool earlier = false;
    if (count == 0 && entry_load(entries).boot == self->boot && !atomic_exchange(&self->told, true))
        lx__log(LX_LOG_WARNING,
                "%s: the cache has lost bytes of some pages, which are fetched again",
                self->file.path);
    for (uint64_t i = 0; i < count; i++) {
        page_entry found = entry_load(entries + i * ENTRY_BYTES);
        earlier = earlier || found.boot != self->boot;
        found.boot = self->boot;
        entry_store(entries + i * ENTRY_BYTES, found);
    }
    /* If this fails, the pages are verified again by each process. */
    if (earlier)
        (void)lx__file_write(&self->file, entries, count * ENTRY_BYTES, entry_offset(pages.first),
                             NULL);
    return count;
}

/** Looks pages of one group up in the file, and marks those that are present. Returns how many are,
 * from the first. */
static uint64_t look_up(lx__cache_file *self, lx__pages pages)
{
    uint8_t entries[GROUP_PAGES * ENTRY_BYTES];
    uint64_t count = 0, intact = 1;
    size_t got = 0;
    if (lx__file_read_some(&self->file, entries, pages.count * ENTRY_BYTES,
                           entry_offset(pages.first), &got, NULL) != LX_OK)
        return 0;
    pages.count = got / ENTRY_BYTES;
    while (count < pages.count && intact != 0) {
        page_entry found = entry_load(entries + count * ENTRY_BYTES);
        lx__pages rest = {pages.first + count, pages.count - count};
        if (!is_plausible(self, rest.first, found))
            break;
        intact = is_trusted(self, found) ? 1 : verify(self, rest, entries + count * ENTRY_BYTES);
        count += intact;
    }
    mark(self, (lx__pages){pages.first, count}, true);
    return count;
}

uint64_t lx__cache_file_count_present(lx__cache_file *self, lx__pages pages)
{
    uint64_t count = 0;
    if (self->file.fd == -1 || atomic_load_explicit(&self->failed, memory_order_relaxed))
        return 0;
    pages = clip(self, pages);
    while (count < pages.count) {
        lx__pages rest = {pages.first + count, pages.count - count};
        uint64_t known = count_known(self, rest);
        if (known == 0) {
            rest.count = count_in_group(rest);
            known = look_up(self, rest);
        }
        if (known == 0)
            break;
        count += known;
    }
    return count;
}

/* ---- pages */

lx_status lx__cache_file_read(lx__cache_file *self, void *data, size_t size, uint64_t offset,
                              lx_error *error)
{
    lx_status status = LX_OK;
    for (size_t done = 0; done < size && status == LX_OK;) {
        uint64_t at = offset + done, page = at / LX__PAGE_BYTES;
        uint64_t step = count_in_group((lx__pages){page, GROUP_PAGES}) * LX__PAGE_BYTES -
                        at % LX__PAGE_BYTES;
        if (step > size - done)
            step = size - done;
        status = lx__file_read(&self->file, (uint8_t *)data + done, (size_t)step,
                               page_offset(page) + at % LX__PAGE_BYTES, error);
        done += (size_t)step;
    }
    return status;
}

/** Returns the range of the pages in the file, from the first to the last. */
static uint64_t claim_bytes(lx__pages pages)
{
    return page_offset(pages.first + pages.count - 1) + LX__PAGE_BYTES - page_offset(pages.first);
}

bool lx__cache_file_claim(lx__cache_file *self, lx__pages pages)
{
    /* If the file system has no locks, several processes may fetch the same pages. */
    return pages.count == 0 || lx__file_lock(&self->file, true, page_offset(pages.first),
                                             claim_bytes(pages), NULL) != LX_ERR_BUSY;
}

void lx__cache_file_unclaim(lx__cache_file *self, lx__pages pages)
{
    if (pages.count != 0)
        lx__file_unlock(&self->file, page_offset(pages.first), claim_bytes(pages));
}

/** Writes the entries of pages in one group; without @p data, zeros. */
static lx_status write_entries(lx__cache_file *self, lx__pages pages, const uint8_t *data,
                               size_t size, lx_error *error)
{
    uint8_t entries[GROUP_PAGES * ENTRY_BYTES] = {0};
    for (uint64_t i = 0; data != NULL && i < pages.count; i++) {
        size_t at = (size_t)(i * LX__PAGE_BYTES), left = size - at;
        uint16_t bytes = (uint16_t)(left < LX__PAGE_BYTES ? left : LX__PAGE_BYTES);
        entry_store(entries + i * ENTRY_BYTES,
                    (page_entry){lx__crc32c(0, data + at, bytes), bytes, self->boot});
    }
    return lx__file_write(&self->file, entries, pages.count * ENTRY_BYTES,
                          entry_offset(pages.first), error);
}

/** Writes one group's pages, or their entries. */
typedef lx_status (*write_group)(lx__cache_file *self, lx__pages pages, const uint8_t *data,
                                 size_t size, lx_error *error);

static lx_status write_pages(lx__cache_file *self, lx__pages pages, const uint8_t *data,
                             size_t size, lx_error *error)
{
    size_t most = (size_t)(pages.count * LX__PAGE_BYTES);
    return lx__file_write(&self->file, data, size < most ? size : most, page_offset(pages.first),
                          error);
}

/** Calls @p write for the pages of each group; @p data is NULL, or begins with the first page. */
static lx_status write_each_group(lx__cache_file *self, lx__pages pages, write_group write,
                                  const uint8_t *data, size_t size, lx_error *error)
{
    lx_status status = LX_OK;
    for (uint64_t done = 0; done < pages.count && status == LX_OK;) {
        lx__pages rest = {pages.first + done, pages.count - done};
        size_t at = data != NULL ? (size_t)(done * LX__PAGE_BYTES) : 0;
        rest.count = count_in_group(rest);
        status = write(self, rest, data != NULL ? data + at : NULL, size - at, error);
        done += rest.count;
    }
    return status;
}

lx_status lx__cache_file_store(lx__cache_file *self, uint64_t first, const uint8_t *data,
                               size_t size, lx_error *error)
{
    if (atomic_load_explicit(&self->failed, memory_order_relaxed))
        return lx_fail(error, LX_ERR_IO, "the disk of the cache has failed");
    if (first > self->size / LX__PAGE_BYTES ||
        !lx__range_fits(first * LX__PAGE_BYTES, size, self->size) || size == 0)
        return lx_fail(error, LX_ERR_RANGE, "the file has no such pages");
    lx__pages pages = lx__pages_of(first * LX__PAGE_BYTES, size);
    lx_status status = write_each_group(self, pages, write_pages, data, size, error);
    if (status != LX_OK)
        return status;
    status = write_each_group(self, pages, write_entries, data, size, error);
    if (status != LX_OK)
        lx__cache_file_drop(self, pages);
    else
        mark(self, pages, true);
    return status;
}

void lx__cache_file_drop(lx__cache_file *self, lx__pages pages)
{
    pages = clip(self, pages);
    /* Otherwise the pages would be found again, and a reader would try to read them forever. */
    if (write_each_group(self, pages, write_entries, NULL, 0, NULL) != LX_OK)
        atomic_store_explicit(&self->failed, true, memory_order_relaxed);
    mark(self, pages, false);
}

/* ---- opening */

lx_status lx__cache_file_open(const lx__file *directory, const char *name, uint16_t boot,
                              uint64_t size, lx__cache_file **file, lx_error *error)
{
    LX__CLEAR(file);
    if (size > SIZE_MAX_BYTES)
        return lx_fail(error, LX_ERR_LIMIT, "a file of %llu bytes is too long for the cache",
                       (unsigned long long)size);
    lx__cache_file *self = lx__alloc_array(1, sizeof *self);
    if (self == NULL)
        return lx__fail_memory(error, "a file of the cache");
    self->size = size;
    self->boot = boot;
    lx_status status = lx__file_open(&self->file, directory, name, O_RDWR | O_CREAT, error);
    if (status != LX_OK) {
        lx__free(self);
        return status;
    }
    *file = self;
    return LX_OK;
}

void lx__cache_file_distrust(lx__cache_file *self)
{
    self->wary = true;
}

void lx__cache_file_close(lx__cache_file *self)
{
    if (self == NULL)
        return;
    for (unsigned i = 0; i < PARTS; i++)
        lx__free((void *)atomic_load_explicit(&self->parts[i], memory_order_relaxed));
    lx__file_close(&self->file);
    lx__free(self);
}

static bool is_same_file(const lx__file *a, const lx__file *b)
{
    struct stat first, second;
    return fstat(a->fd, &first) == 0 && fstat(b->fd, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

void lx__cache_file_take_over(lx__cache_file *self)
{
    lx__file inherited = self->file;
    if (inherited.fd == -1)
        return;
    lx_status status = lx__file_open(&self->file, LX__CWD, inherited.path, O_RDWR, NULL);
    if (status == LX_OK && !is_same_file(&self->file, &inherited))
        lx__file_close(&self->file);
    lx__file_close(&inherited);
}
