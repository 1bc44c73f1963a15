// Which parameter became which; what found no place comes first.
views.weights = {
  render(section) {
    const told = report.weights;
    if (!told) return section.append(notRun("No weights were carried.", "weights"));
    const faults = told.unmatched.filter((lost) => lost.is_fault);
    section.append(el("div", { class: "page" },
      el("h2", {}, "Weights"), el("p", { class: "summary" }, `${plural(told.parameters.length, "parameter")} with ${plural(told.total, "value")} carried from `,
        el("code", {}, told.source), " to ", el("code", {}, told.output), ". ",
        faults.length ? el("b", { class: "bad" }, `${faults.length} found no place. `) : "Every one found its place. ",
        told.note ? [told.note[0].toUpperCase(), told.note.slice(1), "."] : told.differing ? `${plural(told.differing, "parameter")} with other statistics on the two sides.` : "Lowest, highest, mean and deviation are the same on both sides, one by one."),
      this.unmatched(told), this.matched(told)));
  },

  unmatched(told) {
    if (!told.unmatched.length) return "";
    const groups = Map.groupBy(told.unmatched, (lost) => lost.why);
    return [...groups].map(([why, lost]) => el("details", { open: lost[0].is_fault, class: lost[0].is_fault ? "fault" : "" },
      el("summary", {}, el("b", {}, lost.length.toLocaleString("en")), ` ${why}`),
      el("ul", { class: "names" }, lost.slice(0, 500).map((each) => el("li", {}, each.name)), lost.length > 500 && el("li", {}, `and ${lost.length - 500} more`))));
  },

  matched(told) {
    const moments = (side) => (side ? [side.low, side.high, side.mean, side.std].map((value) => number(value, 3)) : ["–", "–", "–", "–"]);
    const words = { exact: "name", cell: "layer", record: "record", structure: "structure", pattern: "pattern", map: "your map" };
    const hows = [...new Set(told.parameters.map((each) => each.how))];
    const choice = el("select", { "aria-label": "how it was matched", onchange: () => filter.update() },
      el("option", { value: "" }, "all"), el("option", { value: "renamed" }, "renamed"), told.differing && el("option", { value: "differs" }, "other statistics"),
      hows.map((how) => el("option", { value: how }, `by ${words[how] || how}`)));
    this.rows = new Rows({
      label: "parameters", items: told.parameters, text: (each) => `${each.source} ${each.target} ${each.dtype} ${each.how} ${each.shape.join("×")}`,
      columns: [{ title: "torch", class: "mono" }, { title: "MindSpore", class: "mono" }, { title: "shape", class: "mono" }, { title: "type" }, { title: "matched by" },
        { title: "lowest", class: "n" }, { title: "highest", class: "n" }, { title: "mean", class: "n" }, { title: "deviation", class: "n" }, { title: "", class: "agree" }],
      row: (each) => [each.source, this.renamed(each), each.shape.join("×") || "scalar", each.dtype, words[each.how] || each.how, ...moments(each.before),
        !each.before || !each.after ? "" : each.agrees ? el("span", { class: "ok", title: "the same statistics on both sides" }, "=") : el("span", { class: "bad", title: `MindSpore: ${moments(each.after).join(", ")}` }, "≠")],
    });
    const filter = filterBox("filter the parameters", (query) => this.rows.filter(query, (each) =>
      !choice.value || (choice.value === "renamed" ? each.source !== each.target : choice.value === "differs" ? each.before && each.after && !each.agrees : each.how === choice.value)));
    this.filter = filter.input;
    return [el("div", { class: "bar" }, filter.node, choice), this.rows.node];
  },

  // Only the part of the name that changed stands out.
  renamed(each) {
    if (each.source === each.target) return el("span", { class: "faint" }, each.target);
    let same = 0;
    while (each.source[same] === each.target[same]) same++;
    same = each.target.lastIndexOf(".", same) + 1;
    return [el("span", { class: "faint" }, each.target.slice(0, same)), el("b", {}, each.target.slice(same))];
  },

  step(by) { this.rows?.step(by); },
};
