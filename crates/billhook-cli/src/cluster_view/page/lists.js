// The newest events of all watches, and the newest requests.

import { get } from "./api.js";
import { cut, element, find } from "./dom.js";
import { open } from "./object.js";

const MOST = 200;

function trim(body) {
  while (body.childElementCount > MOST) body.lastElementChild.remove();
}

const cell = (...children) => element("td", {}, ...children);

export function addEvents(changes) {
  if (find("pause").checked) return;
  const lines = changes.slice(-MOST).map(({ type, revision, object }) => {
    const name = object.namespace ? `${object.namespace}/${object.name}` : object.name;
    const opens = element("button", { type: "button", onclick: () => open(object) }, name);
    return element("tr", {}, cell(String(revision)), cell(type), cell(object.kind), cell(opens), cell(object.state));
  });
  find("event-rows").prepend(...lines.reverse());
  trim(find("event-rows"));
}

let newest = 0;
let asked = "";

export async function drawRequests() {
  const query = new URLSearchParams({ limit: String(MOST) });
  if (find("by").value) query.set("by", find("by").value);
  for (const name of ["writes", "refused"]) if (find(name).checked) query.set(name, "true");
  const text = query.toString();
  if (text !== asked) {
    find("request-rows").replaceChildren();
    [newest, asked] = [0, text];
  }
  query.set("after", String(newest));
  const { requests } = await get(`/billhook/requests?${query}`);
  if (text !== asked || !requests.length || requests[0].number <= newest) return;
  newest = requests.at(-1).number;
  const lines = requests.filter((it) => it.client !== "billhook-ui").map((it) => {
    const isBad = it.code >= 400;
    const answer = `${it.code}${it.needless ? ", changed nothing" : ""} ${it.message ?? ""}`;
    return element("tr", {}, cell(it.time), cell(it.client ?? ""), cell(it.verb), cell(cut(it.path, 500)),
      element("td", { className: isBad ? "bad" : "" }, cut(answer, 1000)));
  });
  find("request-rows").prepend(...lines.reverse());
  trim(find("request-rows"));
}
