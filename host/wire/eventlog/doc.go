// Package eventlog writes the validation log: one line of JSON for each request to an agent, with
// its outcome.
//
// A record looks like this, on one line:
//
//	{"timestamp": "2026-01-01T12:00:00.000Z",
//	 "ids": {"event": "<UUID>", "request": <the JSON-RPC id>, "conversation": "conv-r1m1-001"},
//	 "transport": "http", "route": "/mcp", "method": "tools/call",
//	 "status": "ok", "http_status": 200, "duration_ms": 0.417, "error": null,
//	 "metadata": {"schemaVersion": "1", "deterministic": false}}
//
// If the status is "error", error is {"code", "message", "data"}, and data holds codes and
// violations. No record contains a token or a value of an input; ids and method, which come from
// the sender, are cut to a bounded length.
//
// # A log never blocks an agent
//
// [Log.Append] encodes into memory and returns. One goroutine, which Close waits for, writes the
// pending records. If it cannot keep up, or the disk is full, records are dropped and counted; the
// program's own log gets one warning when that begins, and the total at the end. A killed process
// loses the records since the last write, at most Config.Flush long.
//
// # Files
//
// The files are in [Folder] of the data directory. Their names begin with the start time of the
// process, so that sorting by name sorts by time; ".latest" is a relative symbolic link to the
// newest (or a text file with its name where links are not supported). A full file is followed by
// another, and the oldest are removed: all files together hold at most MaxFiles times MaxFile
// bytes, by default 64 MiB.
//
// # Deterministic logs
//
// With a seed, the same requests in the same order give the same bytes: event ids are UUIDs
// (version 5) of seed and sequence number, the clock stands still, durations are 0, and the file
// has a fixed name and begins empty. Every record is written before Append returns.
package eventlog
