// Package eventlog writes the log of validation: one line of JSON for each
// request that an agent was sent, with what became of it.
//
// A record looks like this, on one line:
//
//	{"timestamp": "2026-01-01T12:00:00.000Z",
//	 "ids": {"event": "<UUID>", "request": <the JSON-RPC id>, "conversation": "conv-r1m1-001"},
//	 "transport": "http", "route": "/mcp", "method": "tools/call",
//	 "status": "ok", "http_status": 200, "duration_ms": 0.417, "error": null,
//	 "metadata": {"schemaVersion": "1", "deterministic": false}}
//
// Where the status is "error", error is {"code", "message", "data"}, and data
// holds codes and violations. No record holds a token or a value of an input;
// ids and method, which come from the sender, are cut to a bounded length.
//
// # A log never holds up an agent
//
// [Log.Append] encodes into memory and returns. One goroutine, which Close
// waits for, writes what has gathered. If it cannot keep up, or the disk is
// full, records are dropped and counted; what happens is said once to the
// program's own log, and the total at the end. A killed process loses what
// gathered since the last write, at most Config.Flush long.
//
// # Files
//
// Files lie in [Folder] of the data directory. They are named by the time when
// the process began, so that sorting by name sorts by time; ".latest" is a
// relative symbolic link to the newest (a text file with its name where there
// are no links). A file that is full is followed by another, and the oldest are
// removed: all files together hold at most MaxFiles times MaxFile bytes, 64 MiB
// unless configured otherwise.
//
// # Deterministic logs
//
// With a seed, the same requests in the same order give the same bytes: event
// ids are UUIDs (version 5) of seed and sequence number, the clock stands
// still, durations are 0, and the file has a fixed name and begins empty. Every
// record is written before Append returns.
package eventlog
