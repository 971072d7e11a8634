-- Tries a loop made of goto.
-- Want budget at 4-5
function choose(turn)
  ::again::
  goto again
  return "even"
end
