// Package cluster plays the leagues of a plan on many machines, with a NATS server between
// them. It knows records and chunks, no strategies.
//
// A Coordinator is a driver of experiments: it gives chunks to workers and waits for their
// records, so that order, stopping, quarantine and resumption stay in package
// experiments. Serve is the other end: it plays chunks with whatever driver its caller
// makes of a Job. StartBroker starts a NATS server, the program strategylab-broker, in a
// process of its own, so that this package needs none.
//
// # One rule
//
// A chunk is owed until right records of it arrive from a worker that it was given to. Who
// has it is in the memory of the coordinator alone, which gives it to another worker if the
// first is silent for Config.AckWait, says that it cannot play it, no longer names it among
// its chunks, or keeps it longer than such chunks take. The first right answer counts. So
// nothing that a broker loses stops a run, and nobody can take a chunk from the queue.
//
// # Who says what
//
// All names begin with a prefix, by default "strategylab":
//
//	subject PREFIX.run.RUN       a coordinator: its run, every few seconds
//	subject PREFIX.worker.ID     a worker: what it has and plays, every few seconds
//	subject PREFIX.work.ID       a coordinator: a chunk for this worker
//	subject PREFIX.records.RUN   a worker: records of a chunk, or why it cannot play it
//	subject PREFIX.ping          anybody: everybody is to say what it does
//	bucket PREFIX_runs           a key for each run, for --resume
//	objects PREFIX_code          jobs and the sources of scripts, named by their SHA-256
//
// Each message but the last kind is signed with the key of its sender, from whose public
// part the id of the worker or the name of the run follows. A number in it keeps it from
// being sent again by others. Jobs and sources are compared with their SHA-256.
//
// # Failures
//
// A chunk that has ended or failed MaxDeliver workers is divided, and a single league to
// which that happens is played without each half of the suspects, until the one at fault is
// known: it is quarantined from there on. If nobody is, the run ends with an error that
// names the league.
//
// A coordinator believes a worker neither structure nor seats nor draws of its records. With
// RunConfig.Verify it has a share of chunks played by two workers and compares; if they
// differ, it plays the chunk itself to see who is wrong. A worker whose records were wrong
// is put aside. If others of it were accepted, the run ends with a CaughtError, and the
// Ledger says from which league on it must be played again.
package cluster
