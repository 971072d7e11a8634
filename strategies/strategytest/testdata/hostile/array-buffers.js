// Tries array buffers for all memory.
// Want budget at 5 with default limits
function choose(turn) {
  const a = [];
  for (;;) a.push(new ArrayBuffer(1 << 20));
  return "even";
}
