/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief How fast the values of a field are read.
 */
#ifndef LX_TOOLS_SPEED_H
#define LX_TOOLS_SPEED_H

#include <loaderx/dataset.h>

/**
 * Measures how many bytes of values, uncompressed, one thread reads per second once they are in
 * memory: reads evenly spaced records several times, and takes the fastest time.
 *
 * @param[out] speed  Receives bytes per second; 0 if the sample has no bytes.
 */
lx_status speed_measure(lx_dataset *dataset, size_t field, double *speed, lx_error *error);

#endif
