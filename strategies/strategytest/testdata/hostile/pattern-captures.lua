-- Tries a pattern of many captures and back references.
-- Want timeout
function choose(turn)
  string.find(("a"):rep(5000), ("(a*)"):rep(20) .. "%1%2%3b")
  return "even"
end
