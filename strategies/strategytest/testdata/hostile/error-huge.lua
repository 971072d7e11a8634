-- Tries an error message of a megabyte, with line breaks.
-- Want error at 4
function choose(turn)
  error(("x\n\27[2J"):rep(1e5))
end
