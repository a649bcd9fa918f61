/* SPDX-License-Identifier: MIT */
#define CODEC_NAME "libdeflate"
#include "../codec-tests.h"
