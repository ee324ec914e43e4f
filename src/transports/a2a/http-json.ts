import type { Context } from 'koa';
import { A2aRefusal, refuseVerb } from './errors.ts';
import type { Method } from './methods.ts';
import { serviceParameters } from './service-parameters.ts';

/** A route of HTTP+JSON that matches a request. */
export interface FoundRoute {
  method: Method;
  /** The fields of its path. */
  path: Record<string, string>;
  verb: string;
}

/**
 * Finds the method of a request (A2A 1.0, section 11.3).
 * @param path after the address of the agent.
 * @throws {A2aRefusal} METHOD_NOT_FOUND
 * @throws {DomainError} METHOD_NOT_ALLOWED
 */
export function findRoute(ctx: Context, path: string, methods: readonly Method[]): FoundRoute {
  const fitting = methods.flatMap((method) =>
    method.routes.flatMap((route) => {
      const [routeVerb = '', pattern = ''] = route.split(' ');
      const fields = toPattern(pattern).exec(path);
      return fields ? [{ method, verb: routeVerb, path: decodeFields({ ...fields.groups }) }] : [];
    }),
  );
  const found = fitting.find(({ verb }) => verb === ctx.method);
  if (found) return found;
  if (fitting.length === 0)
    throw new A2aRefusal('METHOD_NOT_FOUND', 'No such path. The paths are in A2A 1.0, section 11.3.');
  const verbs = fitting.map(({ verb }) => verb);
  return refuseVerb(ctx, verbs, `This path supports ${verbs.join(' and ')}.`);
}

/** An ID has no slash and no colon: the name of an action begins with a colon. */
function toPattern(route: string): RegExp {
  return new RegExp(`^${route.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/:]+)')}$`);
}

function decodeFields(fields: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, decode(value)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // No task has this ID.
  }
}

const booleans = new Set(['includeArtifacts', 'include_artifacts']);

/** Returns the fields of a request, from its path and from its query or body (section 11.5). The path takes precedence. */
export function readFields(ctx: Context, { path, verb }: FoundRoute): Record<string, unknown> {
  if (verb === 'POST') return { ...(ctx.request.body as object), ...path };
  const fields = Object.entries(ctx.query).filter(([name]) => !serviceParameters.has(name));
  return { ...Object.fromEntries(fields.map(([name, value]) => [name, readValue(name, value)])), ...path };
}

function readValue(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (booleans.has(name) && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
