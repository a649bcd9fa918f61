/* SPDX-License-Identifier: MIT */
#define CODEC_NAME "zlib"
#include "../codec-tests.h"
