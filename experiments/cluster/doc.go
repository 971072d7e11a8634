// Package cluster plays the leagues of a plan on many machines. NATS JetStream is the
// queue between them. It knows records and chunks, no strategies.
//
// A Coordinator is a driver of experiments: it publishes chunks and waits for their
// records, so that order, stopping, quarantine and resumption stay in package
// experiments. Serve is the other end: it plays chunks with whatever driver its caller
// makes of a Job. StartBroker starts a NATS server, the program strategylab-broker, in a
// process of its own, so that this package needs none.
//
// # What the broker holds
//
// All names begin with a prefix, by default "strategylab":
//
//	stream PREFIX_chunks    subjects PREFIX.chunk.RUN: chunks to play, a work queue
//	stream PREFIX_records   subjects PREFIX.records.RUN: records of chunks, a work queue
//	bucket PREFIX_runs      a key for each run that is being played
//	objects PREFIX_code     jobs and the sources of scripts, named by their SHA-256
//	subject PREFIX.worker.ID, PREFIX.run.RUN: who is there and what it does, not stored
//
// Every run has a name that is never used again and a consumer of its own, so a worker
// takes chunks only from runs that it can play.
//
// # Failures
//
// A worker acknowledges a chunk when the broker has stored the records, and reports
// progress until then. If it dies, the broker gives the chunk to another after
// Config.AckWait. Records that arrive twice are the same bytes; the second are dropped. A
// chunk that has been delivered MaxDeliver times without an acknowledgement is divided,
// and a single league to which that happens is played without each half of the suspects,
// until the one at fault is known: it is quarantined from there on. If nobody is, the run
// ends with a PoisonError. A chunk is delivered again as it is if no worker has failed with
// it and all that had it answer: deliveries get lost on busy machines. If the broker loses
// chunks, because it lost its disk, the coordinator publishes them again.
//
// A coordinator believes a worker neither structure nor seats nor draws of its records:
// one that returns impossible ones is put aside, and its chunk is played again. With
// RunConfig.Verify it has a share of chunks played by two workers and compares.
package cluster
