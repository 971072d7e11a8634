// Package plugins plays strategies in other processes, by way of go-plugin and
// gRPC.
//
// An author's program is
//
//	func main() { plugins.Serve(factory) }
//
// where the factory is the same as any other strategy in Go. The host's side is
// Open, whose factories are strategies.Batcher: a whole step of many leagues
// goes to the process in one message, and steps that are ready at the same time
// go together. docs/plugins.md is the guide for authors, other languages
// included; internal/strategypb has the protocol.
//
// # A process and its end
//
// A plugin gets neither the host's standard input nor its environment. What it
// writes to its standard error goes to the host's log, bounded. It lives in a
// process group of its own and watches a pipe whose other end only the host
// holds, so that it dies with the host however that ends; on Linux the kernel
// sees to it besides.
//
// A process that exits, hangs, or breaks the protocol is killed, and all seats
// in it are lost: their leagues go on with technical losses. The next group of
// seats starts it again, after a pause that doubles each time. After so many
// restarts (Config.Restarts) it is put aside: every further seat fails with
// strategies.ErrPutAside.
//
// # Rebuilding seats
//
// With Config.Replay the host remembers the calls of every seat that is open.
// When the process dies, each seat is first tried alone: made anew, given its
// calls once more, and the one that was under way. Those that the process
// survives are then rebuilt, and only those that kill it again are lost. It is
// meant for scripts, which play the same whenever they are told the same.
package plugins
