// Every file side by side. Long stretches without a change are folded; findings stand under their line.
const CONTEXT = 4;
const FOLD = 12;

views.code = {
  render(section) {
    if (!report.files.length) return section.append(notRun("No code to show.", "convert"));
    const filter = filterBox("filter the files", (query) => this.narrow(query));
    this.filter = filter.input;
    this.list = el("ul", { "aria-label": "files" }, (this.entries = report.files.map((file) => this.entry(file))));
    this.main = el("div", { class: "main" });
    section.append(el("div", { class: "split" }, el("nav", { class: "side", "aria-label": "files" }, filter.node, this.list), this.main));
    this.main.addEventListener("mouseover", (event) => this.hover(event.target));
    this.main.addEventListener("mouseleave", hideCard);
  },

  entry(file) {
    const cut = file.path.lastIndexOf("/") + 1;
    const count = file.errors ? el("small", { class: "bad" }, String(file.errors)) : file.warnings ? el("small", { class: "look" }, String(file.warnings))
      : el("small", {}, file.rewrites ? String(file.rewrites) : "");
    return el("li", { class: file.rewrites || file.errors ? "" : "quiet" }, el("a", { href: link("code", file.path), title: `${file.path}: ${file.status}` },
      el("span", {}, cut ? el("span", { class: "folder" }, file.path.slice(0, cut)) : "", file.path.slice(cut)), count));
  },

  narrow(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    report.files.forEach((file, index) => {
      const fits = words.every((word) => `${file.path} ${file.status}`.toLowerCase().includes(word));
      this.entries[index].hidden = !fits;
      left += fits;
    });
    return left;
  },

  show(argument) {
    if (!report.files.length) return;
    const [, path, line] = argument.match(/^(.*?)(?::(\+?\d+))?$/); // :12 is a line before, :+12 one after
    const exact = fileIndex.has(argument) ? [argument, ""] : [path, line];
    const index = fileIndex.get(exact[0]) ?? this.index ?? Math.max(0, report.files.findIndex((file) => file.errors || file.rewrites));
    if (index !== this.index) this.open(index);
    if (exact[1]) this.goto(exact[1]);
    else if (argument) scrollTo(0, 0);
  },

  open(index) {
    this.entries.forEach((entry, at) => entry.firstChild.toggleAttribute("aria-current", at === index));
    this.entries[index].scrollIntoView({ block: "nearest" });
    this.build(index);
  },

  build(index) {
    const file = report.files[index];
    this.index = index;
    this.whole = false;
    this.data = JSON.parse(byId(`file-${index}`).textContent);
    this.rows = expand(this.data);
    this.sides = ["i", "j"].filter((side) => this.rows.some((row) => row[side] >= 0)); // a file that one side alone has takes the whole width
    const facts = [file.status, file.rewrites && plural(file.rewrites, "rewrite"), file.errors && plural(file.errors, "call") + " left", file.warnings && `${file.warnings} to look at`];
    this.button = el("button", { type: "button", "aria-pressed": "false", onclick: () => this.unfold() }, "whole file");
    this.body = el("tbody");
    this.main.replaceChildren(
      el("header", { class: "filehead" }, el("h2", {}, file.path), el("p", {}, facts.filter(Boolean).join(" · ")),
        el("div", { class: "tools" }, el("button", { type: "button", title: "previous change (k)", onclick: () => this.step(-1) }, "↑ previous"),
          el("button", { type: "button", title: "next change (j)", onclick: () => this.step(1) }, "↓ next"), this.button)),
      file.note ? el("p", { class: "summary" }, file.note, ".") : "",
      this.unplaced(),
      !this.rows.length ? "" : el("table", { class: "diff", "aria-label": `${file.path}, before and after` },
        el("colgroup", {}, this.sides.map(() => [el("col", { class: "ln" }), el("col")])),
        el("thead", {}, el("tr", {}, this.sides.map((side) => el("th", { colspan: 2 }, side === "i" ? "PyTorch" : "MindSpore")))), this.body));
    this.draw();
  },

  // Findings of files without text, or of lines that are not there any more.
  unplaced() {
    const lines = new Set(this.rows.map((row) => row.i + 1));
    const left = this.data.findings.filter((finding) => !lines.has(finding.line));
    return left.length ? el("ul", { class: "unplaced" }, left.map((finding) => el("li", {}, said(finding)))) : "";
  },

  draw() {
    const keep = this.whole || !this.rows.some((row) => row.stop) ? null : near(this.rows);
    const part = document.createDocumentFragment();
    this.lines = new Map();
    for (let at = 0; at < this.rows.length; at++) {
      if (keep && !keep[at]) {
        let end = at;
        while (end < this.rows.length && !keep[end]) end++;
        if (end - at >= FOLD) {
          part.append(this.folded(at, end));
          at = end - 1;
          continue;
        }
        keep.fill(true, at, end);
      }
      part.append(this.line(this.rows[at]));
    }
    this.body.replaceChildren(part);
    this.at = -1;
  },

  folded(from, to) {
    const open = () => {
      const part = document.createDocumentFragment();
      for (let at = from; at < to; at++) part.append(this.line(this.rows[at]));
      row.replaceWith(part);
    };
    const row = el("tr", { class: "fold", "data-from": from, "data-to": to }, el("td", { colspan: 4 }, el("button", { type: "button", onclick: open }, `${to - from} equal lines`)));
    row.unfold = open;
    return row;
  },

  line(row) {
    const isChanged = row.kind === "changed" && this.sides.length > 1;
    const cells = (number, text, tokens, marks, tone) => {
      const kind = number < 0 ? "void" : isChanged ? tone : "";
      return [el("td", { class: `ln ${kind}` }, number >= 0 ? String(number + 1) : ""), el("td", { class: `src ${kind}` }, number >= 0 ? pieces(text, tokens, marks) : "")];
    };
    const node = el("tr", { class: row.kind }, this.sides.map((side) => (side === "i" ? cells(row.i, row.left, row.leftTokens, row.leftMarks, "del") : cells(row.j, row.right, row.rightTokens, row.rightMarks, "add"))));
    if (row.i >= 0) this.lines.set(`${row.i + 1}`, node);
    if (row.j >= 0) this.lines.set(`+${row.j + 1}`, node);
    if (row.findings.length) node.firstChild.classList.add(`has-${row.findings[0].severity}`);
    row.node = node;
    const notes = row.findings.map((finding) => el("tr", { class: `note ${finding.severity}` }, el("td"), el("td", { colspan: 2 * this.sides.length - 1 }, said(finding))));
    const part = document.createDocumentFragment();
    part.append(node, ...notes);
    return part;
  },

  unfold() {
    this.whole = !this.whole;
    this.button.setAttribute("aria-pressed", String(this.whole));
    this.draw();
  },

  goto(line) {
    if (!this.lines.has(line)) {
      const side = line.startsWith("+") ? "j" : "i";
      const at = this.rows.findIndex((row) => row[side] === Number(line) - 1);
      [...this.body.querySelectorAll(".fold")].find((fold) => at >= Number(fold.dataset.from) && at < Number(fold.dataset.to))?.unfold();
    }
    this.point(this.lines.get(line));
  },

  point(node) {
    this.body.querySelector(".current")?.classList.remove("current");
    if (!node) return;
    node.classList.add("current");
    node.scrollIntoView({ block: "center" });
  },

  // The next block of changes or finding, in this file or the next one that has any.
  step(by) {
    if (!this.rows) return;
    const stops = this.rows.filter((row) => row.stop);
    this.at += by;
    if (this.at < 0 && by < 0 && this.at < -1) this.at = -1;
    if (stops[this.at]) {
      this.point(stops[this.at].node);
      const mark = stops[this.at].node.querySelector(".mark");
      mark ? this.hover(mark) : hideCard();
    } else this.turn(by);
  },

  turn(by) {
    for (let index = this.index + by; report.files[index]; index += by) {
      if (this.entries[index].hidden || !(report.files[index].rewrites || report.files[index].errors || report.files[index].warnings)) continue;
      this.open(index);
      history.replaceState(null, "", link("code", report.files[index].path));
      this.at = by > 0 ? -1 : this.rows.filter((row) => row.stop).length;
      return this.step(by);
    }
    this.at = Math.max(-1, Math.min(this.at, this.rows.filter((row) => row.stop).length));
  },

  file(by) {
    const index = (this.index ?? 0) + by;
    if (report.files[index]) openTab("code", report.files[index].path);
  },

  // For the printer: the changes of all files, one after the other, as long as that is a few hundred pages at most.
  paper() {
    const sheets = el("div", { class: "paper" });
    let left = 20000;
    report.files.forEach((file, index) => {
      if (left < 0 || !(file.rewrites || file.errors || file.warnings)) return;
      const sheet = Object.assign(Object.create(this), { main: el("div") });
      sheet.build(index);
      left -= sheet.body.children.length;
      sheets.append(sheet.main);
    });
    return sheets;
  },

  hover(target) {
    const span = target.closest?.("[data-mark]");
    if (!span) return hideCard();
    const mark = this.data.marks[span.dataset.mark];
    const rule = report.rules[mark.rule];
    const read = (lines, [line, column, length]) => (lines[line] ?? "").slice(column, column + length);
    showCard(span, [
      el("p", {}, el("b", {}, mark.rule), rule && badge(rule.kind === "missing" ? "bad" : rule.kind === "native" ? "ok" : "soft", rule.kind)),
      rule?.becomes ? el("p", { class: "becomes" }, "→ ", rule.becomes) : "", rule?.differs ? el("p", {}, prose(rule.differs)) : "",
      el("pre", { class: "del" }, short(mark.before ?? read(this.data.before, mark.left))), el("pre", { class: "add" }, short(mark.after ?? read(this.data.whole, mark.right)) || "(taken away)")]);
  },
};

const said = (finding) => [el("code", { class: "finding", title: finding.severity }, finding.code), " ", prose(finding.message), finding.advice && el("span", { class: "advice" }, " → ", prose(finding.advice))];
const short = (text) => (text.split("\n").length > 6 ? `${text.split("\n").slice(0, 6).join("\n")}\n…` : text);

// The steps of a file -> one object a row. What was taken away and what came instead share rows, even if no two lines are alike.
function expand(data) {
  const rows = [], after = [];
  let i = 0, j = 0, changed = 0;
  for (let at = 0; at < data.steps.length; at++) {
    let [kind, left, right] = data.steps[at];
    const next = data.steps[at + 1];
    if (next && ["-+", "+-"].includes(kind + next[0])) {
      left += next[1];
      right += next[2];
      at++;
    }
    after.push(...(kind === "=" ? data.before.slice(i, i + left) : data.after.slice(changed, (changed += right))));
    for (let n = 0; n < Math.max(left, right); n++)
      rows.push({ kind: kind === "=" ? "equal" : "changed", i: n < left ? i + n : -1, j: n < right ? j + n : -1 });
    i += left;
    j += right;
  }
  data.whole = after;
  data.marks = data.marks.map(([rule, left, right, before, after]) => ({ rule, left, right, before, after }));
  annotate(rows, data, after);
  return rows;
}

function annotate(rows, data, after) {
  const leftTokens = colour(data.before), rightTokens = colour(after);
  const by = (side) => Map.groupBy(data.marks.map((mark, index) => [...mark[side], index]).filter((mark) => mark[2]), (mark) => mark[0]);
  const spans = (marks = []) => marks.map(([, column, length, index]) => [column, column + length, index]);
  const left = by("left"), right = by("right");
  const findings = Map.groupBy(data.findings, (finding) => finding.line - 1);
  let before = "equal";
  for (const row of rows) {
    row.left = data.before[row.i] ?? "";
    row.right = after[row.j] ?? "";
    row.leftTokens = leftTokens[row.i] || [];
    row.rightTokens = rightTokens[row.j] || [];
    row.leftMarks = spans(left.get(row.i));
    row.rightMarks = row.j >= 0 ? spans(right.get(row.j)) : [];
    row.findings = findings.get(row.i) || [];
    row.stop = row.findings.some((finding) => finding.severity !== "note") || (row.kind === "changed" && before === "equal");
    before = row.kind;
  }
}

// Which rows stay open: changes, findings, and a few lines around them.
function near(rows) {
  const keep = new Array(rows.length).fill(false);
  rows.forEach((row, at) => {
    if (row.kind === "changed" || row.findings.length) keep.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  return keep;
}
