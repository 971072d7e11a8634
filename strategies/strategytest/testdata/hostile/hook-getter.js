// Tries a loop where the host looks for choose.
// Want load
Object.defineProperty(globalThis, "choose", { get() { for (;;) {} } });
