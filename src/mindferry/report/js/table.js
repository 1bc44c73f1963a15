// A table that shows its rows as they are needed, with a filter and a current row.
const CHUNK = 120;

class Rows {
  // columns: [{title, class}], row(item, index) -> cells, text(item) -> what the filter looks at, open(item): Enter or click
  constructor({ columns, items, row, text, open, label, mark, head }) {
    Object.assign(this, { items, row, text, open, mark, shown: items, drawn: 0, at: -1, query: "" });
    this.columns = columns;
    this.body = el("tbody");
    this.table = el("table", { "aria-label": label, "aria-rowcount": items.length },
      head || el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col", class: column.class }, column.title)))), this.body);
    this.node = el("div", { class: "rows" }, this.table, (this.more = el("div", { class: "more", "aria-hidden": "true" })));
    this.watcher = new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && this.draw(), { rootMargin: "1200px" });
    this.watcher.observe(this.more);
    this.draw();
  }

  draw(upTo = this.drawn + CHUNK) {
    const end = Math.min(upTo, this.shown.length);
    const part = document.createDocumentFragment();
    for (; this.drawn < end; this.drawn++) {
      const item = this.shown[this.drawn];
      const index = this.drawn;
      const line = el("tr", { "aria-rowindex": index + 1, class: this.mark?.(item) }, this.row(item, index).map((cell, at) =>
        cell instanceof HTMLTableCellElement ? cell : el("td", { class: this.columns[at].class }, cell)));
      if (this.open) line.addEventListener("click", (event) => event.target.closest("a") || this.choose(index, true));
      part.append(line);
    }
    this.body.append(part);
    this.more.hidden = this.drawn >= this.shown.length;
    if (!this.shown.length) this.body.append(el("tr", {}, el("td", { class: "none", colspan: this.columns.length }, "nothing matches")));
  }

  filter(query, keep = () => true) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.items.filter((item) => keep(item) && words.every((word) => this.text(item).toLowerCase().includes(word)));
    this.body.replaceChildren();
    this.drawn = 0;
    this.at = -1;
    this.draw();
    return this.shown.length;
  }

  step(by) {
    if (this.shown.length) this.choose(Math.max(0, Math.min(this.shown.length - 1, this.at + by)), Boolean(this.open));
  }

  choose(index, opens = false) {
    if (index >= this.drawn) this.draw(index + CHUNK);
    this.body.querySelector(".current")?.classList.remove("current");
    this.at = index;
    const line = this.body.children[index];
    line.classList.add("current");
    line.scrollIntoView({ block: "nearest" });
    if (opens) this.open(this.shown[index]);
  }

  enter() {
    this.body.querySelector(".current a")?.click();
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
