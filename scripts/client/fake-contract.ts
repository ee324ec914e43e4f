import { z } from 'zod';
import { errorStatuses } from '../../packages/core/src/domain/errors.ts';
import { eventOf, eventTypes } from '../../packages/core/src/events/list.ts';
import { catalogue } from '../../src/operations/catalogue.ts';

/** Operations that the fake service of the client package does not have; docs/testing.md lists them. */
export const operationsNotFaked: ReadonlySet<string> = new Set(
  catalogue.filter(({ name, rest }) => rest && isNotFaked(name, rest.path)).map(({ name }) => name),
);

function isNotFaked(name: string, path: string): boolean {
  return /conversation|managed|directory|delete_agent/.test(name) || /^\/(?:waits|usage|audit)/.test(path);
}

/** What the fake service takes from the catalogue: routes, scopes, input schemas, event types and error codes. */
export function buildFakeContract(): object {
  const operations = catalogue
    .filter(({ name, rest }) => rest && !operationsNotFaked.has(name))
    .map(({ name, scope, kind, rest, input, reply }) => {
      const { method, path, forms, status, idempotency, upload } = rest ?? {};
      const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
      // A file is no JSON.
      if (upload !== undefined) schema.properties = { [upload]: {} };
      const shape = { method, path, status, forms, idempotency, upload, scope, kind, waits: reply && true };
      return [name, { ...shape, input: plain(schema) }] as const;
    });
  return JSON.parse(
    JSON.stringify({
      operations: Object.fromEntries(operations),
      event_scopes: Object.fromEntries(eventTypes.map((type) => [type, eventOf(type).scope])),
      error_statuses: errorStatuses,
    }),
  ) as object;
}

const dropped = new Set(['description', '$schema', 'id', 'title', 'examples', 'propertyNames', 'format']);

/** A schema without the texts for people. */
function plain(schema: unknown, isMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => plain(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(([key]) => isMap || !dropped.has(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [key, plain(value, !isMap && key === 'properties')]),
  );
}
