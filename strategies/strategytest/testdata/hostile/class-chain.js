// Tries classes that extend one another a hundred thousand times.
// Want budget at 5
let C = class {};
function choose(turn) {
  for (let i = 0; i < 100000; i++) C = class extends C {};
  new C();
  return "even";
}
