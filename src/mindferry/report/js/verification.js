// The module tree as a heat map: how much of its tolerance each module used, forward and gradient.
const GROUP_TITLES = { forward: "Forward", gradient: "Gradient", parameters: "Gradient of parameters", statistics: "Running statistics", update: "Optimizer update" };
const share = (cell) => (!cell ? -1 : !cell[2] && !(cell[0] > cell[1]) ? Infinity : cell[1] ? cell[0] / cell[1] : cell[0] ? Infinity : 0);
const own = (module) => module[1].some((cell, at) => report.modules.columns[at].measure === "own" && share(cell) > 1);
const worst = (module) => Math.max(...module[1].map(share), module[2] ? -1 : 1.01);

// 0 to 100: a hundredth of the tolerance or less is blank, all of it is full.
const heat = (portion) => Math.round(portion <= 0 ? 0 : 100 * Math.max(0, Math.min(1, 1 + Math.log10(portion) / 2)));

views.verification = {
  render(section) {
    const told = report.verification;
    if (!told) {
      section.append(notRun("The network has not been compared.", "verify"));
      if (report.data || report.export) section.append(el("div", { class: "page" }, this.data(), this.exported()));
      return;
    }
    this.modules = report.modules.modules;
    this.panel = el("aside", { class: "panel", "aria-live": "polite", "aria-label": "the chosen module" }, el("p", { class: "faint" }, "Choose a module for its values."));
    section.append(el("div", { class: "page" },
      el("h2", {}, "Verification"), el("p", { class: "summary" }, this.summary(told)),
      told.notes.length ? el("ul", { class: "notes" }, told.notes.map((note) => el("li", {}, prose(note)))) : "",
      this.divergence(told), this.strip(), this.explain(),
      el("div", { class: "withpanel" }, el("div", {}, this.table()), this.panel), this.unmatched(told), this.data(), this.exported()));
  },

  summary(told) {
    const failed = told.values.filter((row) => !row.passed).length;
    const predictions = told.predictions;
    return [`Same weights, same inputs (`, el("code", {}, told.inputs), `) through `, el("code", {}, told.model), ` in both frameworks: `,
      failed ? el("b", { class: "bad" }, `${failed.toLocaleString("en")} of ${plural(told.values.length, "tensor")} differ. `) : `all ${plural(told.values.length, "tensor")} are within tolerance. `,
      this.output(told),
      predictions ? `${predictions.agree} of ${predictions.samples} predictions are equal; accuracy ${(100 * predictions.reference_accuracy).toFixed(2)} % in torch, ${(100 * predictions.accuracy).toFixed(2)} % in MindSpore. ${predictions.note}` : ""];
  },

  // Both in float32, as a user would compare them; the table below is against torch in float64.
  output(told) {
    const rows = told.values.filter((row) => row.kind === "network" && row.max_abs != null);
    const most = rows.reduce((one, other) => (one && one.max_abs >= other.max_abs ? one : other), null);
    return most ? `The outputs of the two differ by at most ${number(most.max_abs)}, ${number(most.max_rel)} of the largest one. ` : "";
  },

  data() {
    if (!report.data?.length) return "";
    const rows = new Rows({
      label: "data pipelines", items: report.data, text: (each) => each.name,
      columns: [{ title: "pipeline", class: "mono" }, { title: "result" }, { title: "batches compared", class: "n" }, { title: "largest difference", class: "n" }, { title: "places" }],
      row: (each) => [each.name, each.passed ? badge("ok", "same") : badge("bad", "differs"), each.compared.toLocaleString("en"), number(each.largest),
        [each.differences.slice(0, 5).map((found) => el("div", { class: "bad" }, `${found.where}: ${found.what}: ${found.detail}`)), each.places.join("; ")]],
    });
    return el("section", { class: "also" }, el("h2", {}, "Data pipelines"), el("p", { class: "summary" }, "Each side's own pipeline over the same files, batch by batch. Random ones draw the same order of samples; what an augmentation changes is compared by mean and spread."), rows.node);
  },

  exported() {
    if (!report.export?.files.length) return "";
    const rows = new Rows({
      label: "exported files", items: report.export.files, text: (each) => each.path,
      columns: [{ title: "form" }, { title: "result" }, { title: "inputs compared", class: "n" }, { title: "largest difference", class: "n" }, { title: "MiB", class: "n" }, { title: "file", class: "mono" }],
      row: (each) => [each.form, each.passed ? badge("ok", "same") : each.path ? badge("bad", "differs") : badge("soft", "not made"), String(each.inputs), each.path ? number(each.worst) : "", each.path ? (each.size / 2 ** 20).toFixed(1) : "",
        [each.path, each.reason && el("div", { class: "faint" }, prose(each.reason.split(/\n| ---/)[0])), each.note && el("div", { class: "faint" }, prose(each.note))]],
    });
    return el("section", { class: "also" }, el("h2", {}, "Exported files"), el("p", { class: "summary" }, "Reloaded in a fresh process and compared with the cell that they were made from."), rows.node);
  },

  divergence(told) {
    if (told.passed) return "";
    if (told.outcome === "same as far as compared") return el("div", { class: "divergence" }, el("h3", {}, "Same as far as compared"),
      el("p", {}, "Not compared:"), el("ul", {}, told.gaps.map((line) => el("li", {}, line))));
    const others = told.culprits.filter((name) => name !== told.first_divergence);
    return el("div", { class: "divergence" }, el("h3", {}, "First divergence: ",
      told.first_divergence ? el("a", { href: link("verification", told.first_divergence) }, told.first_divergence) : "the predictions"),
      others.length ? el("p", {}, "Also wrong by themselves: ", others.slice(0, 8).map((name, index) => [index ? ", " : "", el("a", { href: link("verification", name) }, name)]), others.length > 8 ? `, and ${others.length - 8} more` : "") : "",
      told.diagnosis.length ? el("pre", {}, told.diagnosis.join("\n")) : "",
      told.script ? el("details", {}, el("summary", {}, "a script that shows it alone"), el("pre", {}, told.script)) : "");
  },

  // One thin bar a module, as they run; its height and colour tell the share of the tolerance.
  strip() {
    const modules = this.modules.filter((module) => module[4].length).sort((a, b) => a[4][0] - b[4][0]);
    if (!modules.length) return "";
    const first = modules.findIndex((module) => module[3]);
    const flag = first >= 0 ? el("span", { class: "flag", "--at": (first + 0.5) / modules.length }, "first divergence") : "";
    const gap = modules.length > 400 ? 0 : 0.12;
    const picture = el("svg:svg", { viewBox: `0 0 ${modules.length} 100`, preserveAspectRatio: "none", role: "img", "aria-label": `${plural(modules.length, "module")} as they run; ${modules.filter((module) => !module[2]).length} of them fail` },
      modules.map((module, index) => {
        const portion = worst(module), high = Math.max(4, heat(Math.min(portion, 1)));
        return el("svg:rect", { x: index + gap / 2, y: 100 - high, width: 1 - gap, height: high, class: portion <= 1 ? "" : own(module) ? "over own" : "over" });
      }));
    const under = (event) => modules[Math.max(0, Math.min(modules.length - 1, Math.floor((event.offsetX / picture.clientWidth) * modules.length)))][0] || "the network";
    picture.addEventListener("click", (event) => this.choose(under(event)));
    picture.addEventListener("mousemove", (event) => showCard(event.target, [el("b", {}, under(event))]));
    picture.addEventListener("mouseleave", hideCard);
    return el("div", { class: "strip" }, flag, picture, el("p", { class: "legend" }, el("span", {}, "share of the tolerance used, as the height of a module's bar, in the order they run, and as the colour of a cell:"),
      [0.01, 0.1, 0.5, 1].map((portion) => el("span", {}, el("i", { class: "cell", "--heat-share": `${heat(portion)}%` }), `${portion * 100} %`)), el("span", {}, el("i", { class: "cell over own" }), "more, by itself"), el("span", {}, el("i", { class: "cell over inherited" }), "more, inherited")));
  },

  explain() {
    const rows = report.verification.values.filter((row) => row.tolerance != null);
    const lowest = rows.length ? Math.min(...rows.map((row) => row.tolerance)) : 5e-6;
    return el("details", { class: "explain" }, el("summary", {}, "How close is close enough: own and inherited errors, and how tolerances are measured"),
      el("p", {}, "Tolerances are measured, not guessed. The reference also runs in float64. A tensor passes if its error is at most k = 4 times the error that the original's own float32 makes against that at the same place, and it never has to be better than a floor, here ",
        el("b", {}, number(lowest)), ", some forty roundings of float32. Errors are relative to the largest value of the tensor. Sums over many values (gradients of parameters, running statistics, updates) have a higher floor."),
      el("p", {}, el("b", {}, "Own"), ": the module gets the reference's own input, and the reference's own gradient comes back to it. What is off, this module did. ",
        el("b", {}, "Inherited"), ": the network as it runs. Errors add up from module to module, in the original as well."),
      el("p", {}, "A first look runs the first mode whole and the last one module by module; if anything is above the floor there, everything is run in full."));
  },

  table() {
    const columns = report.modules.columns;
    const several = new Set(columns.map((column) => column.mode)).size > 1;
    const groups = [...Map.groupBy(columns, (column) => column.group)];
    const head = el("thead", {}, el("tr", {}, el("th", { rowspan: 2, scope: "col" }, "module"), groups.map(([group, of]) => el("th", { colspan: of.length, scope: "colgroup", class: "group" }, GROUP_TITLES[group]))),
      el("tr", {}, columns.map((column) => el("th", { scope: "col", class: "heat" }, column.measure, several && el("small", {}, column.mode)))));
    this.rows = new Rows({
      label: "modules", items: this.modules, head, columns: [{ title: "module" }, ...columns.map(() => ({ title: "", class: "heat" }))],
      text: (module) => module[0] || "the network", mark: (module) => (module[3] ? "culprit" : module[2] ? "" : "failed"),
      row: (module) => [el("th", { scope: "row", class: "module", "--depth": this.flat || !module[0] ? 0 : module[0].split(".").length }, this.name(module)),
        ...module[1].map((cell, at) => this.cell(cell, columns[at]))],
      open: (module) => this.detail(module),
    });
    const order = el("select", { "aria-label": "order", onchange: () => this.sort(order.value) },
      el("option", { value: "tree" }, "as the network runs"), el("option", { value: "worst" }, "worst first"), el("option", { value: "failed" }, "failing only"));
    const filter = filterBox("filter the modules", (query) => this.rows.filter(query, (module) => order.value !== "failed" || !module[2]));
    this.filter = filter.input;
    this.update = filter.update;
    return [el("div", { class: "bar" }, filter.node, order), this.rows.node];
  },

  name(module) {
    if (!module[0]) return "the network";
    const cut = module[0].lastIndexOf(".") + 1;
    return [this.flat || this.rows?.query ? el("span", { class: "faint" }, module[0].slice(0, cut)) : "", module[0].slice(cut), module[3] ? badge("bad", module[0] === report.verification.first_divergence ? "first divergence" : "wrong by itself") : ""];
  },

  cell(cell, column) {
    if (!cell) return el("td", { class: "heat" });
    const portion = share(cell);
    return el("td", { class: `heat cell ${portion > 1 ? `over ${column.measure}` : ""}`, "--heat-share": `${heat(portion)}%`, title: `${number(cell[0])} of ${number(cell[1])} allowed` }, cell[0] === 0 ? el("span", { class: "faint" }, "0") : number(cell[0]));
  },

  sort(order) {
    this.flat = order !== "tree";
    this.rows.items = order === "worst" ? [...this.modules].sort((a, b) => own(b) - own(a) || worst(b) - worst(a)) : this.modules;
    this.update();
  },

  show(path) {
    if (path && this.rows) this.choose(path);
    else if (this.rows && this.rows.at < 0) this.detail(this.modules.find((module) => module[3]) || [...this.modules].sort((a, b) => worst(b) - worst(a))[0]);
  },

  choose(path) {
    const find = () => this.rows.shown.findIndex((module) => module[0] === (path === "the network" ? "" : path));
    let index = find();
    if (index < 0) {
      this.filter.value = "";
      this.sort("tree");
      index = find();
      if (index < 0 && path.includes(".")) return this.choose(path.slice(0, path.lastIndexOf("."))); // a parameter: its module
    }
    if (index >= 0) this.rows.choose(index);
  },

  step(by) { this.rows?.step(by); },

  detail(module) {
    if (!module) return;
    const rows = module[4].map((index) => report.verification.values[index]);
    const title = (row) => (["parameter", "buffer", "update"].includes(row.kind) ? `${{ parameter: "gradient of ", update: "update of " }[row.kind] || ""}${row.name.slice(row.name.lastIndexOf(".") + 1)}` : row.kind === "network" ? "output, both in float32" : row.kind);
    const measures = (row) => [["inherited", row.max_rel, row.tolerance, row.reference_error, row.own_only], ["own", row.own_error, row.own_tolerance, row.own_reference_error, row.own_error == null]].filter((each) => !each[4]);
    const lines = (row) => [el("tr", { class: "what" }, el("th", { colspan: 4, scope: "rowgroup" }, el("b", {}, title(row)), ` ${row.mode}${row.call ? `, call ${row.call + 1}` : ""} `, el("span", { class: "faint" }, row.shape.join("×")))),
      measures(row).map(([name, error, allowed, reference]) => el("tr", { class: error > allowed ? "bad" : "" }, el("th", { scope: "row" }, name), [error, allowed, reference].map((value) => el("td", {}, number(value))))),
      row.note || (row.cosine != null && row.cosine < 0.999) ? el("tr", {}, el("td", { colspan: 4, class: "said" }, row.note ? el("span", { class: "bad" }, row.note, " ") : "", row.cosine != null && row.cosine < 0.999 ? `cosine ${row.cosine.toFixed(4)}` : "")) : ""];
    this.panel.replaceChildren(el("h3", {}, module[0] || "the network"),
      rows.length ? el("table", {}, el("thead", {}, el("tr", {}, ["", "MindSpore", "allowed", "torch float32"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows.slice(0, 60).map(lines)))
        : el("p", { class: "faint" }, "Nothing is measured here, only in its children."),
      rows.some((row) => measures(row).some(([, , , reference]) => reference == null)) ? el("p", { class: "faint" }, "–: not measured, because the error is below the floor already") : "",
      rows.length > 60 ? el("p", { class: "faint" }, `and ${rows.length - 60} more values`) : "");
    this.panel.scrollTop = 0;
  },

  unmatched(told) {
    return told.unmatched.length ? el("details", { class: "fault", open: true }, el("summary", {}, el("b", {}, String(told.unmatched.length)), " modules that only one side has"),
      el("ul", { class: "names" }, told.unmatched.map((name) => el("li", {}, name)))) : "";
  },
};
