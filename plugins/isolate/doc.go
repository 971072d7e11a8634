// Package isolate runs scripts in worker processes, which they cannot hang,
// crash or starve the host from.
//
// The two sides are
//
//	isolate.Serve(catalog.Formats())                         // all that the worker's main does
//	formats := isolate.Formats(catalog.Formats(), isolate.Options{
//		Worker: []string{exe, "worker"},                     // what starts such a worker
//	})
//	catalog.Load(ctx, catalog.Options{Formats: formats})     // on the host
//
// The formats on the host load like the ones they are made of, and their
// factories differ only in where they play: every script has a process of its
// own, which is handed the source over the plugin protocol and opens no files.
// Inside it the guards of the runtime hold as ever. Outside of them stand the
// worker's bounds: how much memory the process may take up, and how long a call
// may last before the process is killed.
//
// When a worker dies, its seats are rebuilt one by one by giving them their
// calls once more, and only those lose their league in which it dies again.
// A worker that dies too often is put aside for the rest of the run.
//
// # Memory
//
// On Linux the cap is RLIMIT_DATA, which the worker sets for itself before it
// sees the script: the kernel refuses what goes beyond, and the worker dies.
// Elsewhere the worker looks at its own size every few milliseconds and ends
// itself; what a script can allocate in that time goes over the cap.
package isolate
