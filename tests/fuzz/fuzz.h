/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief What the fuzzers have in common. Each is one source with LLVMFuzzerTestOneInput(), to
 * which standalone.c is a main that runs a corpus, and libFuzzer and AFL++ are mains that make one.
 */
#ifndef LX_TESTS_FUZZ_H
#define LX_TESTS_FUZZ_H

#include <loaderx/zrecord.h>

#include "../faults/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Ends the process, so that the input is kept. */
_Noreturn void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** One for all inputs: to start threads takes longer than most of them do. It has no readers. What
 * is closed that has it ends on its threads, a little later. */
lx_executor *fuzz_executor(void);

/** A directory of this process, gone at its end. */
const char *fuzz_directory(void);

/** A path in it, valid until eight more are asked for. */
const char *fuzz_path(const char *name);

/** Makes a file of exactly these bytes in it. */
void fuzz_write(const char *name, const void *data, size_t size);

/** The same, with a hole after them up to @p length. */
void fuzz_write_sparse(const char *name, const void *data, size_t size, uint64_t length);

/* ---- an input, taken from its front; when it is used up, zeros follow */

struct input {
    const uint8_t *data;
    size_t size;
};

uint8_t input_byte(struct input *input);
uint32_t input_u16(struct input *input);
uint32_t input_u32(struct input *input);

/** The next bytes, as many as there are of @p size. */
const uint8_t *input_bytes(struct input *input, size_t *size);

/* ---- a dataset of which the input is some file */

/** Its records, if the log says so; its fields are image, label, text and blob of plain.h. */
#define FUZZ_ROWS 64

/** The uuid in its meta.json. */
extern const uint8_t fuzz_uuid[16];

/** Makes the directory NAME with meta.json, chunk and LOCK; the rest is the caller's. */
void fuzz_make_dataset(const char *name);

/** Reads all of a dataset in every way; what fails is not looked at. Returns the length. To verify
 * it starts threads, which takes as long as all else. */
uint64_t fuzz_read_all(lx_dataset *dataset, bool verify);

/** Opens it for reading, in the way that @p how says (three bits for the verification and whether
 * it is durable, two for the access), and reads all. Returns the status of opening. */
lx_status fuzz_open_and_read(const char *path, unsigned how, uint64_t *length);

#endif
