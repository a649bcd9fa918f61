/* SPDX-License-Identifier: MIT */
#include "remote/remote-open.h"

#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "remote/http/transport-http.h"
#include "remote/place.h"
#include "remote/remote-options.h"
#include "remote/remote-provider.h"
#include "remote/transport/transport-file.h"
#include "zrecord/format/meta-file.h"
#include "zrecord/format/names.h"
#include "zrecord/read/dataset-open.h"

/** Maximum size of meta.json, for its checksum. */
#define META_MAX ((size_t)64 << 20)

#ifdef HAVE_CURL
#define SCHEMES "file://, https://, http:// or s3://"
#else
#define SCHEMES                                                                                    \
    "file:// (this library was built without libcurl; for that of a Python wheel, pip install "    \
    "'libloaderx[remote]')"
#endif

/** Opens the transport for a directory of this machine. */
static lx_status open_directory(const char *path, const lx_remote_options *options, bool write,
                                lx__transport **transport, lx_error *error)
{
    if (options->http.tier.count != 0)
        return lx_fail(error, LX_ERR_ARGUMENT,
                       "a tier is only for datasets at s3://, https:// and http://");
    return write ? lx__transport_file_open_for_writing(path, transport, error)
                 : lx__transport_file_open(path, transport, error);
}

static lx_status open_transport(const char *url, const lx_remote_options *options, bool write,
                                lx__transport **transport, lx_error *error)
{
    static const char file[] = "file://";
    const char *path = url + sizeof file - 1;
    if (strncmp(url, file, sizeof file - 1) == 0)
        return path[0] == '/' ? open_directory(path, options, write, transport, error)
                              : lx_fail(error, LX_ERR_ARGUMENT,
                                        "'%s' has no absolute path; write file:///path", url);
    if (url[0] == '\0')
        return lx_fail(error, LX_ERR_ARGUMENT, "the URL is empty");
    if (strstr(url, "://") == NULL)
        return open_directory(url, options, write, transport, error);
#ifdef HAVE_CURL
    if (strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0 ||
        strncmp(url, "s3://", 5) == 0)
        return lx__transport_http_open(url, &options->http, transport, error);
#endif
    lx_status status = lx_fail(error, LX_ERR_UNSUPPORTED,
                               "the scheme of the URL is not supported: use " SCHEMES);
    lx_error_locate(error, url, NULL, LX_NONE, LX_NONE);
    return status;
}

/** Opens the cache for the dataset, whose meta.json is in @p directory. */
static lx_status use_cache(lx__place *place, const lx__file *directory,
                           const lx_remote_options *options, lx_error *error)
{
    lx__meta meta = {0};
    lx__file file;
    char *text = NULL;
    size_t size;
    lx__cache *cache = NULL;
    lx_status status = lx__file_open(&file, directory, LX__META_NAME, O_RDONLY, error);
    if (status != LX_OK)
        return status;
    status = lx__file_read_all(&file, META_MAX, &text, &size, error);
    lx__file_close(&file);
    if (status == LX_OK)
        status = lx__meta_load(&meta, directory, error);
    if (status == LX_OK && meta.sealed) {
        status = lx__cache_open(options->cache, options->limit, &cache, error);
        if (status == LX_OK)
            status = lx__cache_use(cache, meta.uuid_text, place->url,
                                   lx__meta_count_table_bytes(&meta), error);
        if (status == LX_OK)
            lx__place_set_cache(place, cache, lx__crc32c(0, text, size));
        else
            lx__cache_close(cache);
    }
    lx__meta_free(&meta);
    lx__free(text);
    return status;
}

lx_status lx__transport_open(const char *url, const lx_remote_options *options, bool write,
                             lx__transport **transport, lx__request_limits *limits, lx_error *error)
{
    lx_remote_options *defaults = options == NULL ? lx_remote_options_new() : NULL;
    if (options == NULL && defaults == NULL)
        return lx__fail_memory(error, "options");
    options = options != NULL ? options : defaults;
    lx_status status = open_transport(url, options, write, transport, error);
    if (status == LX_OK)
        *limits = (lx__request_limits){
            .connections = options->connections != 0 ? options->connections
                                                     : (*transport)->class->connections,
            .patience_ns = options->patience_ns,
        };
    lx_remote_options_free(defaults);
    return status;
}

static lx_status open_place(const char *url, const lx_remote_options *options, lx__place **place,
                            lx_error *error)
{
    lx__transport *transport;
    lx__request_limits limits;
    lx_status status = lx__transport_open(url, options, false, &transport, &limits, error);
    return status == LX_OK ? lx__place_new(transport, &limits, options->memory_bytes, place, error)
                           : status;
}

lx_status lx_remote_open(const char *url, const lx_remote_options *options,
                         const lx_dataset_options *dataset_options, lx_dataset **dataset,
                         lx_error *error)
{
    LX__CLEAR(dataset);
    if (url == NULL || dataset == NULL)
        return lx__fail_null(error, url == NULL ? "url" : "dataset");
    lx_remote_options *defaults = options == NULL ? lx_remote_options_new() : NULL;
    lx__place *place = NULL;
    lx__file directory;
    if (options == NULL && defaults == NULL)
        return lx__fail_memory(error, "options");
    options = options != NULL ? options : defaults;
    lx_status status = open_place(url, options, &place, error);
    if (status == LX_OK)
        status = lx__remote_directory_open(place, &directory, error);
    if (status == LX_OK && options->cache != NULL) {
        status = use_cache(place, &directory, options, error);
        if (status != LX_OK)
            lx__file_close(&directory);
    }
    if (status == LX_OK)
        status = lx__dataset_open_in(&directory, dataset_options, dataset, error);
    lx__place_unref(place); /* the dataset has its own reference */
    lx_remote_options_free(defaults);
    return status;
}

lx_status lx_remote_get_stats(lx_dataset *dataset, lx_remote_stats *stats, lx_error *error)
{
    if (dataset == NULL || stats == NULL)
        return lx__fail_null(error, dataset == NULL ? "dataset" : "stats");
    lx__place *place = lx__remote_directory_get_place(lx__dataset_get_directory(dataset));
    if (place == NULL)
        return lx_fail(error, LX_ERR_ARGUMENT, "lx_remote_open() has not opened this dataset");
    lx__place_get_stats(place, stats);
    return LX_OK;
}
