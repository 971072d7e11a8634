-- Tries a pattern of many captures and back references.
-- Want budget at 4
function choose(turn)
  string.find(("a"):rep(5000), ("(a*)"):rep(20) .. "%1%2%3b")
  return "even"
end
