// All objects, as a tree by owner.

import { element, find } from "./dom.js";
import { current, open } from "./object.js";

const PAGE = 200;
const DEEPEST = 20;

export const rows = new Map();
const expanded = new Set();
const more = new Map();
let waiting = false;

export const keyOf = (row) => JSON.stringify([row.group, row.resource, row.namespace, row.name]);

// The tree is drawn at most a few times in a second, however much changes.
export function draw() {
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    waiting = false;
    drawNow();
  }, 150);
}

const isSystem = (row) => row.namespace.startsWith("kube-") || row.name === "kube-root-ca.crt";
const rank = (row) => (row.namespace ? 0 : 4) + (isSystem(row) ? 2 : 0) + (row.kind === "Event" ? 1 : 0);

function before(a, b) {
  const [left, right] = [[a.namespace, a.kind, a.name], [b.namespace, b.kind, b.name]];
  const order = rank(a) - rank(b);
  if (order) return order;
  for (let at = 0; at < 3; at += 1) {
    if (left[at] !== right[at]) return left[at] < right[at] ? -1 : 1;
  }
  return 0;
}

function drawNow() {
  const kinds = new Map();
  const namespaces = new Set();
  const uids = new Map();
  const children = new Map();
  for (const row of rows.values()) {
    kinds.set(row.kind, (kinds.get(row.kind) ?? 0) + 1);
    if (row.namespace) namespaces.add(row.namespace);
    uids.set(row.uid, row);
  }
  const owned = new Set();
  for (const row of rows.values()) {
    const owner = row.owners.find((uid) => uids.has(uid) && uid !== row.uid);
    if (owner === undefined) continue;
    owned.add(row);
    const siblings = children.get(owner);
    if (siblings) siblings.push(row);
    else children.set(owner, [row]);
  }
  choices(find("kind"), [...kinds].sort(), rows.size);
  choices(find("namespace"), [...namespaces].sort().map((name) => [name, ""]), "");
  const [kind, namespace] = [find("kind").value, find("namespace").value];
  const name = find("name").value.toLowerCase();
  const isWanted = (row) => (kind ? row.kind === kind : name || !owned.has(row))
    && (!namespace || row.namespace === namespace) && row.name.toLowerCase().includes(name);
  const roots = [...rows.values()].filter(isWanted).sort(before);
  const focused = document.activeElement?.dataset?.focus;
  const list = roots.length ? branch(roots, children, "", 0) : element("p", { className: "note" }, "No objects.");
  find("tree").replaceChildren(list);
  if (focused) [...find("tree").querySelectorAll("[data-focus]")].find((it) => it.dataset.focus === focused)?.focus();
}

function choices(select, all, count) {
  const chosen = select.value;
  const label = (name, number) => (number === "" ? name : `${name} (${number})`);
  const options = [["", count], ...all].map(([name, number]) =>
    element("option", { value: name }, label(name || "All", number)));
  if (select.options.length === options.length
    && options.every((option, at) => option.textContent === select.options[at].textContent)) return;
  select.replaceChildren(...options);
  select.value = all.some(([name]) => name === chosen) ? chosen : "";
}

function branch(all, children, place, depth) {
  const count = more.get(place) ?? PAGE;
  const list = element("ul", {}, ...all.slice(0, count).map((row) => item(row, children, place, depth)));
  if (all.length > count) {
    const next = () => {
      more.set(place, count + PAGE);
      drawNow();
    };
    const label = `Show more of ${all.length}`;
    list.append(element("li", {}, button({ onclick: next }, `${place}+more`, label)));
  }
  return list;
}

function button(properties, focus, ...children) {
  const made = element("button", { type: "button", ...properties }, ...children);
  made.dataset.focus = focus;
  return made;
}

function item(row, children, place, depth) {
  const below = depth < DEEPEST ? (children.get(row.uid) ?? []) : [];
  const inner = `${place}/${row.key}`;
  const isOpen = expanded.has(inner);
  const toggle = () => {
    if (!expanded.delete(inner)) expanded.add(inner);
    drawNow();
  };
  const sign = below.length
    ? button({ className: "toggle", onclick: toggle, "aria-expanded": String(isOpen),
      "aria-label": `Objects of ${row.name}` }, `${inner}+`, isOpen ? "▾" : "▸")
    : element("span", { className: "toggle" });
  const show = () => {
    open(row);
    draw();
  };
  const name = row.namespace ? `${row.namespace}/${row.name}` : row.name;
  const opens = button({ className: "open", onclick: show, "aria-current": String(current() === row.key) }, inner,
    element("span", { className: "kind" }, `${row.kind} `), name);
  const isBad = /fail|error|notready|unavailable|terminating/i.test(row.state);
  const state = element("span", { className: isBad ? "state bad" : "state" }, row.state);
  const line = element("div", { className: "row" }, sign, opens, state);
  return element("li", {}, line, isOpen && below.length ? branch(below.sort(before), children, inner, depth + 1) : null);
}

// The arrow keys go from row to row, and open and close them.
export function keys(event) {
  const all = [...find("tree").querySelectorAll(".open")];
  const line = event.target.closest(".row");
  const at = all.findIndex((it) => it.closest(".row") === line);
  const toggle = line?.querySelector("button.toggle");
  const isOpen = toggle?.getAttribute("aria-expanded") === "true";
  if (event.key === "ArrowDown") all[at + 1]?.focus();
  else if (event.key === "ArrowUp") all[at - 1]?.focus();
  else if (toggle && ((event.key === "ArrowRight" && !isOpen) || (event.key === "ArrowLeft" && isOpen))) toggle.click();
  else return;
  event.preventDefault();
}
