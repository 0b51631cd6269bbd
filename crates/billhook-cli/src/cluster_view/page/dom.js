// Elements, whose texts are texts: nothing that comes from the server becomes markup.

export const find = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function cut(text, length) {
  return text.length > length ? `${text.slice(0, length)}… (${text.length} characters)` : text;
}

export function say(text) {
  find("message").textContent = cut(text, 1000);
}
