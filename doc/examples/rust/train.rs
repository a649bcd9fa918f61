// SPDX-License-Identifier: MIT
//! Trains on the dataset that doc/examples/loader.c makes, as it does: shuffled, as rank 1 of 4,
//! and resumed in the middle of the epoch.
//!
//!     cargo run --example train -- vectors
use loaderx::{Batch, Loader, Options, Result, Source};
use std::process::ExitCode;

/// In place of a model: a number that depends on every record and on their order.
fn step(digest: u64, batch: &Batch) -> Result<u64> {
    let data = batch.column("data")?;
    let labels = batch.column("label")?.values::<i64>()?;
    Ok(data
        .rows::<f32>()?
        .zip(labels)
        .fold(digest, |digest, (vector, label)| {
            digest
                .wrapping_mul(31)
                .wrapping_add(vector[0] as u64)
                .wrapping_add(*label as u64)
        }))
}

fn train(loader: &Loader, most: usize) -> Result<u64> {
    loader
        .epoch()
        .take(most)
        .try_fold(0, |digest, batch| step(digest, &batch?))
}

fn run(path: &str) -> Result<()> {
    let source = Source::open(path)?;
    let options = Options {
        batch_size: 64,
        shuffle: Some(42),
        rank: 1,
        world: 4,
        ..Options::default()
    };
    let loader = Loader::open(&source, &options)?;
    if let Some(first) = loader.epoch().next() {
        for column in first?.columns() {
            println!("{}: {} {:?}", column.name(), column.dtype(), column.shape());
        }
    }
    train(&loader, 3)?;
    let state = loader.save()?;
    println!(
        "{} of {} samples are done: {state}",
        loader.position(),
        source.length()
    );
    let whole = train(&loader, usize::MAX)?;

    // Another process, which reads in the calling thread.
    let second = Loader::open(
        &source,
        &Options {
            readers: Some(0),
            ..options
        },
    )?;
    second.restore(&state)?;
    let resumed = train(&second, usize::MAX)?;
    println!("the rest of the epoch: {whole:016x}, resumed: {resumed:016x}");
    Ok(())
}

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| "vectors".into());
    match run(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("train: {error}");
            ExitCode::FAILURE
        }
    }
}
