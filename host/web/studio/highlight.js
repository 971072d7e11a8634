// Splits a script into pieces with a class each. The pieces together are the script.
const words = {
  lua: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
  js: "async await break case catch class const continue debugger default delete do else export extends false finally for function if " +
    "import in instanceof let new null of return static super switch this throw true try typeof undefined var void while yield",
};
const keywords = Object.fromEntries(Object.entries(words).map(([k, text]) => [k, new Set(text.split(" "))]));

// The names that the lab calls and the members that it hands over.
const known = new Set(("start choose observe print console turn setup outcome").split(" "));

const quoted = String.raw`"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?`;
const number = String.raw`(?<number>\b(?:0[xX][\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\b)`;
const patterns = {
  lua: new RegExp(String.raw`(?<comment>--\[(=*)\[[\s\S]*?(?:\]\2\]|$)|--[^\n]*)|(?<string>\[(=*)\[[\s\S]*?(?:\]\4\]|$)|${quoted})|${number}|(?<word>[A-Za-z_]\w*)`, "g"),
  js: new RegExp(String.raw`(?<comment>/\*[\s\S]*?(?:\*/|$)|//[^\n]*)|(?<string>` + "`" + String.raw`(?:\\[\s\S]|[^` + "`" + String.raw`\\])*` + "`?" +
    String.raw`|${quoted})|${number}|(?<word>[A-Za-z_$][\w$]*)`, "g"),
};

// Characters that turn the direction of what follows: a script that has them may not read
// as it runs.
const turning = /([\u202a-\u202e\u2066-\u2069])/;

function* pieces(source, language) {
  let at = 0;
  for (const m of source.matchAll(patterns[language])) {
    if (m.index > at) yield ["", source.slice(at, m.index)];
    at = m.index + m[0].length;
    const {comment, string, number} = m.groups;
    if (comment !== undefined) yield ["comment", comment];
    else if (string !== undefined) yield ["string", string];
    else if (number !== undefined) yield ["number", number];
    else yield [keywords[language].has(m[0]) ? "keyword" : known.has(m[0]) ? "known" : "", m[0]];
  }
  if (at < source.length) yield ["", source.slice(at)];
}

export function tokens(source, language) {
  const list = [];
  for (const [kind, text] of pieces(source, language)) {
    if (!turning.test(text)) {
      list.push([kind, text]);
      continue;
    }
    for (const part of text.split(turning)) if (part) list.push([turning.test(part) ? "turning" : kind, part]);
  }
  return list;
}
