/* SPDX-License-Identifier: MIT */
#include "remote/queue/pace.h"

#define SECOND 1000000000u

/* Each success adds this to the rate, so it grows by 10 % a second while the server keeps up. */
#define INCREASE 0.1

/* The rate is lowered to what the server has served, but by at least 10 % and at most by half. */
#define LEAST_DECREASE 0.9
#define MOST_DECREASE 0.5

#define LOWEST_RATE 0.2 /* attempts a second */

/* Attempts may begin late by this much without loss, because threads wake late. */
#define SLACK (SECOND / 100)

#define LONGEST_WAIT ((uint64_t)20 * SECOND)

void lx__pace_begin(lx__pace *pace, uint64_t now)
{
    if (pace->rate == 0)
        return;
    uint64_t earliest = now > SLACK ? now - SLACK : 0;
    pace->next = (pace->next > earliest ? pace->next : earliest) + (uint64_t)(SECOND / pace->rate);
}

void lx__pace_take_back(lx__pace *pace)
{
    if (pace->rate != 0)
        pace->next -= (uint64_t)(SECOND / pace->rate);
}

/** Lets successes weigh less as time passes: by a factor of 2 to e after a second. */
static void age(lx__pace *pace, uint64_t now)
{
    double seconds = pace->aged != 0 ? (double)(now - pace->aged) / SECOND : 0;
    double factor = 1 / (1 + seconds);
    pace->served *= factor;
    pace->weight = pace->weight * factor + seconds * factor;
    pace->aged = now;
}

void lx__pace_succeed(lx__pace *pace, uint64_t now)
{
    age(pace, now);
    pace->served++;
    if (pace->rate != 0)
        pace->rate += INCREASE;
}

static double clamp(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

void lx__pace_slow_down(lx__pace *pace, uint64_t started, uint64_t now, unsigned under_way,
                        uint64_t retry_after)
{
    uint64_t wait = retry_after < LONGEST_WAIT ? retry_after : LONGEST_WAIT;
    if (wait != 0 && pace->next < now + wait)
        pace->next = now + wait;
    /* Attempts that began before the rate was lowered do not show whether it is still too high. */
    if (started < pace->lowered)
        return;
    age(pace, now);
    if (pace->rate == 0) /* Little's law: what is under way is the rate times the duration */
        pace->rate = (double)under_way * SECOND / (double)(now - started + 1);
    double served = pace->weight > 0 ? pace->served / pace->weight : 0;
    double lowered = clamp(served, pace->rate * MOST_DECREASE, pace->rate * LEAST_DECREASE);
    pace->rate = lowered > LOWEST_RATE ? lowered : LOWEST_RATE;
    pace->lowered = now;
}
