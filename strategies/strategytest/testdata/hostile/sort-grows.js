// Tries an order that makes the array longer.
// Want timeout budget at 4-6
function choose(turn) {
  const a = [2, 1, 3];
  a.sort(() => { for (;;) a.push(1); });
  return "even";
}
