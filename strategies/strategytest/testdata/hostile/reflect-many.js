// Tries to construct with as many arguments as it can.
// Want budget at 4
function choose(turn) {
  Reflect.construct(Array, { length: 1e9 });
  return "even";
}
