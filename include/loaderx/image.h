/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Includes all headers of libloaderx-image, which decodes, changes and encodes images.
 *
 * The library is an optional layer, since it needs libjpeg-turbo, libpng and libwebp.
 */
#ifndef LOADERX_IMAGE_H
#define LOADERX_IMAGE_H

#include <loaderx/image/decoder.h>
#include <loaderx/image/encoder.h>
#include <loaderx/image/format.h>
#include <loaderx/image/resize.h>
#include <loaderx/image/tensor.h>
#include <loaderx/image/transform.h>

#endif
