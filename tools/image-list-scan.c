/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"
#include "image-list.h"
#include "image-recoder.h"

/* Folders in folders; deeper ones are refused. */
#define DEPTH 64

/** The search for images in a folder. */
typedef struct scan {
    image_list *list;
    size_t root;              /* length of the name of the folder, with a slash */
    float label;              /* of the images in the current sub-folder */
    bool inside, outside;     /* some images are in sub-folders; others are not */
    bool hidden;              /* names that begin with a dot are not left out */
    const struct stat *place; /* where the output will be, if it is a folder; NULL: nowhere */
    size_t depth;
    dev_t devices[DEPTH]; /* of the folders above the current one, and their inodes */
    ino_t inodes[DEPTH];
} scan;

/** Whether a name has the extension of an image format. ImageFolder in Python knows the same ones. */
static bool is_named_image(const char *name)
{
    static const char *const endings[] = {
        ".jpg",  ".jpeg", ".jpe", ".jfif", ".png",  ".webp", /* which can be decoded */
        ".avif", ".bmp",  ".gif", ".heic", ".heif", ".j2k",  ".jp2", ".jpx",
        ".jxl",  ".pbm",  ".pgm", ".pnm",  ".ppm",  ".tif",  ".tiff"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/** Whether a file begins as an image that can be decoded. */
static bool begins_as_image(const char *path, const struct stat *about)
{
    char bytes[12];
    if (!S_ISREG(about->st_mode))
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t size = file != -1 ? read(file, bytes, sizeof bytes) : -1;
    if (file != -1)
        close(file);
    return size > 0 && image_recoder_knows(bytes, (size_t)size);
}

static int is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/** The order does not depend on the locale, unlike that of alphasort(). */
static int compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/** Enters a folder, unless it contains itself through a link. */
static lx_status enter(scan *self, const char *path, const struct stat *about, lx_error *error)
{
    for (size_t i = 0; i < self->depth; i++)
        if (self->devices[i] == about->st_dev && self->inodes[i] == about->st_ino)
            return lx_fail(error, LX_ERR_CORRUPT,
                           "%.400s leads back, through a link, to a folder above it: remove the "
                           "link",
                           path);
    if (self->place != NULL && self->place->st_dev == about->st_dev &&
        self->place->st_ino == about->st_ino)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a dataset in %.400s, which is a part of INPUT, would be a class the next "
                       "time: choose another OUTPUT",
                       path);
    if (self->depth == DEPTH)
        return lx_fail(error, LX_ERR_LIMIT, "folders are nested more than %d deep", DEPTH);
    self->devices[self->depth] = about->st_dev;
    self->inodes[self->depth++] = about->st_ino;
    return LX_OK;
}

static lx_status add_image(scan *self, const char *path, lx_error *error)
{
    const char *name = path + self->root;
    if (strpbrk(name, "\t\n\r") != NULL)
        return lx_fail(error, LX_ERR_CORRUPT,
                       "a list cannot have this name, which has a tab or the end of a line: rename "
                       "%.400s",
                       path);
    bool inside = strchr(name, '/') != NULL;
    self->inside = self->inside || inside;
    self->outside = self->outside || !inside;
    lx_status status = image_list_add_label(self->list, inside ? self->label : 0, error);
    return status == LX_OK
               ? image_list_add(self->list, self->list->count, 1, name, strlen(name), error)
               : status;
}

static lx_status scan_folder(scan *self, const char *path, lx_error *error);

static lx_status visit(scan *self, const char *folder, const char *name, lx_error *error)
{
    struct stat about;
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    lx_status status = LX_OK;
    if (path == NULL)
        return fail_memory(error, "a path");
    snprintf(path, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    bool exists = stat(path, &about) == 0; /* otherwise, its failure is that of an image */
    if (exists && S_ISDIR(about.st_mode)) {
        status = enter(self, path, &about, error);
        if (status == LX_OK)
            status = scan_folder(self, path, error);
        if (status == LX_OK && --self->depth == 1) {
            self->list->classes++;
            self->label += 1;
        }
    } else if (is_named_image(name) || (exists && begins_as_image(path, &about))) {
        status = add_image(self, path, error);
    } else {
        extensions_add(&self->list->left_out, name);
    }
    free(path);
    return status;
}

static lx_status scan_folder(scan *self, const char *path, lx_error *error)
{
    struct dirent **names = NULL;
    lx_status status = LX_OK;
    int count = scandir(path, &names, is_entry, compare);
    if (count == -1)
        return lx_fail_errno(error, errno, path, "cannot list the folder");
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] == '.' && !self->hidden)
            self->list->hidden++;
        else if (status == LX_OK)
            status = visit(self, path, names[i]->d_name, error);
        free(names[i]);
    }
    free(names);
    return status;
}

lx_status image_list_scan(image_list *self, const char *folder, bool hidden,
                          const struct stat *place, lx_error *error)
{
    struct stat about;
    size_t size = strlen(folder);
    scan s = {.list = self,
              .place = place,
              .root = size + (size != 0 && folder[size - 1] != '/'),
              .hidden = hidden};
    if (size == 0 || stat(folder, &about) != 0)
        return lx_fail_errno(error, size == 0 ? ENOENT : errno, folder, "cannot list the folder");
    lx_status status = enter(&s, folder, &about, error);
    if (status == LX_OK)
        status = scan_folder(&s, folder, error);
    if (status == LX_OK && self->count == 0)
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "no images: no file has the name of an image, such as .jpg, or begins as "
                         "JPEG, PNG or WebP");
    if (status == LX_OK && s.outside && s.inside)
        status = lx_fail(error, LX_ERR_CORRUPT,
                         "some images are in sub-folders, which are classes, and others are not: "
                         "move the others, or pack a list");
    lx_error_locate(error, folder, NULL, LX_NONE, LX_NONE);
    return status;
}
