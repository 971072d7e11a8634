// Package protocol is the league.v2 protocol: its messages as Go types, the
// rules that a message must keep, the error codes, the tokens and keys that
// prove who sent it, and the JSON Schemas of all of it. How messages are
// wrapped for the wire is the business of host/dialect. The package does no I/O
// and reads no clock; everything here is a pure function of its arguments, and
// every exported value is safe for concurrent use unless its comment says
// otherwise.
//
// Each message has one table of field rules beside its Go type. [Decode]
// validates by it, the JSON Schemas in schemas/ are written from it, and tests
// compare validator, schemas and Go types with each other. Which message
// travels under which method, and from whom, stands in the catalog ([Types],
// [Describe]).
package protocol
