// Tries to find a way to files, processes, the clock, the environment, other code.
// Want none
const ways = [
  "require", "process", "fetch", "XMLHttpRequest", "Deno", "Bun", "Date", "performance", "Intl", "WebAssembly",
  "SharedArrayBuffer", "Atomics", "setTimeout", "setInterval", "setImmediate", "queueMicrotask", "Promise", "eval",
  "WeakRef", "FinalizationRegistry", "importScripts", "navigator", "location", "global", "window", "self", "GoError",
];
function choose(turn) {
  for (const name of ways) {
    if (name in globalThis && globalThis[name] !== undefined) throw new Error(name + " can be reached");
  }
  return "even";
}
