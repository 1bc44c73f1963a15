// The verdict, the figures, what is left to do, and what each stage did.
views.overview = {
  render(section) {
    const told = report.overview;
    section.append(
      el("div", { class: `verdict ${told.state}` },
        el("p", { class: "kicker", title: `${report.source} → ${report.output}` }, [report.source, report.output].filter(Boolean).map((path) => path.split("/").pop() || path).join(" → ")),
        el("h1", {}, told.verdict), told.detail && el("p", { class: "detail" }, prose(told.detail))),
      el("ul", { class: "figures", "aria-label": "figures" }, told.figures.map((figure) =>
        el("li", { class: figure.state }, el("a", { href: link(figure.tab) }, el("b", {}, figure.value), el("span", {}, figure.label))))),
      told.notes.length ? el("ul", { class: "notes" }, told.notes.map((note) => el("li", {}, prose(note)))) : "",
      ...this.tasks(told), el("div", { class: "halves" }, this.stages(told), this.migrated(told)));
  },

  tasks(told) {
    const list = (tasks, title, kind) => tasks.length ? el("section", {},
      el("h2", {}, title, el("small", {}, tasks.length.toLocaleString("en"))),
      this.list(tasks, kind)) : "";
    const nothing = told.todo.length ? "" : el("section", {}, el("h2", {}, "Left to do"), el("p", { class: "nothing" }, "Nothing."));
    return [nothing, list(told.todo, "Left to do", "todo"), list(told.warnings, "Worth a look", "warned"), list(told.unmeasured, "Not compared yet", "later")];
  },

  list(tasks, kind) {
    const rows = new Rows({
      label: { todo: "left to do", warned: "worth a look", later: "not compared yet" }[kind], items: tasks.map((task, index) => ({ ...task, index })),
      columns: [{ title: "", class: "rank" }, { title: "where", class: "at" }, { title: "what" }, { title: "what to do" }],
      row: (task) => [String(task.index + 1), task.path ? place(task.path, task.line) : el("a", { href: link(stageTab(task.stage)) }, task.stage),
        [task.code && el("code", { class: "finding" }, task.code), " ", prose(task.what)], prose(task.how)],
      text: (task) => `${task.path} ${task.what} ${task.how} ${task.code}`,
    });
    this.first = this.first || rows;
    return el("div", { class: kind }, rows.node);
  },

  step(by) { this.first?.step(by); },
  enter() { this.first?.enter(); },

  stages(told) {
    return el("section", {}, el("h2", {}, "Stage by stage"), el("table", { class: "stages" }, el("tbody", {}, told.stages.map((stage) =>
      el("tr", { class: stage.state }, el("th", { scope: "row" }, el("i", { class: `dot ${stage.state}`, "aria-hidden": "true" }), el("a", { href: link(stage.tab) }, stage.stage)),
        el("td", {}, prose(stage.summary)))))));
  },

  migrated(told) {
    const total = Object.values(told.kinds).reduce((sum, count) => sum + count, 0);
    const words = { native: "to MindSpore's own", helper: "to helpers written into the project", removed: "taken away", missing: "left" };
    const files = report.files.filter((file) => file.status !== "not converted");
    return el("section", {}, el("h2", {}, "What was migrated"),
      total ? el("div", { class: "shares", role: "img", "aria-label": Object.entries(told.kinds).map(([kind, count]) => `${count} ${words[kind] || kind}`).join(", ") },
        Object.entries(told.kinds).map(([kind, count]) => el("i", { class: kind, "--share": count }))) : "",
      total ? el("p", { class: "legend" }, Object.entries(told.kinds).map(([kind, count]) =>
        el("span", {}, el("i", { class: kind }), `${count} ${words[kind] || kind}`))) : "",
      files.length ? el("table", { class: "files" }, el("tbody", {}, files.slice(0, 12).map((file) => el("tr", {},
        el("td", {}, place(file.path)), el("td", {}, file.status), el("td", { class: "n" }, file.rewrites ? plural(file.rewrites, "rewrite") : ""),
        el("td", { class: "n" }, file.errors ? badge("bad", plural(file.errors, "call") + " left") : ""))))) : el("p", { class: "nothing" }, "No file."),
      files.length > 12 ? el("p", {}, el("a", { href: link("code") }, `all ${files.length.toLocaleString("en")} files`)) : "");
  },
};
// In place of a tab whose stage left nothing: what it said, or the command that runs it.
const notRun = (what, stage) => {
  const told = report.overview.stages.find((each) => each.stage === stage);
  return told?.state === "look" ? empty(`${what} ${stage} ${told.summary}.`) : empty(what, (told?.summary.match(/`(.*)`/) || [])[1]);
};
const stageTab = (stage) => report.overview.stages.find((each) => each.stage === stage)?.tab || "overview";
