// All tables of `mindferry analyze`, one filter for all of them.
views.analysis = {
  render(section) {
    if (!report.analysis.length) return section.append(notRun("Not analyzed.", "analyze"));
    this.tables = report.analysis.map((table, index) => this.table(table, index));
    const filter = filterBox("filter the tables", (query) => {
      let left = 0;
      for (const table of this.tables) {
        const count = table.rows ? table.rows.filter(query) : 0;
        table.node.hidden = Boolean(query) && !count;
        table.entry.hidden = table.node.hidden;
        table.small.textContent = count ? count.toLocaleString("en") : "";
        left += count;
      }
      this.at = 0;
      return left;
    });
    this.filter = filter.input;
    section.append(el("div", { class: "split" },
      el("nav", { class: "side", "aria-label": "tables" }, filter.node, el("ul", {}, this.tables.map((table) => table.entry))),
      el("div", { class: "main" }, this.tables.map((table) => table.node))));
  },

  table(sheet, index) {
    const id = `table-${index}`;
    const small = el("small", {}, sheet.rows.length ? sheet.rows.length.toLocaleString("en") : "");
    const rows = sheet.rows.length ? new Rows({
      label: sheet.title, items: sheet.rows, text: (row) => row.join(" "),
      columns: sheet.columns.map((title, at) => ({ title, class: this.kind(sheet, title, at) })),
      row: (row) => row.map((cell, at) => (at === sheet.at ? placeOf(cell) : this.cell(sheet.columns[at], cell))),
    }) : null;
    const node = el("section", { id }, el("h2", {}, sheet.title, small), el("p", { class: "summary" }, prose(sheet.summary), "."), rows && rows.node);
    const entry = el("li", {}, el("a", { href: link("analysis", sheet.title) }, el("span", {}, sheet.title), el("small", {}, sheet.rows.length ? sheet.rows.length.toLocaleString("en") : "")));
    return { rows, node, small, entry, title: sheet.title };
  },

  kind(sheet, title, at) {
    if (at === sheet.at) return "at";
    if (["uses", "migrate", "keep", ""].includes(title)) return "n";
    return ["API", "becomes", "code", "name", "value"].includes(title) ? "mono" : "";
  },

  cell(column, text) {
    const state = column === "how" && { native: "ok", helper: "soft", removed: "soft", missing: "bad", unknown: "bad" }[text];
    return state ? badge(state, text) : ["API", "becomes"].includes(column) ? dotted(text) : prose(text);
  },

  show(title) {
    if (title) this.tables?.find((table) => table.title === title)?.node.scrollIntoView();
  },

  step(by) {
    const tables = (this.tables || []).filter((table) => table.rows && !table.node.hidden && table.rows.shown.length);
    if (!tables.length) return;
    this.at = Math.min(this.at || 0, tables.length - 1);
    const rows = tables[this.at].rows;
    const next = this.at + by;
    if ((rows.at + by >= rows.shown.length || rows.at + by < 0) && tables[next] && rows.at >= 0) {
      rows.leave();
      this.at = next;
      tables[next].rows.choose(by > 0 ? 0 : tables[next].rows.shown.length - 1);
    } else rows.step(by);
  },

  enter() { byId("analysis").querySelector(".current a")?.click(); },
};
