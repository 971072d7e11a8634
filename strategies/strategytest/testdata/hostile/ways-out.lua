-- Tries to find a way to files, processes, the clock, the environment, other code.
-- Want none
local ways = {
  "io", "os", "package", "debug", "require", "module", "dofile", "loadfile", "load", "loadstring", "channel",
  "getfenv", "setfenv", "newproxy", "coroutine", "collectgarbage", "_printregs",
}
function choose(turn)
  for _, name in ipairs(ways) do
    if rawget(_G, name) ~= nil then error(name .. " can be reached") end
  end
  if string.dump or math.randomseed then error("string.dump or math.randomseed can be reached") end
  return "even"
end
