// Tabs, and the address after #: tab/argument. A tab is rendered when it is first shown.
const TABS = [
  ["overview", "Overview"], ["analysis", "Analysis"], ["code", "Code"], ["weights", "Weights"],
  ["verification", "Verification"], ["training", "Training"], ["performance", "Performance"],
];
const views = {}; // tab -> { render(section), show?(argument), step?(by), filter?: input }
const rendered = new Set();
let current = "overview";

const link = (tab, argument = "") => `#${tab}${argument && "/"}${encodeURIComponent(argument).replaceAll("%2F", "/").replaceAll("%3A", ":")}`;

// The worst of a tab's stages; one that has not run counts only where none has.
const GRAVITY = ["absent", "ok", "warn", "look"];
const STATES = {};
for (const { tab, state } of report.overview.stages) STATES[tab] = GRAVITY[Math.max(GRAVITY.indexOf(state), GRAVITY.indexOf(STATES[tab]))];

function drawTabs() {
  const list = byId("tabs");
  for (const [id, title] of TABS) {
    const state = id === "overview" ? "" : STATES[id];
    const told = { ok: "in order", warn: "worth a look", look: "needs you", absent: "not run" }[state];
    list.append(el("a", { role: "tab", id: `tab-${id}`, href: link(id), "aria-controls": id, "aria-selected": "false", tabindex: -1, title: told },
      state && el("i", { class: `dot ${state}`, "aria-hidden": "true" }), title));
  }
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const index = TABS.findIndex(([id]) => id === current);
    const next = event.key === "Home" ? 0 : event.key === "End" ? TABS.length - 1 : by && (index + by + TABS.length) % TABS.length;
    if (next == null) return;
    event.preventDefault();
    openTab(TABS[next][0], "");
    byId(`tab-${TABS[next][0]}`).focus();
  });
}

function ensure(tab) {
  if (rendered.has(tab)) return;
  rendered.add(tab);
  views[tab].render(byId(tab));
}

function openTab(tab, argument) {
  history.pushState(null, "", link(tab, argument));
  follow();
}

function follow() {
  const [, tab = "overview", argument = ""] = location.hash.match(/^#([a-z]+)(?:\/(.*))?$/) || [];
  current = views[tab] ? tab : "overview";
  for (const [id] of TABS) {
    const chosen = id === current;
    byId(id).hidden = !chosen;
    byId(`tab-${id}`).setAttribute("aria-selected", String(chosen));
    byId(`tab-${id}`).tabIndex = chosen ? 0 : -1;
  }
  hideCard();
  ensure(current);
  let told = argument;
  try { told = decodeURIComponent(argument); } catch { /* typed by hand: take it as it is */ }
  if (!argument) scrollTo(0, 0);
  views[current].show?.(told);
}

// Where a place in the project is shown, or null if its file is not in the report.
const fileIndex = new Map(report.files.map((file, index) => [file.path, index]));
function place(path, line) {
  if (!path) return "";
  const text = line ? `${path}:${line}` : path;
  return fileIndex.has(path) ? el("a", { class: "place", href: link("code", text) }, text) : el("span", { class: "place" }, text);
}
function placeOf(text, side = "") {
  const [, path, line] = text.match(/^(.*):(\d+)$/) || [null, text, ""];
  if (!fileIndex.has(path)) return text;
  return el("a", { class: "place", href: link("code", line ? `${path}:${side}${line}` : path) }, text);
}
