#!/bin/sh
# SPDX-License-Identifier: MIT
# A scenario in tests/faults/failing/*.c must call each public function that can fail.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Functions of the headers that return a status. new_x() of tests/new-orders.h and new-sources.h
# call lx_order_new_x() and lx_source_new_x().
cat "$top_srcdir"/include/loaderx/*.h "$top_srcdir"/include/loaderx/*/*.h | tr '\n' ' ' | sed 's/;/;\n/g' |
    sed -nE 's/.*LX_API[[:space:]]+lx_status[[:space:]]+(lx_[a-z0-9_]+)\(.*/\1/p' | sort -u >"$work/public"
[ -s "$work/public" ]
cat "$top_srcdir"/tests/faults/failing/*.c "$top_srcdir"/tests/faults/plain.c |
    grep -oE '(lx|new)_[a-z0-9_]+ *\(' | tr -d ' (' |
    sed -E 's/^new_(.*)/lx_order_new_\1\nlx_source_new_\1/' | sort -u >"$work/called"

# Exceptions: setters that only store a number, and functions without allocations or system calls.
cat >"$work/harmless" <<'END'
lx_column_pad
lx_dtype_parse
lx_fail
lx_fail_errno
lx_image_decoder_set_channels
lx_image_decoder_set_scale
lx_loader_next_timed
lx_loader_options_set_drop_last
lx_loader_options_set_executor
lx_loader_options_set_order
lx_loader_options_set_pad_last
lx_loader_options_set_prefetch_bytes
lx_loader_options_set_rank
lx_loader_options_set_uneven
lx_megatron_options_set_columns
lx_megatron_options_set_documents
lx_megatron_options_set_drop_last_partial
lx_megatron_options_set_dtype
lx_megatron_options_set_eod
lx_megatron_options_set_extra_token
lx_megatron_options_set_mask_eod
lx_megatron_options_set_num_samples
lx_megatron_options_set_pad
lx_megatron_options_set_seed
lx_megatron_options_set_sequence_length
lx_megatron_options_set_split_at_eod
lx_megatron_options_set_vocabulary
lx_npy_parse_header
lx_order_options_set_bucket_size
lx_order_options_set_length
lx_order_options_set_max_batch_size
lx_order_options_set_padded
lx_order_options_set_seed
lx_remote_options_set_anonymous
lx_remote_options_set_credentials
lx_set_allocator
lx_source_options_set_release
lx_source_options_set_varying
lx_ticket_wait_timed
lx_token_options_set_columns
lx_token_options_set_dtype
lx_token_options_set_pad
lx_token_options_set_separator
lx_token_options_set_vocabulary
END
sort -u "$work/called" "$work/harmless" -o "$work/known"
if comm -23 "$work/public" "$work/known" | grep .; then
    echo "^ called in no scenario of tests/faults: add a step to a table there" >&2
    exit 1
fi
