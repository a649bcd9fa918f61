// SPDX-License-Identifier: MIT
//! Prints the texts of a dataset, whose sizes vary:
//!
//!     loaderx import texts --format lines book.txt
//!     cargo run --example texts -- texts
use loaderx::{Loader, Options, Result, Source};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "texts".into());
    let options = Options {
        batch_size: 64,
        ..Options::default()
    };
    for batch in Loader::open(&Source::open(path)?, &options)?.epoch() {
        for text in batch?.column("text")?.rows::<u8>()? {
            println!("{}", String::from_utf8_lossy(text));
        }
    }
    Ok(())
}
