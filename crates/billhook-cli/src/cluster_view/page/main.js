// The parts of the page, and what keeps them up to date.

import { get, post, useToken } from "./api.js";
import { find, say } from "./dom.js";
import { addEvents, drawRequests } from "./lists.js";
import { refresh } from "./object.js";
import { draw, keyOf, keys, rows } from "./tree.js";

const VIEWS = ["objects", "events", "requests"];
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function choose(view) {
  for (const name of VIEWS) find(name).hidden = name !== view;
  for (const it of document.querySelectorAll("[data-view]")) it.ariaPressed = String(it.dataset.view === view);
  if (view === "requests") drawRequests().catch((failure) => say(failure.message));
}

function showClock(clock) {
  find("time").textContent = clock.time.replace(/\.0+Z$/, "Z");
  find("time").title = clock.nextTimer ? `Next timer: ${clock.nextTimer}` : "No timer";
  find("virtual").hidden = !clock.virtual;
  find("next").disabled = !clock.nextTimer;
}

async function command(path, body) {
  say("");
  for (const id of ["settle", "next", "advance"]) find(id).disabled = true;
  try {
    await post(path, body);
  } catch (failure) {
    say(failure.message);
  }
  for (const id of ["settle", "advance"]) find(id).disabled = false;
  showClock(await get("/billhook/clock"));
}

function takeOver(news) {
  if (news.objects) {
    rows.clear();
    for (const row of news.objects) rows.set(keyOf(row), { ...row, key: keyOf(row) });
  }
  for (const { type, object } of news.changes ?? []) {
    object.key = keyOf(object);
    if (type === "DELETED") rows.delete(object.key);
    else rows.set(object.key, object);
    refresh(object, type === "DELETED");
  }
  if (news.changes?.length) addEvents(news.changes);
  draw();
}

async function follow() {
  let newest = null;
  let failed = false;
  for (;;) {
    try {
      const news = await get(newest === null ? "/billhook/ui/state" : `/billhook/ui/state?after=${newest}`);
      newest = news.newest;
      find("login").hidden = true;
      takeOver(news);
      showClock(await get("/billhook/clock"));
      if (failed) say("");
      failed = false;
      await wait(100);
    } catch (failure) {
      failed = true;
      say(failure.message);
      if (failure.code === 401) {
        find("login").hidden = false;
        return;
      }
      await wait(2000);
    }
  }
}

for (const it of document.querySelectorAll("[data-view]")) it.onclick = () => choose(it.dataset.view);
find("settle").onclick = () => command("/billhook/settle", {});
find("next").onclick = () => command("/billhook/clock/advance", { toNextTimer: true });
find("advance").onclick = () => command("/billhook/clock/advance", { duration: find("duration").value });
find("enter").onclick = () => {
  useToken(find("token").value);
  follow();
};
find("token").onkeydown = (event) => event.key === "Enter" && find("enter").click();
for (const id of ["kind", "namespace", "name"]) find(id).oninput = draw;
for (const id of ["by", "writes", "refused"]) find(id).oninput = () => choose("requests");
find("tree").onkeydown = keys;
setInterval(() => find("requests").hidden || drawRequests().catch((failure) => say(failure.message)), 1000);
follow();
