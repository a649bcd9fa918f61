// SPDX-License-Identifier: MIT
//! Batches for training, from libloaderx: a safe interface to a part of its C interface, and a
//! start for one to all of it. `doc/bindings.md` has the rules that it follows.
mod batch;
mod error;
mod sys;

pub use batch::{Batch, Column, Element};
pub use error::{Error, Result};

use error::{call, text};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};

/// The object that a successful call has returned through a pointer.
fn returned<T>(object: *mut T) -> NonNull<T> {
    NonNull::new(object).expect("a call that succeeds returns an object")
}

/// A sequence of records with the same columns: a dataset, or an .npy file.
pub struct Source(NonNull<sys::lx_source>);

// SAFETY: any thread may use a source at any time.
unsafe impl Send for Source {}
unsafe impl Sync for Source {}

impl Source {
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = text(path.as_ref().as_os_str().as_bytes())?;
        let mut source = ptr::null_mut();
        call(|e| unsafe { sys::lx_source_open(path.as_ptr(), ptr::null(), &mut source, e) })?;
        Ok(Source(returned(source)))
    }

    /// The number of records.
    pub fn length(&self) -> u64 {
        unsafe { sys::lx_source_get_length(self.0.as_ptr()) }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        unsafe { sys::lx_source_unref(self.0.as_ptr()) }
    }
}

/// How a loader reads. `None` leaves the choice to the library.
#[derive(Clone, Debug)]
pub struct Options {
    pub batch_size: u64,
    /// The seed of a shuffle; `None` reads the records in sequence.
    pub shuffle: Option<u64>,
    pub rank: u64,
    pub world: u64,
    /// The number of threads that read; 0 reads in the calling thread.
    pub readers: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            batch_size: 1,
            shuffle: None,
            rank: 0,
            world: 1,
            readers: None,
        }
    }
}

/// The options as an object of the library.
struct OptionsObject(NonNull<sys::lx_loader_options>);

impl OptionsObject {
    fn new(options: &Options) -> Result<Self> {
        let object = NonNull::new(unsafe { sys::lx_loader_options_new() })
            .map(OptionsObject)
            .ok_or_else(|| Error::new(sys::LX_ERR_NOMEM, "out of memory"))?;
        let p = object.0.as_ptr();
        call(|e| unsafe { sys::lx_loader_options_set_batch_size(p, options.batch_size, e) })?;
        call(|e| unsafe { sys::lx_loader_options_set_rank(p, options.rank, options.world, e) })?;
        if let Some(seed) = options.shuffle {
            call(|e| unsafe { sys::lx_loader_options_set_shuffle(p, seed, e) })?;
        }
        if let Some(threads) = options.readers {
            call(|e| unsafe { sys::lx_loader_options_set_reader_count(p, threads, e) })?;
        }
        Ok(object)
    }
}

impl Drop for OptionsObject {
    fn drop(&mut self) {
        unsafe { sys::lx_loader_options_free(self.0.as_ptr()) }
    }
}

/// Prepares batches in advance, and returns them in order.
///
/// One thread at a time may use a loader, because batches are in order only if calls do not
/// overlap.
pub struct Loader(NonNull<sys::lx_loader>);

// SAFETY: any thread may make any call. It is not Sync for the reason above.
unsafe impl Send for Loader {}

impl Loader {
    /// Opens a loader, which keeps the source open.
    pub fn open(source: &Source, options: &Options) -> Result<Self> {
        let options = OptionsObject::new(options)?;
        let mut loader = ptr::null_mut();
        call(|e| unsafe {
            sys::lx_loader_open(source.0.as_ptr(), options.0.as_ptr(), &mut loader, e)
        })?;
        Ok(Loader(returned(loader)))
    }

    /// The batches that are left of this epoch or, if none is left, those of the next one.
    ///
    /// A batch that cannot be read is an error; the iterator then continues with the next one or,
    /// if the disk or the network was not available, with the same one.
    pub fn epoch(&self) -> impl Iterator<Item = Result<Batch>> + '_ {
        unsafe { sys::lx_loader_next_epoch(self.0.as_ptr()) }
        std::iter::from_fn(move || {
            let mut batch = ptr::null_mut();
            match call(|e| unsafe { sys::lx_loader_next(self.0.as_ptr(), &mut batch, e) }) {
                Ok(sys::LX_OK) => Some(Ok(Batch::new(returned(batch)))),
                Ok(_) => None, // LX_END
                Err(error) => Some(Err(error)),
            }
        })
    }

    /// The number of samples that all ranks have read.
    pub fn position(&self) -> u64 {
        unsafe { sys::lx_loader_tell(self.0.as_ptr()) }
    }

    /// The state, for a checkpoint.
    pub fn save(&self) -> Result<String> {
        let p = self.0.as_ptr();
        let mut length = 0;
        call(|e| unsafe { sys::lx_loader_save(p, ptr::null_mut(), 0, &mut length, e) })?;
        let mut state = vec![0u8; length + 1];
        call(|e| unsafe {
            sys::lx_loader_save(p, state.as_mut_ptr().cast(), state.len(), &mut length, e)
        })?;
        state.truncate(length);
        Ok(String::from_utf8(state).expect("states are UTF-8"))
    }

    /// Moves to a saved state, which a loader with another world or batch size may have saved.
    pub fn restore(&self, state: &str) -> Result<()> {
        let state = text(state)?;
        call(|e| unsafe { sys::lx_loader_restore(self.0.as_ptr(), state.as_ptr(), e) })?;
        Ok(())
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        unsafe { sys::lx_loader_close(self.0.as_ptr()) }
    }
}
