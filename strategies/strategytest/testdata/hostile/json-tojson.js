// Tries a toJSON that never ends, and grows.
// Want budget timeout at 4
function choose(turn) {
  JSON.stringify({ toJSON() { return [this, this]; }, get x() { return { toJSON: this.toJSON }; } }, (k, v) => [v, v]);
  return "even";
}
