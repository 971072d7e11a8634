// NAME: plays against what each opponent has played most
//
// Build it, with clang and lld:
//   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,-z,stack-size=8192 -o NAME.wasm NAME.c
//
// Points are won when the two choices differ, so this counts what an opponent has played
// so far and answers with the other parity. docs/wasm.md lists all that it can see.

// What `strategies list` shows: a title, and lines of a description.
__asm__(".section .custom_section.strategylab,\"\",@\n"
        ".ascii \"NAME: plays against what each opponent has played most\"\n");

#define EXPORT(name) __attribute__((export_name(name)))

// How much more often each opponent has played even than odd, by the number of the player.
static int surplus[1000];

// Called for every match: returns the probability of even.
EXPORT("choose") double choose(int opponent) {
  if (opponent < 0 || opponent >= 1000 || surplus[opponent] == 0)
    return 0.5; // nothing to go by
  return surplus[opponent] > 0 ? 0 : 1;
}

// Called after every match. A choice is 1 for even, 0 for odd, -1 for none.
EXPORT("observe") void observe(int opponent, int round, int role, int choice, int theirs) {
  if (opponent >= 0 && opponent < 1000 && theirs >= 0)
    surplus[opponent] += theirs ? 1 : -1;
}
