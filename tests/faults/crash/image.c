/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *path, const struct bytes *bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd == -1 || write(fd, bytes->data, bytes->size) != (ssize_t)bytes->size)
        give_up(path);
    close(fd);
}

void image_make(const char *root, const struct image *image)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < image->count; i++) {
        const struct image_file *file = &image->files[i];
        snprintf(path, sizeof path, "%s/%s", root, file->path);
        if (!file->directory)
            write_file(path, &file->bytes);
        else if (mkdir(path, 0777) == -1)
            give_up(path);
    }
}

static bool file_equals(const char *path, const struct bytes *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *data = need(malloc(bytes->size + 1));
    bool equal = fd != -1 && read(fd, data, bytes->size + 1) == (ssize_t)bytes->size &&
                 (bytes->size == 0 || memcmp(data, bytes->data, bytes->size) == 0);
    free(data);
    if (fd != -1)
        close(fd);
    return equal;
}

static size_t visited;

static int count_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)path, (void)about, (void)type;
    visited += place->level != 0;
    return 0;
}

bool image_equals(const char *root, const struct image *image)
{
    char path[PATH_MAX];
    bool equal = true;
    visited = 0;
    if (nftw(root, count_one, 16, FTW_PHYS) != 0)
        give_up(root);
    for (size_t i = 0; equal && i < image->count; i++) {
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", root, image->files[i].path);
        equal = image->files[i].directory ? stat(path, &about) == 0 && S_ISDIR(about.st_mode)
                                          : file_equals(path, &image->files[i].bytes);
    }
    return equal && visited == image->count;
}
