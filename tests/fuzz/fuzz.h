/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Helpers of the fuzzers. Each fuzzer is one source with LLVMFuzzerTestOneInput(). Its
 * main() is that of standalone.c, which runs a corpus, or that of libFuzzer or AFL++, which make
 * one.
 */
#ifndef LX_TESTS_FUZZ_H
#define LX_TESTS_FUZZ_H

#include <loaderx/zrecord.h>

#include "../faults/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Aborts, so that the engine saves the input. */
_Noreturn void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** One executor for all inputs, since starting threads takes longer than most inputs. It has no
 * readers. An object that uses it ends on its threads, shortly after it is closed. */
lx_executor *fuzz_executor(void);

/** A directory of this process, which is removed when it exits. */
const char *fuzz_directory(void);

/** A path in that directory, valid for the next eight calls. */
const char *fuzz_path(const char *name);

/** Makes a file of exactly these bytes in that directory. */
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

/* ---- a dataset, one file of which is the input */

/** Its number of records, unless the log has another; its fields are image, label, text and blob of
 * plain.h. */
#define FUZZ_ROWS 64

/** The uuid in its meta.json. */
extern const uint8_t fuzz_uuid[16];

/** Makes the directory NAME with meta.json, chunk and LOCK; the caller adds the other files. */
void fuzz_make_dataset(const char *name);

/** Reads all of a dataset with every call, ignoring failures. Returns the length. Verification
 * starts threads, which takes as long as everything else. */
uint64_t fuzz_read_all(lx_dataset *dataset, bool verify);

/** Opens it for reading as @p how selects (three bits for verification and durability, two for the
 * access mode), and reads everything. Returns the status of opening. */
lx_status fuzz_open_and_read(const char *path, unsigned how, uint64_t *length);

#endif
