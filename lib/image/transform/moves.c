/* SPDX-License-Identifier: MIT */
#include "image/transform/moves.h"

#include <stdbool.h>
#include <string.h>

void lx__moves_begin(lx__moves *moves, uint32_t width, uint32_t height)
{
    static const double same[] = {1, 0, 0, 0, 1, 0};
    moves->count = 0;
    lx__moves_add(moves, same, width, height);
}

void lx__moves_add(lx__moves *moves, const double matrix[6], uint32_t width, uint32_t height)
{
    lx__move *move = &moves->list[moves->count++];
    memcpy(move->matrix, matrix, sizeof move->matrix);
    move->width = width;
    move->height = height;
}

static void apply(const double *m, double *x, double *y)
{
    double moved = m[0] * *x + m[1] * *y + m[2];
    *y = m[3] * *x + m[4] * *y + m[5];
    *x = moved;
}

void lx__moves_map_point(const lx__moves *moves, double point[2])
{
    for (size_t i = 0; i < moves->count; i++)
        apply(moves->list[i].matrix, &point[0], &point[1]);
}

static double clamp(double value, double most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/** Finds the smallest box around a moved one. */
static void enclose(const double *matrix, double box[4])
{
    double around[4];
    for (int corner = 0; corner < 4; corner++) {
        double x = box[corner & 2], y = box[1 + (corner & 1) * 2];
        apply(matrix, &x, &y);
        around[0] = corner == 0 || x < around[0] ? x : around[0];
        around[1] = corner == 0 || y < around[1] ? y : around[1];
        around[2] = corner == 0 || x > around[2] ? x : around[2];
        around[3] = corner == 0 || y > around[3] ? y : around[3];
    }
    memcpy(box, around, sizeof around);
}

void lx__moves_map_box(const lx__moves *moves, double box[4])
{
    bool gone = false;
    for (size_t i = 0; i < moves->count; i++) {
        const lx__move *move = &moves->list[i];
        enclose(move->matrix, box);
        for (int k = 0; k < 4; k++)
            box[k] = clamp(box[k], k % 2 == 0 ? move->width : move->height);
        gone = gone || box[0] == box[2] || box[1] == box[3];
    }
    if (gone && box[1] != box[3]) /* a rotation would give it an area again */
        box[2] = box[0];
}
