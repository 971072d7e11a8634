// NAME: plays against what each opponent has played most
//
// Build it, after `rustup target add wasm32-unknown-unknown`:
//   rustc --target wasm32-unknown-unknown --crate-type cdylib -O -C strip=debuginfo -C link-arg=-zstack-size=8192 -o NAME.wasm NAME.rs
//
// Points are won when the two choices differ, so this counts what an opponent has played
// so far and answers with the other parity. docs/wasm.md lists all that it can see.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

// What `strategies list` shows: a title, and lines of a description.
const TITLE: &[u8] = b"NAME: plays against what each opponent has played most";

#[used]
#[cfg_attr(target_arch = "wasm32", link_section = "strategylab")]
static ABOUT: [u8; TITLE.len()] = unsafe { *(TITLE.as_ptr() as *const [u8; TITLE.len()]) };

// How much more often each opponent has played even than odd, by the number of the player.
const TIED: AtomicI32 = AtomicI32::new(0);
static SURPLUS: [AtomicI32; 1000] = [TIED; 1000];

// Called for every match: returns the probability of even.
#[no_mangle]
pub extern "C" fn choose(opponent: i32) -> f64 {
    let surplus = SURPLUS.get(opponent as usize).map_or(0, |s| s.load(Relaxed));
    if surplus == 0 {
        0.5 // nothing to go by
    } else if surplus > 0 {
        0.0
    } else {
        1.0
    }
}

// Called after every match. A choice is 1 for even, 0 for odd, -1 for none.
#[no_mangle]
pub extern "C" fn observe(opponent: i32, _round: i32, _role: i32, _choice: i32, theirs: i32) {
    if let (Some(s), 0..=1) = (SURPLUS.get(opponent as usize), theirs) {
        s.fetch_add(2 * theirs - 1, Relaxed);
    }
}
