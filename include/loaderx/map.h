/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Sources whose columns are computed from those of another source.
 */
#ifndef LOADERX_MAP_H
#define LOADERX_MAP_H

#include <stddef.h>

#include <loaderx/batch.h>
#include <loaderx/export.h>
#include <loaderx/source.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_source_new_map Columns computed from other columns
 *
 * A map is a source over another source. Its function computes columns, such as the pixels of an
 * image, from columns of the other source, such as the bytes of an image file. Unlike a transform
 * (lx_loader_options_set_transform()), which receives a whole batch, the function receives a few
 * samples at a time, so that several threads work on the same batch, and it writes into the batch.
 *
 * @code
 * static lx_status brighten(const lx_samples *samples,
 *                           const lx_column *inputs,
 *                           const lx_target *outputs,
 *                           void *worker, void *user, lx_error *error)
 * {
 *     for (size_t i = 0; i < samples->count; i++) {
 *         uint64_t key[2], draw;
 *         lx_random_get_key(42, samples->epoch, samples->positions[i], key);
 *         lx_random_get_draws(key, 0, 1, &draw);
 *         const uint8_t *from = (uint8_t *)inputs[0].data + i * 784;
 *         float *to = (float *)((char *)outputs[0].data +
 *                               i * outputs[0].stride);
 *         for (int k = 0; k < 784; k++)
 *             to[k] = from[k] * (draw >> 63 ? 1.25f : 1.0f);
 *     }
 *     return LX_OK;
 * }
 * @endcode
 *
 * The key of these random numbers depends on the epoch and the position, so a sample is changed in
 * a different way each time. To change it in the same way in each epoch, make the key of its index:
 * `lx_random_get_key(42, 0, samples->indices[i], key)`. The example doc/examples/noise.c does both,
 * with images in a file format of its own, and compares epochs.
 *
 * @see lx_source, lx_loader, lx_random_get_key(), loaderx(7)
 * @{
 */

/**
 * Computes columns of samples. Several threads may call the function at the same time. For each
 * sample, the result must depend only on the inputs, the index, the position and the epoch of that
 * sample; then a loader returns the same values for any number of threads and ranks, and after a
 * resume.
 *
 * @param samples  The samples. Their indices are those of the map, which are those of its source.
 * @param inputs   One column per input. Offsets begin with 0. The data is aligned to 16 bytes, and
 *                 valid only during the call; the function may change it.
 * @param outputs  One target per output, with @c data NULL if the output is not needed. Sample i is
 *                 at data + i * stride. The memory is uninitialized. An output whose values vary in
 *                 size is filled by calls of its own, in which @c stride is 0 and no other output
 *                 is needed: it has the sizes of the input with its name, so sample i is at
 *                 data + offsets[i] of that input, with as many bytes.
 * @param worker   What lx_source_options_set_worker()'s function made; no other call uses it at the
 *                 same time. NULL without such a function.
 * @param user     The pointer that was passed to lx_source_options_set_map().
 * @param error    Receives the description of a failure; never NULL. Name the sample with
 *                 lx_error_locate() after lx_fail(); the map adds the file of the input that it
 *                 names, otherwise of the first one, if there is a file, and then changes the
 *                 record to that in the file.
 * @return #LX_OK on success. #LX_ERR_CORRUPT if the input of a sample is damaged: the loader's
 *         ::lx_damage_policy applies, and unless it is #LX_DAMAGE_RAISE, the samples are read again
 *         one by one. Any other failure fails the batch; see ::lx_transform_function for
 *         exceptions.
 */
typedef lx_status (*lx_map_function)(const lx_samples *samples, const lx_column *inputs,
                                     const lx_target *outputs, void *worker, void *user,
                                     lx_error *error);

/**
 * Sets the function of a map. lx_source_options_set_release() and lx_source_options_set_identity()
 * also apply to maps. The identity should name the function and its parameters: a saved state is
 * only restored to a loader whose map has the same identity.
 *
 * @param[in]  options  The options.
 * @param[in]  map      The function.
 * @param[in]  user     The pointer to pass to @p map and to the function set with
 *                      lx_source_options_set_release(); may be NULL.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p options or @p map is NULL.
 */
LX_API lx_status lx_source_options_set_map(lx_source_options *options, lx_map_function map,
                                           void *user, lx_error *error);

/**
 * Creates what one call of a map's function needs for itself, such as a decoder or buffers. The map
 * keeps it for later calls, so that there are about as many as threads.
 *
 * @param user    The pointer that was passed to lx_source_options_set_map().
 * @param worker  Receives a pointer that is not NULL.
 * @param error   Receives the description of a failure; never NULL.
 * @return #LX_OK on success; otherwise, the records cannot be read.
 */
typedef lx_status (*lx_new_worker_function)(void *user, void **worker, lx_error *error);

/** Frees what an ::lx_new_worker_function created; the user data still exists. */
typedef void (*lx_free_worker_function)(void *worker, void *user);

/**
 * Sets the functions that create and free the workers of a map. By default, a map has none.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 */
LX_API lx_status lx_source_options_set_worker(lx_source_options *options,
                                              lx_new_worker_function new_worker,
                                              lx_free_worker_function free_worker, lx_error *error);

/**
 * Creates a map. Its columns are those columns of @p part that are not inputs, followed by the
 * outputs. If an input of a record is missing, its outputs are missing, too, and the function is
 * not called for the record.
 *
 * @param[in]  part          The source; the call takes a reference.
 * @param[in]  inputs        The names of the columns that the function reads.
 * @param[in]  input_count   The number of inputs, at least 1.
 * @param[in]  outputs       The columns that the function writes. All records of an output have the
 *                           same size, unless it has the name, dtype and shape of an input that
 *                           varies in size: then each value has as many bytes as that of the input,
 *                           or none if it is missing. The call copies the columns. Set the sizes as
 *                           for lx_source_new().
 * @param[in]  output_count  The number of outputs, at least 1.
 * @param[in]  options       The function and the identity. On failure, the user data is not
 *                           released.
 * @param[out] source        Receives the source; release it with lx_source_unref().
 * @param[out] error         Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The source was created.
 * @retval LX_ERR_NOT_FOUND @p part has no column of that name.
 * @retval LX_ERR_ARGUMENT  There is no function, no input or no output, an input is named twice, an
 *                          output varies in size but is not like an input, a name is invalid or
 *                          repeated, a size does not match its dtype and shape, a text is not
 *                          UTF-8, or a pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_source_new_map(lx_source *part, const char *const *inputs, size_t input_count,
                                   const lx_column_info *outputs, size_t output_count,
                                   const lx_source_options *options, lx_source **source,
                                   lx_error *error);

/** @} */

LX_END_DECLS

#endif
