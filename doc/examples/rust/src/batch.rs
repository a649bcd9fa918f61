// SPDX-License-Identifier: MIT
use crate::error::{text, Error, Result};
use crate::sys;
use std::ffi::CStr;
use std::mem::size_of;
use std::ptr::NonNull;
use std::slice;

// Values in batches are little-endian on every machine.
#[cfg(target_endian = "big")]
compile_error!("Column::values() would have to swap bytes on this machine");

/// A batch of records in the memory of its loader, which gets it back when the batch is dropped.
pub struct Batch(NonNull<sys::lx_batch>);

// SAFETY: any thread may read a batch, and release it.
unsafe impl Send for Batch {}
unsafe impl Sync for Batch {}

impl Batch {
    pub(crate) fn new(batch: NonNull<sys::lx_batch>) -> Self {
        Batch(batch)
    }

    /// The index of each record in the source.
    pub fn indices(&self) -> &[u64] {
        // SAFETY: the batch owns an index for each of its rows.
        unsafe {
            let rows = sys::lx_batch_get_row_count(self.0.as_ptr());
            array(sys::lx_batch_get_indices(self.0.as_ptr()), rows as usize)
        }
    }

    /// The column named `name`.
    pub fn column(&self, name: &str) -> Result<Column<'_>> {
        let c_name = text(name)?;
        // SAFETY: the column belongs to the batch, which the result borrows.
        unsafe { sys::lx_batch_find_column(self.0.as_ptr(), c_name.as_ptr()).as_ref() }
            .map(Column)
            .ok_or_else(|| {
                Error::new(
                    sys::LX_ERR_NOT_FOUND,
                    &format!("there is no column named \"{name}\""),
                )
            })
    }

    /// All columns.
    pub fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        // SAFETY: as for column(); the call returns NULL after the last column.
        let count = unsafe { sys::lx_batch_get_column_count(self.0.as_ptr()) };
        (0..count).filter_map(move |position| unsafe {
            sys::lx_batch_get_column(self.0.as_ptr(), position)
                .as_ref()
                .map(Column)
        })
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // SAFETY: this is the only reference that the batch has from us.
        unsafe { sys::lx_batch_unref(self.0.as_ptr()) }
    }
}

/// A column of a batch.
#[derive(Clone, Copy)]
pub struct Column<'a>(&'a sys::lx_column);

impl<'a> Column<'a> {
    pub fn name(&self) -> &'a str {
        // SAFETY: the batch owns the name.
        unsafe { CStr::from_ptr(self.0.name) }
            .to_str()
            .expect("names are UTF-8")
    }

    /// The name of the type in NumPy.
    pub fn dtype(&self) -> &'static str {
        // SAFETY: the name is constant text.
        unsafe { CStr::from_ptr(sys::lx_dtype_get_name(self.0.dtype)) }
            .to_str()
            .expect("names are ASCII")
    }

    /// The extents of a value. If the size of values varies, the first is `u64::MAX`.
    pub fn shape(&self) -> &'a [u64] {
        // SAFETY: the batch owns `ndim` extents.
        unsafe { array(self.0.shape, self.0.ndim) }
    }

    /// The values of all records, one after another.
    pub fn values<T: Element>(&self) -> Result<&'a [T]> {
        self.check::<T>()?;
        let size = self.offset(self.0.rows as usize);
        // SAFETY: the batch owns these bytes, aligned to 64, and they are elements of this type.
        Ok(unsafe { array(self.0.data.cast(), size / size_of::<T>()) })
    }

    /// The value of each record, whether or not their sizes are equal.
    pub fn rows<T: Element>(&self) -> Result<impl Iterator<Item = &'a [T]>> {
        let (column, values) = (*self, self.values::<T>()?);
        let element = size_of::<T>();
        Ok((0..self.0.rows as usize)
            .map(move |i| &values[column.offset(i) / element..column.offset(i + 1) / element]))
    }

    /// Where record `i` begins, in bytes.
    fn offset(&self, i: usize) -> usize {
        if self.0.offsets.is_null() {
            return i * self.0.size as usize;
        }
        // SAFETY: there is an offset for each record, and one for the end.
        unsafe { *self.0.offsets.add(i) as usize }
    }

    fn check<T: Element>(&self) -> Result<()> {
        if T::DTYPES.contains(&self.dtype()) {
            return Ok(());
        }
        let message = format!(
            "column \"{}\" has {}, not {}",
            self.name(),
            self.dtype(),
            T::DTYPES[0]
        );
        Err(Error::new(sys::LX_ERR_MISMATCH, &message))
    }
}

/// `from_raw_parts()` for an array that may be NULL if it is empty.
unsafe fn array<'a, T>(first: *const T, length: usize) -> &'a [T] {
    if length == 0 {
        return &[];
    }
    slice::from_raw_parts(first, length)
}

/// A type of the elements of a value.
///
/// # Safety
/// All bytes of columns with these dtypes must be valid values.
pub unsafe trait Element: Copy + 'static {
    const DTYPES: &'static [&'static str];
}

macro_rules! elements {
    ($($type:ty: $($dtype:literal)*;)*) => {
        $(unsafe impl Element for $type {
            const DTYPES: &'static [&'static str] = &[$($dtype),*];
        })*
    };
}
elements! {
    u8: "uint8" "bool" "bytes" "str" "json" "image"; u16: "uint16"; u32: "uint32"; u64: "uint64";
    i8: "int8"; i16: "int16"; i32: "int32"; i64: "int64"; f32: "float32"; f64: "float64";
}
