// Tries to import a module.
// Want load at 3
import { readFileSync } from "fs";
function choose(turn) { return "even"; }
