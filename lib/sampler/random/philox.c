/* SPDX-License-Identifier: MIT */
#include "sampler/random/philox.h"

/* Uses both words of each block, which halves the work for consecutive draws. */
void lx__philox_draws(uint64_t key, uint64_t first, size_t count, uint64_t *restrict draws)
{
    size_t done = 0;
    if ((first & 1) != 0 && count != 0)
        draws[done++] = lx__philox(first >> 1, 0, key).word[1];
    uint64_t counter = (first + done) >> 1;
    for (; count - done >= 2; done += 2, counter++) {
        lx__philox_block block = lx__philox(counter, 0, key);
        draws[done] = block.word[0];
        draws[done + 1] = block.word[1];
    }
    if (done < count)
        draws[done] = lx__philox(counter, 0, key).word[0];
}

void lx__philox_draws_at(uint64_t key, uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = numbers[i];
        lx__philox_block block = lx__philox(number >> 1, 0, key);
        numbers[i] = (number & 1) != 0 ? block.word[1] : block.word[0];
    }
}
