// NAME: plays against what each opponent has played most
//
// Build it:
//   zig build-exe NAME.zig -target wasm32-freestanding -fno-entry -rdynamic -O ReleaseSmall --stack 8192 -femit-bin=NAME.wasm
//
// Points are won when the two choices differ, so this counts what an opponent has played
// so far and answers with the other parity. docs/wasm.md lists all that it can see.

// What `strategies list` shows: a title, and lines of a description.
comptime {
    asm (
        \\.section .custom_section.strategylab,"",@
        \\.ascii "NAME: plays against what each opponent has played most\n"
    );
}

// How much more often each opponent has played even than odd, by the number of the player.
var surplus = [_]i32{0} ** 1000;

// Called for every match: returns the probability of even.
export fn choose(opponent: i32) f64 {
    if (opponent < 0 or opponent >= surplus.len) return 0.5;
    const s = surplus[@intCast(opponent)];
    if (s == 0) return 0.5; // nothing to go by
    return if (s > 0) 0 else 1;
}

// Called after every match. A choice is 1 for even, 0 for odd, -1 for none.
export fn observe(opponent: i32, _: i32, _: i32, _: i32, theirs: i32) void {
    if (opponent >= 0 and opponent < surplus.len and theirs >= 0)
        surplus[@intCast(opponent)] += 2 * theirs - 1;
}
