// Package luascript runs strategies written in Lua 5.1, on gopher-lua.
//
// A script is compiled once, by Compile; every seat runs it in a Lua state of
// its own, furnished anew. What scripts are told, and what they may answer, is
// written down for their authors in scripts/README.md; JavaScript has the same
// interface.
//
// # What is bounded
//
// Every call of a hook, and the run of the top level, has a budget of units
// (Limits.Instructions) and one of time (Limits.Time).
//
// A unit is one VM instruction, or the work of a built-in function that takes
// about as long. The count does not depend on the machine: the same script in
// the same league overruns at the same instruction, everywhere. It rests on
// gopher-lua asking its context once per instruction, which a test pins.
//
// No single operation can take much time or memory beyond its units:
//   - strings are at most 1 MiB long, whatever makes them, and cost a unit for
//     every 16 bytes;
//   - arrays cost a unit for every 16 slots that a store has to fill, and the
//     gap is at most 2^20;
//   - patterns are matched by a matcher of our own, which counts its steps;
//   - lists of values are at most 4096 long, calls at most 200 deep, and source
//     is at most 256 KiB long and nested 200 deep.
//
// So that joins of strings, stores and "..." cost what they should, they are
// rewritten into calls before the script is compiled.
//
// A unit then allocates at most about 1 KiB, and every 8192 units the heap of
// the process is looked at: a seat during which it has grown by 128 MiB, and
// which has run enough to have made it grow, has overrun its memory. Which of
// several such seats is caught depends on the others; light scripts never are.
//
// An overrun ends the seat. A script cannot catch it: pcall returns, and the
// next instruction raises it again.
//
// # What is not
//
// Memory below that allowance, which every seat of a script has for itself;
// and time between two instructions, of which the longest are a comparison of
// two strings of 1 MiB and the length of a large table whose end is empty (a
// few milliseconds). What must not share a process with a script, because its
// author is not trusted, belongs into another process.
//
// # What cannot be reached
//
// Files, network, clock, environment, other states, the host's memory: none of
// the functions that lead there exist. There are no coroutines, and nothing
// compiles code at run time. Randomness comes from the seat's own stream.
// Nothing that differs from run to run is visible: tables and functions print
// without their address, pairs goes through a table in the order in which it
// was filled, errors name the script by a fixed word.
//
// Where gopher-lua differs from Lua 5.1 so does this package, except in the
// functions it replaces (strings, tables, tonumber, tostring, math.random),
// which follow the reference manual. Tail calls are calls, and count as such.
package luascript
