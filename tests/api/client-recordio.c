/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed RecordIO library, valid as C11 and C++17: writes two records, and reads
 * them back.
 */
#include <loaderx/recordio.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int complain(const lx_error *error, int where)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "%d: %s\n", where, line);
    return where;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_recordio_writer *writer;
    lx_recordio_reader *reader;
    lx_recordio_record record;
    char path[64]; /* unique: several builds of this client run in one folder */
    int right = 0;
    snprintf(path, sizeof path, "client-%ld.rec", (long)getpid());
    if (lx_recordio_writer_create(path, NULL, false, &writer, &error) != LX_OK)
        return complain(&error, 1);
    lx_recordio_writer_write(writer, NULL, "one", 3, &error);
    lx_recordio_writer_write(writer, NULL, "two", 3, &error);
    if (lx_recordio_writer_close(writer, &error) != LX_OK ||
        lx_recordio_reader_open(path, false, NULL, NULL, &reader, &error) != LX_OK)
        return complain(&error, 2);
    while (lx_recordio_reader_next(reader, &record, &error) == LX_OK)
        right += record.size == 3 && memcmp(record.data, right == 0 ? "one" : "two", 3) == 0;
    printf("%d records\n", right);
    lx_recordio_reader_close(reader);
    unlink(path);
    return right == 2 ? 0 : 3;
}
