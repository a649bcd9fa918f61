/* SPDX-License-Identifier: MIT */
/* Opens a source by the type of the file at its path. */
#include <errno.h>
#include <sys/stat.h>

#include "base/error.h"
#include "loader/sources/source-npy.h"
#include "loader/sources/source-zrecord.h"
#include "loader/sources/source.h"

lx_status lx_source_open(const char *path, const lx_dataset_options *options, lx_source **source,
                         lx_error *error)
{
    LX__CLEAR(source);
    struct stat about;
    if (path == NULL || source == NULL)
        return lx__fail_null(error, path == NULL ? "path" : "source");
    if (stat(path, &about) == -1) {
        lx_status status =
            errno == ENOENT ? lx_fail(error, LX_ERR_NOT_FOUND, "file or directory not found")
                            : lx_fail_errno(error, errno, path, "cannot determine the file type");
        lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
        return status;
    }
    if (S_ISDIR(about.st_mode))
        return lx__source_open_zrecord(path, options, source, error);
    if (S_ISREG(about.st_mode) && options == NULL)
        return lx__source_open_npy(path, source, error);
    lx_status status = S_ISREG(about.st_mode)
                           ? lx_fail(error, LX_ERR_ARGUMENT,
                                     "dataset options have no effect on a file: pass NULL")
                           : lx_fail(error, LX_ERR_UNSUPPORTED,
                                     "the path is neither a directory nor a regular file: pass a "
                                     "dataset or an .npy file");
    lx_error_locate(error, path, NULL, LX_NONE, LX_NONE);
    return status;
}
