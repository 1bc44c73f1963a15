// Where a training step's time goes, what is slow, and what each experiment changed.
const time = (seconds) => (seconds == null ? "–" : seconds >= 1 ? `${number(seconds, 2)} s` : seconds >= 1e-3 ? `${number(1e3 * seconds, 2)} ms` : `${number(1e6 * seconds, 2)} µs`);

views.performance = {
  render(section) {
    const told = report.performance;
    if (!told) return section.append(notRun("Not measured.", "tune"));
    const filter = filterBox("filter the operators", (query) => this.rows?.filter(query));
    this.filter = filter.input;
    section.append(el("div", { class: "page" }, el("h2", {}, "Performance"), el("p", { class: "summary" }, this.summary(told)),
      this.steps(told), this.experiments(told.experiments), this.diagnoses(told.diagnoses),
      this.operators(told.profile, filter), this.pipeline(told.profile.pipeline), this.compilations(told.profile.compilations), this.course(told)));
  },

  summary(told) {
    const { profile, reference } = told;
    return [el("code", {}, told.workload), ` on ${profile.device}: a step takes `, el("b", {}, time(profile.step_seconds)), ` in ${profile.framework}`,
      reference ? ` and ${time(reference.step_seconds)} in ${reference.framework}` : "", ` (median of ${profile.steps}). `,
      told.best != null && told.best < told.untouched ? [`With every setting that helped: `, el("b", {}, time(told.best)), ` instead of ${time(told.untouched)}, ${number(told.untouched / told.best, 2)} times as fast; losses within ${number(told.worst)}. `] : "",
      profile.peak_memory ? `Peak memory ${(profile.peak_memory / 2 ** 20).toFixed(0)} MiB.` : "", told.source ? ` Read from ${told.source}.` : "", profile.notes.map((note) => [" ", note[0].toUpperCase(), note.slice(1), "."])];
  },

  // One bar a framework, to the same scale; a phase has the same colour in both.
  steps({ profile, reference }) {
    const profiles = [profile, reference].filter((each) => each?.phases.length);
    if (!profiles.length) return "";
    const names = [...new Set(profiles.flatMap((each) => each.phases.map((phase) => phase.name)))];
    const total = (each) => each.phases.reduce((sum, phase) => sum + phase.seconds, 0);
    const longest = Math.max(...profiles.map(total)) || 1;
    const tone = (name) => `phase${name === "unattributed" ? 7 : Math.min(names.indexOf(name), 6)}`;
    return el("section", {}, el("h2", {}, "A step"), el("div", { class: "steps" }, profiles.map((each) => el("div", {}, el("span", {}, each.framework),
      el("div", { class: "track", role: "img", "aria-label": each.phases.map((phase) => `${phase.name} ${time(phase.seconds)}`).join(", ") },
        each.phases.map((phase) => el("i", { class: tone(phase.name), "--part": phase.seconds / longest, title: `${phase.name}: ${time(phase.seconds)}${phase.kernels ? `, ${time(phase.kernels)} of it in operators` : ""}. ${phase.note}` }))), el("span", { class: "time" }, time(total(each)))))),
      el("p", { class: "legend" }, profiles.length > 1 && el("span", {}, `${profiles.map((each) => each.framework).join(" / ")}:`), names.map((name) => el("span", {}, el("i", { class: tone(name) }), `${name} ${profiles.map((each) => time(each.phases.find((phase) => phase.name === name)?.seconds)).join(" / ")}`))));
  },

  section(title, items, columns, row, extra = "") {
    if (!items.length) return [];
    const rows = new Rows({ label: title, items, columns, row, text: (item) => Object.values(item).join(" ") });
    return [el("section", {}, el("h2", {}, title, el("small", {}, items.length.toLocaleString("en"))), extra, rows.node), rows];
  },

  experiments(items) {
    const tone = { faster: "ok", failed: "bad", "losses differ": "bad" };
    const longest = Math.max(...items.flatMap((each) => [each.before || 0, each.after || 0]), 1e-12);
    return this.section("Experiments", items, [{ title: "experiment", class: "mono" }, { title: "result" }, { title: "before", class: "n" }, { title: "after", class: "n" }, { title: "" }, { title: "losses within", class: "n" }, { title: "what was changed, and why it may help" }],
      (each) => [each.name, [badge(tone[each.status] || "soft", each.status), each.is_applied && badge("ok", "applied")], each.before == null ? "" : time(each.before), each.after == null ? "" : [time(each.after), each.measures === "step" ? "" : el("div", { class: "faint" }, each.measures)],
        each.before && each.after ? el("div", { class: "twobars", title: `${number(each.before / each.after, 2)} times as fast` }, el("i", { "--part": each.before / longest }), el("i", { "--part": each.after / longest })) : "",
        each.worst == null ? "" : number(each.worst), [el("b", {}, prose(each.change)), each.why ? [": ", prose(each.why)] : "", each.note && el("div", { class: "faint" }, prose(each.note)), each.command && el("div", {}, el("code", {}, each.command))]])[0] || "";
  },

  diagnoses(items) {
    return this.section("What is slow", items, [{ title: "", class: "n" }, { title: "what" }, { title: "evidence" }, { title: "what to do" }, { title: "where", class: "at" }],
      (each) => [each.share ? `${Math.round(100 * each.share)} %` : "", el("b", {}, each.title), prose(each.evidence), prose(each.advice), each.places.slice(0, 4).map((text) => el("div", {}, placeOf(text, "+")))])[0] || "";
  },

  operators(profile, filter) {
    const longest = Math.max(...profile.operators.map((each) => each.seconds), 1e-12);
    const [node, rows] = this.section("Operators", [...profile.operators].sort((a, b) => b.seconds - a.seconds), [{ title: "operator", class: "mono" }, { title: "a step", class: "n" }, { title: "", class: "bars" }, { title: "calls", class: "n" }, { title: "phase" }, { title: "module", class: "mono" }, { title: "shapes", class: "mono" }],
      (each) => [each.name, time(each.seconds), el("i", { class: "share", "--part": each.seconds / longest }), number(each.calls), each.phase, each.module, each.shapes], el("div", { class: "bar" }, filter.node));
    this.rows = rows;
    return node || "";
  },

  pipeline(items) {
    const longest = Math.max(...items.map((each) => each.seconds), 1e-12);
    return this.section("Data pipeline", items, [{ title: "operation", class: "mono" }, { title: "a batch", class: "n" }, { title: "", class: "bars" }, { title: "workers", class: "n" }, { title: "queue behind it" }],
      (each) => [each.name, time(each.seconds), el("i", { class: "share", "--part": each.seconds / longest }), String(each.workers), each.queued == null ? "" : `${number(each.queued)}${each.capacity == null ? "" : ` of ${number(each.capacity)}`} rows`])[0] || "";
  },

  compilations(items) {
    return this.section("Graphs compiled", items, [{ title: "what", class: "mono" }, { title: "where", class: "at" }, { title: "step", class: "n" }, { title: "took", class: "n" }, { title: "why" }],
      (each) => [each.name, placeOf(each.place, "+"), each.step ? String(each.step) : "before", time(each.seconds), each.reason])[0] || "";
  },

  course({ profile, reference }) {
    const lines = [[reference, "theirs"], [profile, "ours"]].filter(([each]) => each?.step_times.length > 1).map(([each, tone]) => ({ name: each.framework, class: tone, values: each.step_times.map((seconds) => seconds * 1e3) }));
    return lines.length ? chart({ title: "Milliseconds of each step", lines }) : "";
  },

  step(by) { this.rows?.step(by); },
};
