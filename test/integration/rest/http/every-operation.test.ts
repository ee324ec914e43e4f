import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { scopes, sufficientScopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { catalogue } from '../../../../src/operations/catalogue.ts';
import type { Operation } from '../../../../src/operations/define.ts';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

/** Rules of every operation over REST: its scope, the fields of its input, and the pages of its list. */

interface FieldSchema {
  type?: string;
  enum?: unknown[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

const service = useSharedService();
let ann: TestAgent;
let ids: { thread_id: string; webhook_id: string };
/** Of another agent. */
let foreignCursor: string;

beforeAll(async () => {
  ann = await service.agent({ scopes });
  const bob = await service.agent();
  await service.put(ann, '/inbox', {});
  const webhook = await service.post(ann, '/webhooks', { url: 'https://receiver.example.com/' });
  ids = { thread_id: await service.thread(ann, bob), webhook_id: webhook.body.id };
  for (const content of ['one', 'two'])
    await service.post(ann, `/threads/${ids.thread_id}/messages`, { content });
  foreignCursor = (await service.get(bob, `/threads/${ids.thread_id}/messages?limit=1`)).body.next_cursor;
});

const operations = catalogue.flatMap((operation) =>
  operation.rest ? [{ name: operation.name, operation, rest: operation.rest }] : [],
);

const readSchema = ({ input }: Operation) => {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return { fields: Object.entries(properties as Record<string, FieldSchema>), required };
};

const fillPath = (path: string, values: Record<string, unknown>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));

/** Calls an operation with its example, of which these fields are replaced; `undefined` removes one. */
function call({ rest, example }: Operation, changes: Record<string, unknown>, { token } = ann) {
  const { method = '', path = '' } = rest ?? {};
  const input: Record<string, unknown> = { ...example.input, ...changes };
  const fields = Object.entries(input).filter(
    ([name, value]) => !path.includes(`{${name}}`) && value !== undefined,
  );
  const url = `${service.api}${fillPath(path, { ...input, ...ids })}`;
  if (method !== 'GET') return requestRest(method, url, { token, body: Object.fromEntries(fields) });
  const query = new URLSearchParams(fields.map(([name, value]) => [name, String(value)]));
  return requestRest(method, `${url}?${query.toString()}`, { token });
}

/** Values of a field that its schema does not accept. In a query every value is text. */
function listWrongValues(schema: FieldSchema, isQuery: boolean): unknown[] {
  const { type, minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems } = schema;
  const wrong: unknown[] = [];
  if (type === 'string' && !isQuery) wrong.push(7, null);
  if (type === 'string' && minLength > 0) wrong.push('');
  if (maxLength !== undefined) wrong.push('x'.repeat(maxLength + 1));
  if (schema.enum) wrong.push('nonsense');
  if (type === 'integer') wrong.push('x', 1.5);
  if (minimum !== undefined) wrong.push(minimum - 1);
  if (maximum !== undefined) wrong.push(maximum + 1);
  if (type === 'boolean') wrong.push('perhaps');
  if (type === 'array' && !isQuery) wrong.push('x', ...(minItems > 0 ? [[]] : []));
  if (maxItems !== undefined) wrong.push(Array.from({ length: maxItems + 1 }, (_, at) => `x${at}`));
  if (type === 'object' && !isQuery) wrong.push('x', [1]);
  return wrong;
}

test.each(operations.filter(({ operation }) => operation.scope !== 'any'))(
  '$name needs its scope',
  async ({ operation }) => {
    const enough = operation.scope === 'any' ? [] : sufficientScopes(operation.scope);
    const token = await service.token(ann.handle, { scopes: scopes.filter((one) => !enough.includes(one)) });
    const answer = await call(operation, {}, { ...ann, token });
    expect(outcomeOf(answer)).toBe('403 INSUFFICIENT_SCOPE');
    const challenge = `error="insufficient_scope", scope="${enough[0]}"`;
    expect(answer.headers.get('www-authenticate')).toContain(challenge);
  },
);

test.each(operations.filter(({ rest }) => !rest.upload))(
  '$name refuses fields that are unknown, missing or not as described, by their names',
  async ({ operation, rest }) => {
    const { fields, required } = readSchema(operation);
    const isOutsidePath = (name: string) => !rest.path.includes(`{${name}}`);
    const missing = required.filter(isOutsidePath).map((name): [string, unknown] => [name, undefined]);
    const wrong = fields
      .filter(([name]) => isOutsidePath(name))
      .flatMap(([name, schema]) =>
        listWrongValues(schema, rest.method === 'GET').map((value): [string, unknown] => [name, value]),
      );
    for (const [name, value] of [['colour', 'red'] as [string, unknown], ...missing, ...wrong]) {
      const answer = await call(operation, { [name]: value });
      const shown = `${name}: ${JSON.stringify(value)?.slice(0, 80)}`;
      expect(outcomeOf(answer), shown).toBe('400 VALIDATION_ERROR');
      const named: { field: string }[] = answer.body.error.details;
      expect(
        named.map(({ field }) => field.split('.')[0]),
        shown,
      ).toContain(name);
    }
  },
);

test.each(
  operations.filter(({ operation }) => readSchema(operation).fields.some(([name]) => name === 'cursor')),
)('$name refuses a cursor that is not of this list, and a parameter twice', async ({ operation, rest }) => {
  for (const cursor of ['nonsense', '..', foreignCursor, `${foreignCursor.slice(0, -2)}AA`])
    expect(outcomeOf(await call(operation, { cursor })), cursor).toBe('400 INVALID_CURSOR');
  const path = fillPath(rest.path, ids);
  const twice = await service.get(ann, `${path}?limit=1&limit=2`);
  expect(outcomeOf(twice)).toBe('400 VALIDATION_ERROR');
});
