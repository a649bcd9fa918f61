/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Attributes of public declarations. Every other header includes this one.
 */
#ifndef LOADERX_EXPORT_H
#define LOADERX_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
/** Exports a function from its library. */
#define LX_API __attribute__((visibility("default")))
/**
 * Makes the compiler check a function's arguments, starting at argument number @p a, against the
 * printf(3) format in argument number @p f.
 */
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
