// SPDX-License-Identifier: MIT
//! The part of the C interface that this crate uses. Enums are `int`; objects are opaque, and only
//! these two structs have members. No struct grows.
#![allow(non_camel_case_types)]
use std::os::raw::{c_char, c_int, c_void};

pub const LX_OK: c_int = 0;
pub const LX_ERR_NOMEM: c_int = -1;
pub const LX_ERR_ARGUMENT: c_int = -2;
pub const LX_ERR_NOT_FOUND: c_int = -5;
pub const LX_ERR_MISMATCH: c_int = -15;

#[repr(C)]
pub struct lx_error {
    pub status: c_int,
    pub errnum: i32,
    pub record: u64,
    pub offset: u64,
    pub reserved: [u64; 4],
    pub field: [c_char; 72],
    pub path: [c_char; 512],
    pub message: [c_char; 512],
}

#[repr(C)]
pub struct lx_column {
    pub name: *const c_char,
    pub dtype: c_int,
    pub ndim: usize,
    pub shape: *const u64,
    pub rows: u64,
    pub data: *mut c_void,
    pub size: u64,
    pub offsets: *const u64,
    pub item_size: u64,
}

macro_rules! opaque {
    ($($name:ident)*) => { $(#[repr(C)] pub struct $name { _private: [u8; 0] })* };
}
opaque! { lx_source lx_loader_options lx_loader lx_batch }

extern "C" {
    pub fn lx_error_clear(error: *mut lx_error);
    pub fn lx_error_describe(error: *const lx_error, text: *mut c_char, size: usize) -> usize;
    pub fn lx_fail(error: *mut lx_error, status: c_int, format: *const c_char, ...) -> c_int;
    pub fn lx_status_get_name(status: c_int) -> *const c_char;
    pub fn lx_dtype_get_name(dtype: c_int) -> *const c_char;

    pub fn lx_source_open(
        path: *const c_char,
        options: *const c_void,
        source: *mut *mut lx_source,
        error: *mut lx_error,
    ) -> c_int;
    pub fn lx_source_get_length(source: *const lx_source) -> u64;
    pub fn lx_source_unref(source: *mut lx_source);

    pub fn lx_loader_options_new() -> *mut lx_loader_options;
    pub fn lx_loader_options_free(options: *mut lx_loader_options);
    pub fn lx_loader_options_set_batch_size(
        options: *mut lx_loader_options,
        size: u64,
        error: *mut lx_error,
    ) -> c_int;
    pub fn lx_loader_options_set_shuffle(
        options: *mut lx_loader_options,
        seed: u64,
        error: *mut lx_error,
    ) -> c_int;
    pub fn lx_loader_options_set_rank(
        options: *mut lx_loader_options,
        rank: u64,
        world: u64,
        error: *mut lx_error,
    ) -> c_int;
    pub fn lx_loader_options_set_reader_count(
        options: *mut lx_loader_options,
        threads: u32,
        error: *mut lx_error,
    ) -> c_int;

    pub fn lx_loader_open(
        source: *mut lx_source,
        options: *const lx_loader_options,
        loader: *mut *mut lx_loader,
        error: *mut lx_error,
    ) -> c_int;
    pub fn lx_loader_next(
        loader: *mut lx_loader,
        batch: *mut *mut lx_batch,
        error: *mut lx_error,
    ) -> c_int;
    pub fn lx_loader_next_epoch(loader: *mut lx_loader);
    pub fn lx_loader_tell(loader: *const lx_loader) -> u64;
    pub fn lx_loader_save(
        loader: *const lx_loader,
        text: *mut c_char,
        size: usize,
        length: *mut usize,
        error: *mut lx_error,
    ) -> c_int;
    pub fn lx_loader_restore(
        loader: *mut lx_loader,
        text: *const c_char,
        error: *mut lx_error,
    ) -> c_int;
    pub fn lx_loader_close(loader: *mut lx_loader);

    pub fn lx_batch_get_row_count(batch: *const lx_batch) -> u64;
    pub fn lx_batch_get_indices(batch: *const lx_batch) -> *const u64;
    pub fn lx_batch_get_column_count(batch: *const lx_batch) -> usize;
    pub fn lx_batch_get_column(batch: *const lx_batch, position: usize) -> *const lx_column;
    pub fn lx_batch_find_column(batch: *const lx_batch, name: *const c_char) -> *const lx_column;
    pub fn lx_batch_unref(batch: *mut lx_batch);
}
