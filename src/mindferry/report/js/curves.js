// A chart with lines over steps, as SVG: axes that fit, a cursor that reads all lines at once.
const CHART = { high: 190, left: 62, right: 12, top: 10, bottom: 20 };

// Drawn anew when its place on the page gets another width, so that text keeps its size.
function chart(told) {
  const whole = Math.min(1280, innerWidth) - 48; // as .page has it
  let width = told.half && whole > 876 ? (whole - 36) / 2 : whole;
  let [caption, picture] = drawChart({ ...told, wide: width });
  const figure = el("figure", { class: "chart" }, caption, picture);
  new ResizeObserver(([entry]) => requestAnimationFrame(() => {
    const now = Math.round(entry.contentRect.width);
    if (now < 200 || Math.abs(now - width) < 0.03 * width) return;
    width = now;
    [caption, picture] = drawChart({ ...told, wide: now });
    figure.replaceChildren(caption, picture);
  })).observe(figure);
  return figure;
}

function drawChart({ title, lines, log = false, limit = null, limitName = "", first = null, wide }) {
  const steps = Math.max(...lines.map((line) => line.values.length), 1);
  const fits = (value) => value != null && Number.isFinite(value);
  const values = [...lines.flatMap((line) => line.values), ...(limit ? [].concat(limit) : [])].filter((value) => fits(value) && (!log || value > 0));
  if (!values.length) return [el("figcaption", {}, title), el("p", { class: "faint" }, "nothing to draw: every value is zero or not a number")];
  const scale = log ? Math.log10 : (value) => value;
  let low = Math.min(...values.map(scale)), high = Math.max(...values.map(scale));
  if (log) [low, high] = [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
  else if (high === low) [low, high] = [low - Math.abs(low || 1) * 0.1, high + Math.abs(high || 1) * 0.1];
  const x = (step) => CHART.left + (steps > 1 ? step / (steps - 1) : 0.5) * (wide - CHART.left - CHART.right);
  const y = (value) => CHART.top + (1 - Math.max(0, scale(value) - low) / (high - low)) // a zero lies on the ground
    * (CHART.high - CHART.top - CHART.bottom);
  const path = (line) => {
    let open = false;
    return line.map((value, step) => { const there = fits(value); const text = there ? `${open ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}` : ""; open = there; return text; }).join("");
  };
  const ticks = log ? marks(low, high).map((power) => 10 ** power) : grid(low, high);
  const readout = el("output", {});
  const cursor = el("svg:line", { class: "cursor", y1: CHART.top, y2: CHART.high - CHART.bottom, visibility: "hidden" });
  const limits = limit == null ? "" : el("svg:path", { class: "limit", d: Array.isArray(limit) ? path(limit) : `M${CHART.left} ${y(limit)}H${wide - CHART.right}` });
  const picture = el("svg:svg", { viewBox: `0 0 ${wide} ${CHART.high}`, role: "img", "aria-label": `${title}: ${lines.map((line) => `${line.name} from ${number(line.values[0], 3)} to ${number(line.values[line.values.length - 1], 3)}`).join("; ")}` },
    ticks.map((value) => [el("svg:line", { class: "gridline", x1: CHART.left, x2: wide - CHART.right, y1: y(value), y2: y(value) }), el("svg:text", { x: CHART.left - 8, y: y(value) + 4, "text-anchor": "end" }, log ? value.toExponential(0) : number(value, 3).replace(/\.?0+e/, "e"))]),
    stepTicks(steps).map((step) => el("svg:text", { x: x(step), y: CHART.high - 4, "text-anchor": "middle" }, String(step + 1))),
    limits, lines.map((line) => el("svg:path", { class: `line ${line.class}`, d: path(line.values) })),
    lines.map((line) => (line.values.length === 1 && fits(line.values[0]) ? el("svg:circle", { class: `point ${line.class}`, cx: x(0), cy: y(line.values[0]), r: 3 }) : "")),
    first != null ? [el("svg:line", { class: "first", x1: x(first), x2: x(first), y1: CHART.top, y2: CHART.high - CHART.bottom }), el("svg:text", { class: "first", x: x(first) + 5, y: CHART.top + 10 }, "parts here")] : "", cursor);
  const read = (step) => {
    cursor.setAttribute("x1", x(step));
    cursor.setAttribute("x2", x(step));
    cursor.setAttribute("visibility", "visible");
    readout.replaceChildren(`step ${step + 1}`, ...lines.map((line) => el("span", {}, el("i", { class: line.class }), `${line.name} ${number(line.values[step], 4)}`)));
  };
  const rest = () => {
    cursor.setAttribute("visibility", "hidden");
    readout.replaceChildren(...lines.map((line) => el("span", {}, el("i", { class: line.class }), line.name)), limit != null ? el("span", {}, el("i", { class: "limit" }), limitName) : "");
  };
  picture.addEventListener("mousemove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * wide;
    read(Math.max(0, Math.min(steps - 1, Math.round(((at - CHART.left) / (wide - CHART.left - CHART.right)) * (steps - 1)))));
  });
  picture.addEventListener("mouseleave", rest);
  rest();
  return [el("figcaption", {}, title, readout), picture];
}

// Powers of ten from low to high, at most six of them.
const marks = (low, high) => {
  const by = Math.ceil((high - low) / 6) || 1;
  return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, index) => low + index * by);
};

const grid = (low, high) => {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const by = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
  const from = Math.ceil(low / by);
  return Array.from({ length: Math.floor(high / by) - from + 1 }, (_, index) => (from + index) * by);
};

const stepTicks = (steps) => {
  if (steps < 2) return [0];
  const by = Math.max(1, Math.round((steps - 1) / 10));
  return [...new Set([...Array.from({ length: Math.ceil((steps - 1) / by) }, (_, index) => index * by).filter((step) => step + by / 2 < steps - 1 || !step), steps - 1])];
};
