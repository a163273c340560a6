//! One door of fleetload for libFuzzer to knock at, named by `FLEETLOAD_FUZZ_DOOR`.
//!
//! The doors and the seeds are those of `tests/hostile`. Before the first input the seeds of the door are written to the
//! folder `FLEETLOAD_FUZZ_SEEDS`, when one is named: libFuzzer reads it afterwards. `fuzz/run` does all of it.

#![no_main]

#[path = "../../tests/hostile/doors/mod.rs"]
mod doors;
#[path = "../../tests/hostile/seeds.rs"]
mod seeds;

use std::path::Path;
use std::sync::OnceLock;

fn door() -> doors::Door {
    static DOOR: OnceLock<doors::Door> = OnceLock::new();
    *DOOR.get_or_init(|| {
        let name = std::env::var("FLEETLOAD_FUZZ_DOOR").unwrap_or_default();
        let known = doors::ALL.map(|(known, _)| known).join(" ");
        doors::by_name(&name)
            .unwrap_or_else(|| panic!("FLEETLOAD_FUZZ_DOOR is '{name}'; the doors are: {known}"))
    })
}

/// Writes the seeds of the door to the folder that is named for them.
fn prepare() {
    door();
    let Some(folder) = std::env::var_os("FLEETLOAD_FUZZ_SEEDS") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let name = std::env::var("FLEETLOAD_FUZZ_DOOR").unwrap_or_default();
    for (number, seed) in seeds::seeds(&root)
        .into_iter()
        .filter(|(door, _)| *door == name)
        .flat_map(|(_, seeds)| seeds)
        .enumerate()
    {
        std::fs::write(Path::new(&folder).join(format!("seed-{number}")), seed).expect("a writable folder");
    }
}

libfuzzer_sys::fuzz_target!(init: prepare(), |data: &[u8]| door()(data));
