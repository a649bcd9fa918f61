/* SPDX-License-Identifier: MIT */
/* Folders of files: each file is a record, and the sub-folder of the input that contains it is its
 * class, as in the ImageFolder of torchvision. Without sub-folders, there are no classes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/image-signature.h"
#include "base/utf8.h"
#include "importer/format.h"
#include "importer/image-name.h"

enum { OPTION_EXTENSIONS, OPTION_HIDDEN };
static const char *const options[] = {
    [OPTION_EXTENSIONS] = "extensions", [OPTION_HIDDEN] = "hidden", NULL};

/* Folders in folders; deeper ones are refused. */
#define DEPTH 64

enum { DATA, NAME, CLASS, LABEL, VALUES };

typedef struct folder_reader {
    lx__import_reader base;
    char **names; /**< Of the files, relative to the input, sorted. */
    size_t count, capacity;
    size_t next;
    char *data; /**< The content of the last file. */
    lx__import_value values[VALUES];
    const char *class; /**< Of the last file, as are the next two; not NUL-terminated. */
    size_t class_size;
    int64_t element;        /**< Its label in little-endian order. */
    const char *deep;       /**< Name of the folder being listed. */
    const lx__file *folder; /**< That folder. */
    bool hidden;            /**< Names that begin with a dot are not left out. */
    size_t depth;
    dev_t devices[DEPTH]; /**< Of the folders above the next one, and their inodes. */
    ino_t inodes[DEPTH];
} folder_reader;

static lx__import_reader *create(void)
{
    return lx__alloc_array(1, sizeof(folder_reader));
}

static void close_folder(lx__import_reader *reader)
{
    folder_reader *self = (folder_reader *)reader;
    for (size_t i = 0; i < self->count; i++)
        lx__free(self->names[i]);
    lx__free(self->names);
    lx__free(self->data);
    lx__free(self);
}

/* ---- listing the files */

/** Whether the ending of a name is one of the extensions, such as "jpg,png", in any case. */
static bool is_wanted(const folder_reader *self, const char *name)
{
    const char *list = self->base.source.options[OPTION_EXTENSIONS];
    const char *dot = strrchr(name, '.');
    if (list == NULL)
        return true;
    while (dot != NULL && *list != '\0') {
        size_t size = strcspn(list, ",");
        if (strlen(dot + 1) == size && strncasecmp(dot + 1, list, size) == 0)
            return true;
        list += size + (list[size] == ',');
    }
    return false;
}

static lx_status keep(folder_reader *self, char *name, lx_error *error)
{
    void *names = lx__grow_array(self->names, self->count, &self->capacity, sizeof *self->names);
    if (names == NULL) {
        lx__free(name);
        return lx__fail_memory(error, "the names of files");
    }
    self->names = names;
    self->names[self->count++] = name;
    return LX_OK;
}

static lx_status list_folder(folder_reader *self, const char *name, lx_error *error);

/** Lists a folder in the current one; LX_END if it is a link to a folder above. */
static lx_status enter(folder_reader *self, const char *path, lx_error *error)
{
    const char *deep = self->deep;
    const lx__file *folder = self->folder;
    lx_status status = list_folder(self, path, error);
    self->deep = deep;
    self->folder = folder;
    return status;
}

static lx_status visit(void *user, const char *name, lx_error *error)
{
    folder_reader *self = user;
    bool is_folder;
    if (*name == '.' && !self->hidden) {
        self->base.hidden++;
        return LX_OK;
    }
    lx_status status = lx__file_leads_to_directory(self->folder, name, &is_folder, error);
    if (status != LX_OK)
        return status;
    char *path = lx__path_join(self->deep, name);
    if (path == NULL)
        return lx__fail_memory(error, "the names of files");
    if (is_folder)
        status = enter(self, path, error);
    /* A link to a folder above counts as a file, which cannot be read and is a bad record. */
    if ((!is_folder || status == LX_END) && is_wanted(self, name))
        return keep(self, path, error);
    lx__free(path);
    return status == LX_END ? LX_OK : status;
}

/** Adds an open folder to those above the next one; LX_END if it is one of them. */
static lx_status descend(folder_reader *self, const lx__file *folder, lx_error *error)
{
    struct stat about;
    if (fstat(folder->fd, &about) != 0)
        return lx_fail_errno(error, errno, folder->path, "cannot examine the folder");
    for (size_t i = 0; i < self->depth; i++)
        if (self->devices[i] == about.st_dev && self->inodes[i] == about.st_ino)
            return LX_END;
    self->devices[self->depth] = about.st_dev;
    self->inodes[self->depth++] = about.st_ino;
    return LX_OK;
}

static lx_status list_folder(folder_reader *self, const char *name, lx_error *error)
{
    lx__file folder = LX__FILE_CLOSED;
    if (self->depth == DEPTH)
        return lx_fail(error, LX_ERR_LIMIT, "folders are nested more than %d deep", DEPTH);
    char *path = *name != '\0' ? lx__path_join(self->base.source.path, name)
                               : lx__strdup(self->base.source.path);
    if (path == NULL)
        return lx__fail_memory(error, "the names of files");
    lx_status status = lx__directory_open(&folder, LX__CWD, path, error);
    lx__free(path);
    if (status == LX_OK)
        status = descend(self, &folder, error);
    if (status == LX_OK) {
        self->deep = name;
        self->folder = &folder;
        status = lx__directory_each(&folder, visit, self, error);
        self->depth--;
    }
    lx__file_close(&folder);
    return status;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static lx_status read_hidden(const lx__import_source *source, bool *hidden, lx_error *error)
{
    const char *value = source->options[OPTION_HIDDEN];
    *hidden = value != NULL && strcmp(value, "yes") == 0;
    return value == NULL || *hidden || strcmp(value, "no") == 0
               ? LX_OK
               : lx_fail(error, LX_ERR_ARGUMENT, "hidden '%.16s' is invalid: use yes or no", value);
}

static lx_status add_classes(const lx__import_source *source, lx__class_labels *labels,
                             lx_error *error)
{
    bool hidden;
    lx_status status = read_hidden(source, &hidden, error);
    return status == LX_OK ? lx__class_labels_add(labels, source->path, hidden, error) : status;
}

static lx_status open_folder(lx__import_reader *reader, lx_error *error)
{
    static const char *const names[VALUES] = {"data", "name", LX__CLASS_FIELD, LX__LABEL_FIELD};
    folder_reader *self = (folder_reader *)reader;
    lx_status status = read_hidden(&self->base.source, &self->hidden, error);
    if (status == LX_OK)
        status = list_folder(self, "", error);
    if (self->count != 0)
        qsort(self->names, self->count, sizeof *self->names, compare);
    for (size_t i = 0; i < VALUES; i++)
        self->values[i] = (lx__import_value){
            .name = names[i], .name_size = strlen(names[i]), .kind = LX__IMPORT_TEXT};
    self->values[LABEL].dtype = LX_INT64;
    return status;
}

/* ---- records */

/** Finds the class of a file and its label. */
static lx_status find_class(folder_reader *self, const char *name, lx_error *error)
{
    const char *slash = strchr(name, '/');
    lx__import_value *class = &self->values[CLASS], *label = &self->values[LABEL];
    class->kind = label->kind = LX__IMPORT_MISSING;
    if (slash == NULL)
        return LX_OK;
    size_t size = (size_t)(slash - name);
    if (self->class == NULL || self->class_size != size || memcmp(self->class, name, size) != 0) {
        int64_t number;
        if (!lx__class_labels_find(self->base.source.labels, name, size, &number))
            return lx_fail(error, LX_ERR_CORRUPT,
                           "the folder of the file was created during the import: import it later");
        self->class = name;
        self->class_size = size;
        self->element = (int64_t)LX__LE64((uint64_t)number);
    }
    class->kind = LX__IMPORT_TEXT;
    class->data = name;
    class->size = size;
    label->kind = LX__IMPORT_ARRAY;
    label->data = &self->element;
    label->size = sizeof self->element;
    return LX_OK;
}

/** Reads a file; a failure of its own is that of a record. */
static lx_status read_file(folder_reader *self, const char *name, size_t *size, lx_error *error)
{
    lx__file file = LX__FILE_CLOSED;
    char *path = lx__path_join(self->base.source.path, name);
    if (path == NULL)
        return lx__fail_memory(error, "the name of a file");
    lx__free(self->data);
    self->data = NULL;
    lx_status status = lx__file_open(&file, LX__CWD, path, O_RDONLY, error);
    if (status == LX_OK)
        status = lx__file_read_all(&file, (size_t)self->base.source.record_limit, &self->data, size,
                                   error);
    lx__file_close(&file);
    lx__free(path);
    return status;
}

static lx_status next(lx__import_reader *reader, lx__import_record *record, lx_error *error)
{
    folder_reader *self = (folder_reader *)reader;
    size_t size = 0;
    record->offset = LX_NONE;
    if (self->next == self->count)
        return LX_END;
    const char *name = self->names[self->next++];
    lx_status status = find_class(self, name, error);
    if (status == LX_OK)
        status = read_file(self, name, &size, error);
    if (status != LX_OK)
        return status;
    if (lx__utf8_span(name, strlen(name)) != strlen(name))
        return lx_fail(error, LX_ERR_CORRUPT, "the name of the file is not valid UTF-8");
    reader->read += size;
    self->values[DATA].data = self->data;
    self->values[DATA].size = size;
    bool image = lx__image_name_is(name) ||
                 lx__image_signature_find(self->data, size) != LX__IMAGE_NONE;
    self->values[DATA].kind = image ? LX__IMPORT_IMAGE : LX__IMPORT_BYTES;
    self->values[NAME].data = name;
    self->values[NAME].size = strlen(name);
    record->values = self->values;
    record->count = self->base.source.labels->count != 0 ? VALUES : CLASS; /* no folder: no class */
    return LX_OK;
}

const lx__format_class lx__format_folder = {.name = "folder",
                                            .options = options,
                                            .opens_paths = true,
                                            .add_classes = add_classes,
                                            .create = create,
                                            .open = open_folder,
                                            .next = next,
                                            .close = close_folder};
