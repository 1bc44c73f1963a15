// A table that holds the rows near the window, with a filter and a current row. Far away chunks keep their height only.
const CHUNK = 120;
const NEAR = { rootMargin: "1500px 0px" };

class Rows {
  static all = [];

  // columns: [{title, class}], row(item) -> cells, text(item) -> what the filter looks at, open(item): on a click or step
  constructor({ columns, items, row, text, open, label, mark, head }) {
    Object.assign(this, { columns, items, row, text, open, mark, shown: items, chunks: [], drawn: 0, at: -1 });
    this.table = el("table", { "aria-label": label, "aria-rowcount": items.length }, (this.widths = el("colgroup", {}, columns.map(() => el("col")))),
      head || el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col", class: column.class }, column.title)))));
    this.node = el("div", { class: "rows" }, this.table, (this.more = el("div", { class: "more", "aria-hidden": "true" })));
    this.end = new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && this.draw(), NEAR);
    this.near = new IntersectionObserver((seen) => seen.forEach((entry) => this.turn(entry)), NEAR);
    Rows.all.push(this);
    this.draw();
  }

  draw(upTo = this.drawn + CHUNK) {
    if (this.drawn) this.freeze();
    while (this.drawn < Math.min(upTo, this.shown.length)) {
      const chunk = { from: this.drawn, to: Math.min(this.drawn + CHUNK, this.shown.length), body: el("tbody") };
      chunk.body.chunk = chunk;
      this.fill(chunk);
      this.table.append(chunk.body);
      this.near.observe(chunk.body);
      this.chunks.push(chunk);
      this.drawn = chunk.to;
    }
    if (!this.shown.length) this.table.append(el("tbody", {}, el("tr", {}, el("td", { class: "none", colspan: this.columns.length }, "nothing matches"))));
    this.end.unobserve(this.more); // it tells of changes only: if the end is still near, it has to be asked anew
    if (this.drawn < this.shown.length) this.end.observe(this.more);
  }

  fill(chunk) {
    chunk.isFull = true;
    chunk.body.replaceChildren(...this.shown.slice(chunk.from, chunk.to).map((item, offset) => {
      const index = chunk.from + offset;
      const line = el("tr", { "aria-rowindex": index + 1, class: this.mark?.(item) }, this.row(item).map((cell, at) =>
        cell instanceof HTMLTableCellElement ? cell : el("td", { class: this.columns[at].class }, cell)));
      if (index === this.at) line.classList.add("current");
      if (this.open) line.addEventListener("click", (event) => event.target.closest("a") || this.choose(index));
      return line;
    }));
  }

  turn({ target, isIntersecting, boundingClientRect: { height } }) {
    const chunk = target.chunk;
    if (isIntersecting && !chunk.isFull) this.fill(chunk);
    else if (!isIntersecting && chunk.isFull && height && !this.isOnPaper) {
      chunk.isFull = false;
      chunk.body.replaceChildren(el("tr", {}, el("td", { class: "gap", colspan: this.columns.length, "--high": `${height}px` })));
    }
  }

  // The columns of a long table keep the widths that its first rows gave them, so that nothing shifts.
  freeze() {
    if (this.isFrozen || !this.table.offsetWidth) return;
    this.isFrozen = true;
    const cells = [...this.chunks[0].body.rows[0].cells].map((cell) => cell.offsetWidth / this.table.offsetWidth);
    cells.forEach((part, at) => (this.widths.children[at].style.width = `${100 * part}%`));
    this.table.classList.add("frozen");
  }

  // All rows at once, for the printer, until told otherwise.
  onPaper(isOn) {
    this.isOnPaper = isOn;
    if (!isOn) return;
    this.draw(Infinity);
    for (const chunk of this.chunks) if (!chunk.isFull) this.fill(chunk);
  }

  filter(query, keep = () => true) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.items.filter((item) => keep(item) && words.every((word) => this.text(item).toLowerCase().includes(word)));
    this.near.disconnect();
    for (const body of [...this.table.tBodies]) body.remove();
    Object.assign(this, { chunks: [], drawn: 0, at: -1 });
    this.draw();
    return this.shown.length;
  }

  step(by) {
    if (this.shown.length) this.choose(Math.max(0, Math.min(this.shown.length - 1, this.at + by)));
  }

  choose(index) {
    this.leave();
    if (index >= this.drawn) this.draw(index + 1);
    this.at = index;
    const chunk = this.chunks[Math.floor(index / CHUNK)];
    if (!chunk.isFull) this.fill(chunk);
    const line = chunk.body.children[index - chunk.from];
    line.classList.add("current");
    line.scrollIntoView({ block: "nearest" });
    this.open?.(this.shown[index]);
  }

  leave() {
    this.table.querySelector(".current")?.classList.remove("current");
    this.at = -1;
  }

  enter() {
    this.table.querySelector(".current a")?.click();
  }
}

// A filter box with the number of rows that are left; changed(query) -> that number, or nothing.
function filterBox(label, changed) {
  const count = el("output", { class: "count" });
  let waiting = 0;
  const input = el("input", { type: "search", placeholder: "filter   /", "aria-label": label, spellcheck: "false", autocomplete: "off",
    oninput: () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => update(), 60);
    },
    onkeydown: (event) => event.key === "Escape" && (input.value ? ((input.value = ""), update()) : input.blur()) });
  const update = () => {
    const left = changed(input.value);
    count.textContent = input.value && left != null ? `${left.toLocaleString("en")} left` : "";
  };
  return { node: el("label", { class: "filter" }, input, count), input, update };
}
