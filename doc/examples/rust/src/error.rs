// SPDX-License-Identifier: MIT
use crate::sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::c_int;

/// A failure of the library: its status, and a line that says what failed, why, and what to do.
pub struct Error(Box<sys::lx_error>);

pub type Result<T> = std::result::Result<T, Error>;

// The library writes to it, so a wrong layout would damage memory.
const _: () = assert!(std::mem::size_of::<sys::lx_error>() == 1152);

impl Error {
    fn none() -> Self {
        // SAFETY: any bytes are valid members; lx_error_clear() sets their initial values.
        unsafe {
            let mut error: Box<sys::lx_error> = Box::new(std::mem::zeroed());
            sys::lx_error_clear(&mut *error);
            Error(error)
        }
    }

    pub(crate) fn new(status: c_int, message: &str) -> Self {
        let mut error = Self::none();
        let text = CString::new(message.replace('\0', "?")).expect("no NUL is left");
        // SAFETY: the format has one argument, a string.
        unsafe { sys::lx_fail(&mut *error.0, status, b"%s\0".as_ptr().cast(), text.as_ptr()) };
        error
    }

    /// The name of the status, such as `LX_ERR_CORRUPT`.
    pub fn status(&self) -> &'static str {
        // SAFETY: the function returns constant text for any number.
        unsafe { CStr::from_ptr(sys::lx_status_get_name(self.0.status)) }
            .to_str()
            .expect("names are ASCII")
    }

    /// The index of the record that could not be read.
    pub fn record(&self) -> Option<u64> {
        Some(self.0.record).filter(|&record| record != u64::MAX)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut line = [0u8; 2048];
        // SAFETY: the call fills at most the line, and ends it with a NUL.
        unsafe { sys::lx_error_describe(&*self.0, line.as_mut_ptr().cast(), line.len()) };
        let end = line.iter().position(|&byte| byte == 0).unwrap_or(0);
        f.write_str(&String::from_utf8_lossy(&line[..end]))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.status(), self)
    }
}

impl std::error::Error for Error {}

/// Makes a call, whose last argument receives the failure, and returns its status if it succeeds.
pub(crate) fn call(function: impl FnOnce(*mut sys::lx_error) -> c_int) -> Result<c_int> {
    let mut error = Error::none();
    let status = function(&mut *error.0);
    if status < 0 {
        Err(error)
    } else {
        Ok(status)
    }
}

/// Text for the library.
pub(crate) fn text(bytes: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(bytes).map_err(|_| Error::new(sys::LX_ERR_ARGUMENT, "the text contains a NUL"))
}
