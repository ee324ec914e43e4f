import { randomUUID } from 'node:crypto';
import { test } from 'vitest';
import { catalogue } from '../../../src/operations/catalogue.ts';
import type { Operation } from '../../../src/operations/define.ts';
import { attacks, maxBodyBytes } from './inputs.ts';
import { jsonType, startMeasuredApi, toolCall } from './setup.ts';
import { use } from '../../support/use.ts';

const api = use(startMeasuredApi);

function validFields(operation: Operation): Record<string, unknown> {
  const example = operation.example.input;
  return Object.fromEntries(Object.entries(api.valid).filter(([name]) => Object.hasOwn(example, name)));
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? 'x'));

/** The REST call of an operation: fields of the path are valid, the rest is the body or the query. */
function callRest({ rest, example }: Operation, json: string): Promise<number> {
  if (!rest) throw new Error('it has no REST call');
  const path = rest.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(toText(api.valid[name] ?? example.input[name])),
  );
  const key: [string, string][] = rest.idempotency ? [['Idempotency-Key', randomUUID()]] : [];
  if (rest.method !== 'GET')
    return api.send(rest.method, `/v1${path}`, [jsonType, ...key], Buffer.from(json));
  // The headers of a request have at most 16 KiB.
  const query = encodeURIComponent(json).slice(0, 6_000).replace(/%.?$/, '');
  const names = Object.keys(JSON.parse(json) as object).map((name) => name.slice(0, 100));
  return api.send(
    'GET',
    `/v1${path}?${names
      .slice(0, 40)
      .map((name) => `${encodeURIComponent(name)}=1`)
      .join('&')}&q=${query}`,
    key,
  );
}

test.each(attacks)('REST: $name', { timeout: 600_000 }, async ({ name, build }) => {
  for (const operation of catalogue.filter(({ rest }) => rest !== undefined)) {
    await api.check(`${operation.name}: ${name}`, (attempt) =>
      callRest(
        operation,
        build(operation, { valid: validFields(operation), bytes: maxBodyBytes.rest, attempt }),
      ),
    );
  }
  api.expectNoneSlow();
});

test.each(attacks)('MCP: $name', { timeout: 600_000 }, async ({ name, build }) => {
  for (const operation of catalogue.filter(({ tool }) => tool !== undefined)) {
    await api.check(`${operation.name}: ${name}`, (attempt) => {
      const options = { valid: validFields(operation), bytes: maxBodyBytes.mcp, attempt };
      const body = toolCall(operation.tool?.name ?? operation.name, build(operation, options));
      return api.send('POST', '/mcp', [jsonType], body);
    });
  }
  api.expectNoneSlow();
});
