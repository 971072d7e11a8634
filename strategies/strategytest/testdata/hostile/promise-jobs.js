// Tries jobs that go on after choose has answered.
// Want error at 4
function choose(turn) {
  const again = () => Promise.resolve().then(again); again();
  return "even";
}
