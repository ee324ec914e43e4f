import { randomUUID } from 'node:crypto';

/** What the documents can refer to: variables by their name, and `step.name` for what a step captured, or its `response`. */
export type Scope = ReadonlyMap<string, unknown>;

/** The value with each `{{name}}` replaced. A text that is only a reference becomes the value itself. */
export function interpolate(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) return value.map((one) => interpolate(one, scope));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, interpolate(one, scope)]));
  if (typeof value !== 'string') return value;
  const whole = /^\{\{([^{}]+)\}\}$/.exec(value)?.[1];
  if (whole !== undefined) return resolveReference(whole, scope);
  return value.replaceAll(/\{\{([^{}]+)\}\}/g, (_, name: string) => String(resolveReference(name, scope)));
}

function resolveReference(name: string, scope: Scope): unknown {
  if (name === '$uuid') return randomUUID();
  if (!scope.has(name)) throw new Error(`nothing has the name ${name}`);
  return scope.get(name);
}

/** All values at a path such as `task.artifacts[*].parts[0]`. */
export function readPath(root: unknown, path: string): unknown[] {
  let found = [root];
  for (const key of path.match(/[^.[\]]+/g) ?? []) {
    found = found.flatMap((value): unknown[] => {
      if (typeof value !== 'object' || value === null) return [];
      if (key === '*') return Array.isArray(value) ? value : [];
      const one: unknown = Reflect.get(value, key);
      return one === undefined ? [] : [one];
    });
  }
  return found;
}

/** A condition such as `status.state in [A, B]`, `status.state == A` or `status.state != A`. */
export function isConditionMet(condition: string, root: unknown): boolean {
  const [, path = '', operator, right = ''] = /^(\S+)\s+(==|!=|in)\s+(.+)$/.exec(condition.trim()) ?? [];
  if (operator === undefined) throw new Error(`no condition: ${condition}`);
  const [value] = readPath(root, path);
  const values = right
    .replace(/^\[(.*)\]$/, '$1')
    .split(',')
    .map((one) => one.trim());
  return values.includes(String(value)) === (operator !== '!=');
}
