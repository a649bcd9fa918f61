// SPDX-License-Identifier: MIT
//! Asks pkg-config where libloaderx is. (The crate `pkg-config` does this, too.)
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let program = std::env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let output = Command::new(program)
        .args(["--libs", "loaderx"])
        .output()
        .expect("pkg-config runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "pkg-config: {errors}");
    for flag in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        if let Some(folder) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
}
