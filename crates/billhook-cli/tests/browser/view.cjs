// The page of `billhook serve --ui` in chromium. Arguments: the URL of the server, and its token.

const assert = require("node:assert");
const { chromium } = require(`${process.env.BILLHOOK_NODE_MODULES}/playwright-core`);

const [url, token] = process.argv.slice(2);
const OBJECTS = 1000;
const HOSTILE = "<script>document.title='owned'<script>";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

async function create(path, object) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(object) });
  assert.ok(response.ok, `${path}: ${await response.text()}`);
}

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const configMap = (name, data) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });

async function createAll() {
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  await create("/apis/apps/v1/namespaces/default/deployments", {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: { replicas: 2, selector: { matchLabels: { app: "web" } }, template },
  });
  const group = "rbac.authorization.k8s.io/v1";
  await create(`/apis/${group}/clusterroles`, { apiVersion: group, kind: "ClusterRole", metadata: { name: HOSTILE }, rules: [] });
  const image = `<img src=x onerror="document.title='owned'">`;
  await create(CONFIG_MAPS, configMap("big", { image, long: "x".repeat(900_000), lines: "a\n".repeat(1000) }));
  for (let at = 0; at < OBJECTS; at += 50) {
    const names = Array.from({ length: 50 }, (_, more) => `m-${at + more}`);
    await Promise.all(names.map((name) => create(CONFIG_MAPS, configMap(name, {}))));
  }
}

async function look(page) {
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => assert.ok(/^(data:|blob:)/.test(request.url()) || request.url().startsWith(url), request.url()));
  await page.goto(`${url}/billhook/ui/`);
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
  await page.click("#settle");

  // The tree by owner, by keyboard alone.
  const row = (name) => page.locator(".open", { hasText: name }).first();
  await page.selectOption("#kind", "Deployment");
  await row("default/web").focus();
  await page.keyboard.press("ArrowRight");
  await row("ReplicaSet default/web").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await row("Pod default/web").waitFor();
  await page.keyboard.press("Enter");
  await page.locator("h2", { hasText: "ReplicaSet default/web" }).waitFor();
  await page.locator(".lines .by", { hasText: "kube-controller-manager" }).first().waitFor();
  await page.getByText("Revisions").click();
  await page.locator(".revision", { hasText: "by kube-controller-manager" }).first().waitFor();

  // Texts of objects are texts.
  for (const [name, text] of [["<script>", HOSTILE], ["big", "<img src=x"]]) {
    await page.selectOption("#kind", "");
    await page.fill("#name", name);
    await row(name).click();
    await page.locator(".lines .text", { hasText: text }).first().waitFor();
  }
  assert.equal(await page.locator("section script, section img").count(), 0);
  assert.equal(await page.title(), "billhook");

  // Many objects come in parts.
  await page.selectOption("#kind", "ConfigMap");
  await page.fill("#name", "m-");
  await page.getByText(`Show more of ${OBJECTS}`).waitFor();
  assert.equal(await page.locator(".open").count(), 200);

  // Events, requests with what refused them, and the clock.
  await page.getByRole("button", { name: "Events" }).click();
  await create(CONFIG_MAPS, configMap("late", {}));
  await page.locator("#event-rows", { hasText: "default/late" }).waitFor();
  await create(CONFIG_MAPS, configMap("late", {})).catch(() => {});
  await page.getByRole("button", { name: "Requests" }).click();
  await page.check("#refused");
  await page.locator("#request-rows .bad", { hasText: `configmaps "late" already exists` }).waitFor();
  await page.fill("#duration", "36h");
  await page.click("#advance");
  await page.locator("#time", { hasText: "2026-01-02T12:00:00Z" }).waitFor();
  assert.deepEqual(errors, []);
}

async function main() {
  await createAll();
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
  try {
    await look(await browser.newPage());
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
