// Keyboard: tabs by number, j and k, / for the filter, ? for this list.
const KEYS = [
  ["1 … 7", "tabs, left to right"], ["j  k", "next, previous: change in the code, row elsewhere"], ["Enter", "follow the current row's link"],
  ["]  [", "next, previous file in the code"], ["/", "filter; Esc clears it"], ["w", "whole file or changes only"], ["t", "light, dark, as the system"], ["?", "this list"],
];

function drawHelp() {
  byId("help").append(el("h2", {}, "Keys"), el("dl", {}, KEYS.map(([key, what]) => [el("dt", {}, key.split("  ").map((each) => el("kbd", {}, each))), el("dd", {}, what)])),
    el("form", { method: "dialog" }, el("button", {}, "close")));
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  byId("theme").textContent = { light: "light", dark: "dark" }[theme] || "auto";
  remember("theme", theme);
}
const nextTheme = () => setTheme({ "": "light", light: "dark", dark: "" }[document.documentElement.dataset.theme || ""]);

// Storage may be closed to pages from disk; then nothing is remembered.
function remember(name, value) { try { localStorage.setItem(`mindferry-${name}`, value); } catch { /* see above */ } }
function recall(name) { try { return localStorage.getItem(`mindferry-${name}`) || ""; } catch { return ""; } }

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open || event.target.closest?.("input, select, textarea")) return;
  const view = views[current];
  const actions = {
    j: () => view.step?.(1), k: () => view.step?.(-1), "/": () => view.filter?.focus(), "?": () => byId("help").showModal(), t: nextTheme,
    "]": () => view.file?.(1), "[": () => view.file?.(-1), w: () => view.unfold?.(), Enter: () => event.target === document.body && view.enter?.(), Escape: hideCard,
  };
  if (/^[1-7]$/.test(event.key)) openTab(TABS[event.key - 1][0], "");
  else if (actions[event.key]) actions[event.key]();
  else return;
  if (event.key !== "Enter") event.preventDefault();
});
