// Tries to change what other scripts use.
// Want none
Math.random = () => 0;
for (const k of ["Math", "Object", "Array", "JSON", "Map", "undefined", "NaN"]) { try { globalThis[k] = null; } catch (e) {} }
delete globalThis.console;
function choose(turn) { return "odd"; }
