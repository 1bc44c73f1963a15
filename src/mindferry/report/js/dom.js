// Builds elements. Text from the project only ever becomes text nodes, never markup.
const el = (tag, attributes = {}, ...children) => {
  const node = tag.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false && child !== ""));
  return node;
};

// `code` in backticks, the rest as it is.
const prose = (text) => String(text).split("`").map((part, index) => (index % 2 ? el("code", {}, part) : part));

// A dotted name that may break after its dots.
const dotted = (text) => text.split(/(?<=\.)/).map((part, index) => (index ? [el("wbr"), part] : part));

const byId = (id) => document.getElementById(id);
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

// 1.2e-7, or 0.25 where that is shorter; null is what JSON makes of NaN.
const number = (value, digits = 2) => {
  if (value == null) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 0.001 && size < 1e5 ? String(+value.toPrecision(digits + 1)) : value.toExponential(digits - 1);
};

const badge = (state, text) => el("span", { class: `badge ${state}` }, text);

const empty = (what, command) =>
  el("p", { class: "empty" }, prose(command ? `${what} Run \`${command}\`, then \`mindferry report\` again.` : what));
