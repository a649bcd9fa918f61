/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

char *tree_scratch(void)
{
    char name[PATH_MAX], full[PATH_MAX];
    const char *parent = getenv("TMPDIR");
    if (access("/dev/shm", W_OK | X_OK) == 0)
        parent = "/dev/shm";
    snprintf(name, sizeof name, "%s/loaderx-crash-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(name) == NULL || realpath(name, full) == NULL)
        give_up(name);
    return need(strdup(full));
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about, (void)type;
    return place->level != 0 ? remove(path) : 0;
}

void tree_clear(const char *root)
{
    if (nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        give_up(root);
}

void tree_remove(const char *root)
{
    tree_clear(root);
    rmdir(root);
}

static void copy_file(const char *from, const char *to)
{
    char block[65536];
    ssize_t size = 0;
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    while (in != -1 && out != -1 && (size = read(in, block, sizeof block)) > 0)
        if (write(out, block, (size_t)size) != size)
            give_up(to);
    if (in == -1 || out == -1 || size < 0)
        give_up(from);
    close(in);
    close(out);
}

void tree_copy(const char *from, const char *to)
{
    char source[PATH_MAX], target[PATH_MAX];
    const struct dirent *entry;
    struct stat about;
    DIR *list = opendir(from);
    if (list == NULL || mkdir(to, 0777) == -1)
        give_up(to);
    while ((entry = readdir(list)) != NULL) {
        snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
        snprintf(target, sizeof target, "%s/%s", to, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (lstat(source, &about) == -1)
            give_up(source);
        if (S_ISDIR(about.st_mode))
            tree_copy(source, target);
        else
            copy_file(source, target);
    }
    closedir(list);
}
