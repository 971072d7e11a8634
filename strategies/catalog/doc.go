// Package catalog turns what users call strategies into factories.
//
// A strategy is either built in or a script in a file. It is called by its
// name (markov-2, or mine for scripts/mine.lua) or by its path
// (scripts/mine.lua, ./x.js); random*8 stands for eight copies of one. What
// has a dot or a slash in it is a path, so the two cannot be confused.
//
// The life of a catalogue:
//
//  1. Load takes the built-in strategies and reads the scripts folder. A
//     script that cannot be used is kept with its error; it stops nobody else.
//  2. Resolve and Field find strategies by name. A script elsewhere is loaded
//     when its path is first named.
//  3. Close closes every factory, when no seat is open any more.
//
// How a file becomes a factory is given as data, by extension: another
// language is another Format.
package catalog
