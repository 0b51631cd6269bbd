// An object in lines of YAML, with the managers of the fields of each line.

const DEEPEST = 100;
const PLAIN = /^[A-Za-z_/][A-Za-z0-9_./-]*$/;
const RESERVED = /^(true|false|yes|no|on|off|y|n|null|~)$/i;

function scalar(value) {
  if (typeof value !== "string") return JSON.stringify(value);
  return PLAIN.test(value) && !RESERVED.test(value) ? value : JSON.stringify(value);
}

const isEmpty = (value) => value === null || typeof value !== "object" || Object.keys(value).length === 0;

// The fields of managers, from the root of an object: [name, fields] of each.
export function managers(object) {
  return (object.metadata?.managedFields ?? []).map((entry) => [
    entry.subresource ? `${entry.manager} (${entry.subresource})` : entry.manager,
    entry.fieldsV1 ?? {},
  ]);
}

function matches(step, key, value) {
  if (step.startsWith("f:")) return step.slice(2) === key;
  if (step.startsWith("i:")) return step.slice(2) === key;
  try {
    const wanted = JSON.parse(step.slice(2));
    if (step.startsWith("v:")) return JSON.stringify(wanted) === JSON.stringify(value);
    return step.startsWith("k:") && Object.entries(wanted).every(([name, text]) => value?.[name] === text);
  } catch {
    return false;
  }
}

// The managers of a member, with their fields below it; `null` for all that is below.
function below(owners, key, value) {
  const found = [];
  for (const [name, fields] of owners) {
    if (fields === null) {
      found.push([name, null]);
      continue;
    }
    const direct = fields[`f:${key}`];
    const step = direct ? `f:${key}` : Object.keys(fields).find((step) => matches(step, key, value));
    if (step === undefined) continue;
    found.push([name, isEmpty(fields[step]) ? null : fields[step]]);
  }
  return found;
}

// Who has set the value of a line itself.
function names(owners, value) {
  const own = owners.filter(([, fields]) => fields === null || isEmpty(value) || "." in fields);
  return own.map(([name]) => name).join(", ");
}

// Calls a function with the text and the managers of each line, until it returns false.
export function print(value, owners, add, indentation = "", first = null, depth = 0) {
  const isList = Array.isArray(value);
  let lead = first ?? indentation;
  for (const [key, member] of Object.entries(value)) {
    const inner = below(owners, key, member);
    const name = isList ? "-" : `${scalar(key)}:`;
    const by = names(inner, member);
    const isDeep = depth >= DEEPEST && !isEmpty(member);
    if (isEmpty(member) || isDeep) {
      const text = isDeep ? "… # nested too deeply to be shown" : scalar(member);
      if (!add(`${lead}${name} ${text}`, by)) return false;
    } else if (isList) {
      if (!print(member, inner, add, `${indentation}  `, `${lead}- `, depth + 1)) return false;
    } else {
      const nested = Array.isArray(member) ? indentation : `${indentation}  `;
      if (!add(`${lead}${name}`, by)) return false;
      if (!print(member, inner, add, nested, null, depth + 1)) return false;
    }
    lead = indentation;
  }
  return true;
}

// The differences of two objects: [path, before, after], at most so many.
export function differences(before, after, most, path = "", found = [], depth = 0) {
  if (found.length >= most || before === after) return found;
  const isOpen = (value) => value !== null && typeof value === "object";
  if (!isOpen(before) || !isOpen(after) || depth >= DEEPEST) {
    found.push([path, before, after]);
    return found;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const inner = path ? `${path}.${key}` : key;
    if (inner === "metadata.managedFields" || inner === "metadata.resourceVersion") continue;
    differences(before[key], after[key], most, inner, found, depth + 1);
  }
  return found;
}
