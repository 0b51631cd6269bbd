// One object: its YAML with the managers of fields, and the changes of each revision.

import { changes, read } from "./api.js";
import { cut, element, find, say } from "./dom.js";
import { differences, managers, print } from "./yaml.js";

const MOST_LINES = 2000;
const LONGEST = 2000;
const MOST_REVISIONS = 200;
const MOST_DIFFERENCES = 50;

let shown = null;

export const current = () => shown?.key;

export function close() {
  shown = null;
  find("object").hidden = true;
}

export async function open(row, part = "yaml") {
  shown = { key: row.key, row, part };
  const asked = shown;
  try {
    const object = await read(row);
    const body = part === "yaml" ? yaml(object) : await history(row, object);
    if (shown === asked) show(row, part, body);
  } catch (failure) {
    if (shown === asked) show(row, part, element("p", { className: "note" }, failure.message));
  }
}

// Shows the object anew if it is the one that has changed.
export function refresh(row, isGone) {
  if (shown?.key !== row.key) return;
  if (isGone) say(`${row.kind} ${row.name} is deleted`);
  else if (shown.part === "yaml") open(row);
}

function show(row, part, body) {
  const tab = (name, label) =>
    element("button", { type: "button", "aria-pressed": String(name === part), onclick: () => open(row, name) }, label);
  const end = element("button", { type: "button", className: "close", onclick: close }, "Close");
  const place = row.namespace ? `${row.namespace}/${row.name}` : row.name;
  const bar = element("div", { className: "bar" }, tab("yaml", "YAML"), tab("history", "Revisions"), end);
  find("object").replaceChildren(element("h2", {}, `${row.kind} ${place}`), bar, body);
  find("object").hidden = false;
}

function yaml(object) {
  const owners = managers(object);
  const { managedFields, ...metadata } = object.metadata;
  const lines = element("div", { className: "lines" });
  const add = (text, by) => {
    if (lines.childElementCount >= MOST_LINES) return false;
    lines.append(element("div", {},
      element("span", { className: "text" }, cut(text, LONGEST)),
      element("span", { className: "by", title: cut(by, LONGEST) }, cut(by, 100))));
    return true;
  };
  if (!print({ ...object, metadata }, owners, add)) {
    lines.append(element("p", { className: "note" }, `Only the first ${MOST_LINES} lines are shown.`));
  }
  return lines;
}

async function history(row, object) {
  const found = await changes(row, object.metadata.resourceVersion, MOST_REVISIONS);
  const list = element("div");
  let before = {};
  for (const { type, object: after } of found) {
    if (type === "ERROR") {
      list.append(element("p", { className: "note" }, `Older revisions are gone: ${cut(after.message ?? "", 200)}`));
      continue;
    }
    if (after.metadata.uid !== before.metadata?.uid) before = {};
    list.prepend(revision(type, before, after));
    before = after;
  }
  if (found.length >= MOST_REVISIONS) {
    list.prepend(element("p", { className: "note" }, `Only the first ${MOST_REVISIONS} revisions are shown.`));
  }
  return list;
}

// The managers whose fields are new or others than before: who has made the change.
function writers(before, after) {
  const old = new Set((before.metadata?.managedFields ?? []).map((entry) => JSON.stringify(entry)));
  const entries = (after.metadata.managedFields ?? []).filter((entry) => !old.has(JSON.stringify(entry)));
  return cut([...new Set(entries.map((entry) => entry.manager))].join(", "), 200);
}

function revision(type, before, after) {
  const text = (value) => cut(JSON.stringify(value) ?? "–", 300);
  const lines = element("div", { className: "lines" });
  for (const [path, old, value] of differences(before, after, MOST_DIFFERENCES)) {
    const change = old === undefined ? text(value) : `${text(old)} → ${text(value)}`;
    lines.append(element("div", {}, element("span", { className: "text" }, `${cut(path, 300)}: ${change}`)));
  }
  const title = [`Revision ${after.metadata.resourceVersion} ${type}`, writers(before, after)].filter(Boolean).join(" by ");
  return element("div", { className: "revision" }, element("strong", {}, title), lines);
}
