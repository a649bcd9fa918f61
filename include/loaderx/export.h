/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Marks what the libraries export. Included by every other header.
 */
#ifndef LOADERX_EXPORT_H
#define LOADERX_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
/** Visible outside the library that defines it. */
#define LX_API __attribute__((visibility("default")))
/** Arguments @p f (the format) and from @p a on are checked as printf's. */
#define LX_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define LX_API
#define LX_PRINTF(f, a)
#endif

#ifdef __cplusplus
#define LX_BEGIN_DECLS extern "C" {
#define LX_END_DECLS }
#else
#define LX_BEGIN_DECLS
#define LX_END_DECLS
#endif

#endif
