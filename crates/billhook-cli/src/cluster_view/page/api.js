// Requests to the server that has served this page.

let token = sessionStorage.getItem("token") ?? "";

export class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export function useToken(given) {
  token = given;
  sessionStorage.setItem("token", given);
}

export async function request(path, options = {}) {
  const headers = { Accept: "application/json", ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { ...options, headers });
  if (response.ok) return response;
  let message = `${response.status} ${response.statusText}`;
  try {
    message = (await response.json()).message ?? message;
  } catch {
    // The code says enough.
  }
  throw new Failure(response.status, message);
}

export const get = async (path) => (await request(path)).json();

export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return (await request(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

// The path of the objects of a kind, and the query by which the log knows who asks.
const OWN = "fieldManager=billhook-ui";

function collection(object) {
  const part = encodeURIComponent;
  const version = object.apiVersion.split("/").at(-1);
  const group = object.group ? `/apis/${part(object.group)}` : "/api";
  const namespace = object.namespace ? `/namespaces/${part(object.namespace)}` : "";
  return `${group}/${part(version)}${namespace}/${part(object.resource)}`;
}

export function read(object) {
  return get(`${collection(object)}/${encodeURIComponent(object.name)}?${OWN}`);
}

// Reads the changes of an object up to a revision, or as many as can be shown.
export async function changes(object, last, most) {
  const selector = encodeURIComponent(`metadata.name=${object.name}`);
  const stop = new AbortController();
  const query = `watch=1&resourceVersion=1&timeoutSeconds=5&fieldSelector=${selector}&${OWN}`;
  const response = await request(`${collection(object)}?${query}`, { signal: stop.signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const found = [];
  let rest = "";
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return found;
    size += value.length;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    found.push(...lines.filter(Boolean).map((line) => JSON.parse(line)));
    const newest = found.at(-1);
    const isLast = newest?.object?.metadata?.resourceVersion === last || newest?.type === "ERROR";
    if (isLast || found.length >= most || size > 16e6) {
      stop.abort();
      return found.slice(0, most);
    }
  }
}
