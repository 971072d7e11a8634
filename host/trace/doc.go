// Package trace records the messages that league.v2 agents exchange, reads
// recordings back, and shows them as a conversation.
//
// A recording is a file of JSON lines. The first line of each run says who
// recorded and when; every other line is one message: the request that opens
// an exchange, or the answer that closes it. Messages are kept as they stood on
// the wire, except that tokens and keys are replaced by names that only tell
// them apart (see [Head] and [Line]).
//
// A [Recorder] hands out taps, one for each agent of a process, that go into
// the configuration of its endpoint and its client. [Read] returns the
// exchanges of a recording; [Show] prints them for people.
package trace
