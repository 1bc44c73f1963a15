// Both loss curves, their difference, learning rate, gradient norm, and how far the weights have moved apart.
const reference = (told) => told.framework === "torch" ? "PyTorch" : told.framework;

views.training = {
  render(section) {
    const told = report.training;
    if (report.plain) this.plain(section, report.plain);
    if (!told) return section.append(notRun("Training has not been compared.", "train"));
    const title = reference(told);
    const of = (side, name) => told[side].map((step) => step[name]);
    const pair = (name) => [{ name: title, class: "theirs", values: of("reference", name) }, { name: "MindSpore", class: "ours", values: of("converted", name) }];
    const apart = told.converted.map((step, at) => this.apart(step.loss, told.reference[at]?.loss));
    let most = 0;
    const allowed = told.drift.length ? apart.map((_, at) => Math.max(told.tolerance, 3 * (most = Math.max(most, told.drift[at] ?? 0)))) : told.tolerance;
    const first = apart.findIndex((value, at) => value == null ? true : value > (Array.isArray(allowed) ? allowed[at] : allowed));
    const differ = [{ name: "loss", class: "ours", values: apart }];
    if (told.drift.length) differ.push({ name: `${title}'s float32 against its float64`, class: "theirs", values: told.drift });
    if (told.distances.length) differ.push({ name: "weights (the parameter that differs most)", class: "third", values: told.distances });
    section.append(el("div", { class: "page" }, el("h2", {}, "Training"),
      el("p", { class: "summary" }, `${plural(told.reference.length, "step")} of both scripts as they are, from the same weights and on the same batches: losses differ by at most `,
        el("b", { class: told.passed ? "" : "bad" }, number(told.worst)), ` of their value; allowed ${number(told.tolerance)}${told.drift.length ? `, or three times as far as ${title}'s own float32 is from its float64` : ""}. `,
        told.passed ? "" : el("b", { class: "bad" }, told.first_difference, ".")),
      told.reference.length + told.converted.length ? [
        chart({ title: "Loss", lines: pair("loss"), first: told.passed || first < 0 ? null : first }),
        chart({ title: "Relative difference", lines: differ, log: true, limit: allowed, limitName: "allowed for the loss" }),
        el("div", { class: "pair" }, chart({ title: "Gradient norm", lines: pair("grad_norm"), half: true }), chart({ title: "Learning rate", lines: pair("lr"), half: true })), this.table(told, apart)] : el("p", { class: "empty" }, "No step was made.")));
  },

  plain(section, told) {
    const wrong = told.finding;
    const lines = told.seeds.map((values, at) => ({ name: `${reference(told)}, seed ${at + 1}`, class: "theirs", values }));
    section.append(el("div", { class: "page" }, el("h2", {}, "The converted script as it is"),
      el("p", { class: "summary" }, el("code", {}, told.command), ` with its own data and random numbers, dropout on, no ${told.framework} in reach: ${plural(told.losses.length, "step")}. `,
        wrong ? el("b", { class: "bad" }, `${wrong.path ? `${wrong.path}:${wrong.line}: ` : ""}${wrong.message}.`) : `It ends as the original ends, and its losses lie in the band of ${reference(told)}'s seeds.`),
      told.losses.length ? chart({ title: "Loss", lines: [...lines, { name: "MindSpore", class: "ours", values: told.losses }] }) : ""));
  },

  apart(ours, theirs) {
    return ours == null || theirs == null ? (ours == null && theirs == null ? 0 : null) : Math.abs(ours - theirs) / Math.max(Math.abs(theirs), 1e-12);
  },

  table(told, apart) {
    this.rows = new Rows({
      label: "steps", items: told.reference.map((step, at) => ({ step, other: told.converted[at] || {}, at })), text: (each) => `step ${each.at + 1}`,
      columns: [{ title: "step", class: "n" }, { title: `loss: ${reference(told)}`, class: "n" }, { title: "MindSpore", class: "n" }, { title: "difference", class: "n" }, { title: `rate: ${reference(told)}`, class: "n" }, { title: "MindSpore", class: "n" }, { title: `gradient norm: ${reference(told)}`, class: "n" }, { title: "MindSpore", class: "n" }],
      row: (each) => [String(each.at + 1), number(each.step.loss, 6), number(each.other.loss, 6), number(apart[each.at]), number(each.step.lr), number(each.other.lr), number(each.step.grad_norm, 5), number(each.other.grad_norm, 5)],
    });
    return el("details", {}, el("summary", {}, "every step"), this.rows.node);
  },

  step(by) { this.rows?.step(by); },
};
