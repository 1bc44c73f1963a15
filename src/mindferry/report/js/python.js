// Just enough Python to colour it: comments, strings, keywords, numbers. Returns [start, end, class] for each line.
const TOKEN = /(#.*)|([rRbBfFuU]{0,2}(?:"""|'''|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?))|\b(def|class|return|if|elif|else|for|while|in|not|and|or|is|import|from|as|with|try|except|finally|raise|lambda|yield|pass|break|continue|global|nonlocal|assert|del|async|await|None|True|False|self)\b|\b(\d[\w.]*)/g;
const TOKEN_KINDS = [null, "comment", "string", "keyword", "number"];

function colour(lines) {
  let open = ""; // the quotes of a string that goes on over lines
  return lines.map((line) => {
    const tokens = [];
    let at = 0;
    if (open) {
      const end = line.indexOf(open);
      at = end < 0 ? line.length : end + 3;
      if (at) tokens.push([0, at, "string"]);
      if (end < 0) return tokens;
      open = "";
    }
    TOKEN.lastIndex = at;
    for (let found; (found = TOKEN.exec(line)); ) {
      const kind = found.findIndex((group, index) => index && group != null);
      let end = found.index + found[0].length;
      if (kind === 2 && /("""|''')$/.test(found[0])) {
        const quotes = found[0].slice(-3);
        const close = line.indexOf(quotes, end);
        if (close < 0) open = quotes;
        TOKEN.lastIndex = end = close < 0 ? line.length : close + 3;
      }
      tokens.push([found.index, end, TOKEN_KINDS[kind]]);
      if (open) break;
    }
    return tokens;
  });
}

// A line as spans: colours and rewrites may overlap, so it is cut wherever either begins or ends.
function pieces(line, tokens, marks) {
  if (!tokens.length && !marks.length) return [line];
  const cuts = new Set([0, line.length]);
  for (const [start, end] of [...tokens, ...marks]) cuts.add(Math.min(start, line.length)).add(Math.min(end, line.length));
  const edges = [...cuts].sort((a, b) => a - b);
  return edges.slice(1).map((end, index) => {
    const start = edges[index];
    const token = tokens.find((each) => each[0] <= start && each[1] >= end);
    const inside = marks.filter((each) => each[0] <= start && each[1] >= end);
    const mark = inside.sort((a, b) => a[1] - a[0] - (b[1] - b[0]))[0]; // the innermost
    const text = line.slice(start, end);
    if (!token && !mark) return text;
    return el("span", { class: [token && token[2], mark && "mark"].filter(Boolean).join(" "), "data-mark": mark ? mark[2] : null }, text);
  });
}
