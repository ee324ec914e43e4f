import { randomId } from '../random-id.ts';
import { type Nouns, routes } from '../generated/nouns.ts';
import { createList } from './list.ts';
import type { Send } from './request.ts';
import type { CallOptions, Input, Route } from './types.ts';

/** Runs one operation of the service. */
export type Call = <T>(route: Route, input: Input, options?: CallOptions) => Promise<T>;

/** Creates the function that runs operations. `api` is the address of REST. */
export function createCall(send: Send, api: string): Call {
  return function call<T>(route: Route, input: Input, options: CallOptions = {}): Promise<T> {
    const { path, rest } = fillPath(route.path, input);
    const isRead = route.method === 'GET';
    const hasBody = !isRead && route.method !== 'DELETE';
    const key = route.takesKey ? (options.idempotencyKey ?? randomId()) : undefined;
    return send(
      {
        method: route.method,
        url: `${api}${path}${hasBody ? '' : formatQuery(rest)}`,
        headers: {
          ...(hasBody && { 'Content-Type': 'application/json' }),
          ...(key !== undefined && { 'Idempotency-Key': key }),
        },
        ...(hasBody && { body: () => JSON.stringify(rest) }),
        isSafe: isRead || key !== undefined,
      },
      options,
      async (response) => (response.status === 204 ? undefined : await response.json()) as T,
    );
  };
}

function fillPath(template: string, input: Input): { path: string; rest: Input } {
  const names = new Set<string>();
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = input[name];
    // Without it, the path would be that of another operation.
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is missing`);
    names.add(name);
    return encodeURIComponent(value);
  });
  return { path, rest: Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name))) };
}

function formatQuery(input: Input): string {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined);
  return entries.length > 0
    ? `?${new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
    : '';
}

/** Creates the methods of all nouns from their routes. The generated types describe them. */
export function createNouns(call: Call): Nouns {
  const nouns = Object.entries(routes).map(([noun, operations]) => {
    const methods = Object.entries(operations).map(([name, route]: [string, Route]) => [
      name,
      createMethod(route, call),
    ]);
    return [noun, Object.fromEntries(methods)];
  });
  return Object.fromEntries(nouns) as Nouns;
}

function createMethod(route: Route, call: Call): (...values: (Input | undefined)[]) => unknown {
  return (...values) => {
    const [input = {}, options] = route.takesInput === false ? [{}, ...values] : values;
    if (route.items === undefined) return call(route, input, options);
    return createList(input, route.items, (page) => call<object>(route, page, options));
  };
}
