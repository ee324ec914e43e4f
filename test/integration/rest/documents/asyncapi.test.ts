import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { beforeAll, expect, test } from 'vitest';
import { eventOf, eventTypes } from '../../../../packages/core/src/events/list.ts';
import { canSeeEvent } from '../../../../packages/core/src/events/feed-event.ts';
import { type Scope, scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import {
  type AsyncApiDocument,
  buildAsyncApiDocument,
  type MessageObject,
  type OperationObject,
} from '../../../support/asyncapi/document.ts';
import { findByPointer } from '../../../support/openapi/document.ts';
import { forbidUnknownFields, createSchemaChecks } from '../../../support/openapi/schema-checks.ts';
import { requestRest } from '../../../clients/rest.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();
let document: AsyncApiDocument;

beforeAll(async () => {
  document = (await requestRest('GET', `${service.api}/asyncapi.json`)).body;
});

/** Every part of the document with its pointer. */
function* partsOf(value: unknown, pointer = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [pointer, value as Record<string, unknown>];
  for (const [key, child] of Object.entries(value)) yield* partsOf(child, `${pointer}/${key}`);
}

const messages = (): [string, MessageObject][] =>
  Object.entries(document.channels).flatMap(([channel, { messages: all }]) =>
    Object.entries(all).map(([name, message]): [string, MessageObject] => [
      `#/channels/${channel}/messages/${name}`,
      message,
    ]),
  );

test('is served to every caller by GET and HEAD, and linked from the OpenAPI document', async () => {
  const head = await requestRest('HEAD', `${service.api}/asyncapi.json`);
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers.get('content-type')).toMatch(/^application\/json/);
  expect(head.headers.get('access-control-allow-origin')).toBe('*');
  const openapi = await requestRest('GET', `${service.api}/openapi.json`);
  expect(openapi.body.externalDocs.url).toBe('http://localhost:3000/v1/asyncapi.json');
  expect((await requestRest('GET', `${service.url}/docs`)).text).toContain('href="/v1/asyncapi.json"');
  expect((await requestRest('POST', `${service.api}/asyncapi.json`)).status).toBe(404);
});

test('is the document against which the tests check every event', () => {
  expect(document).toEqual(buildAsyncApiDocument('http://localhost:3000', document.info.version));
});

test('is AsyncAPI 3.0 by its official JSON Schema', async () => {
  const path = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(JSON.parse(await readFile(path, 'utf8')));
  validate(document);
  expect(validate.errors).toBeNull();
  const { asyncapi: _version, ...broken } = document;
  expect(validate(broken)).toBe(false);
});

test('every reference can be resolved', () => {
  const refs = [...partsOf(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
  expect(refs.length).toBeGreaterThan(100);
  for (const ref of refs) findByPointer(document, ref);
});

test('every transport that sends single events has every event type', () => {
  for (const [name, { messages: all }] of Object.entries(document.channels)) {
    if (name === 'long_poll') expect(Object.keys(all)).toEqual(['page']);
    else expect(Object.keys(all), name).toEqual(expect.arrayContaining(eventTypes));
  }
});

/** The scopes of an operation; any one of them is enough. */
function enough({ security }: OperationObject): string[] {
  return security.flatMap(({ $ref }) => (findByPointer(document, $ref) as { scopes: string[] }).scopes);
}

test('exactly one operation of its transport sends each event, with the scopes that allow it', () => {
  const senders = Object.values(document.operations).filter(({ action }) => action === 'send');
  for (const channel of ['websocket', 'mcp_notifications', 'webhooks']) {
    for (const type of eventTypes) {
      const ref = `#/channels/${channel}/messages/${type}`;
      const own = senders.filter((operation) => operation.messages.some(({ $ref }) => $ref === ref));
      expect(own.map(({ channel: { $ref } }) => $ref)).toEqual([`#/channels/${channel}`]);
      const sentScopes = own.flatMap(enough);
      const seeing = scopes.filter((scope: Scope) => canSeeEvent(new Set([scope]), type));
      expect(sentScopes.toSorted(), ref).toEqual(seeing.toSorted());
      expect(sentScopes[0]).toBe(eventOf(type).scope);
      expect((findByPointer(document, ref) as MessageObject).description).toContain(
        `\`${eventOf(type).scope}\``,
      );
    }
  }
});

test('every message belongs to an operation, and every client message has a reply', () => {
  const operations = Object.values(document.operations);
  const used = operations.flatMap((operation) => operation.messages.map(({ $ref }) => $ref));
  expect(used.toSorted()).toEqual(
    messages()
      .map(([pointer]) => pointer)
      .toSorted(),
  );
  const taken = operations.filter(({ action }) => action === 'receive');
  // A frame without an id that a call could be answered under gets the frame `error`.
  const isCall = ({ messages: sent }: (typeof taken)[number]) =>
    sent.some(({ $ref }) => $ref.includes('call'));
  expect(taken.map(({ reply }) => reply?.messages.length)).toEqual(
    taken.map((operation) => (isCall(operation) ? 2 : 1)),
  );
});

test('every schema compiles, and every message has a valid example', () => {
  const strict = {
    ...document,
    channels: forbidUnknownFields(document.channels),
    components: forbidUnknownFields(document.components),
  };
  const compile = createSchemaChecks(strict, Ajv);
  for (const [pointer, { examples, headers }] of messages()) {
    expect(examples.length, pointer).toBeGreaterThan(0);
    for (const example of examples) {
      expect(compile(`${pointer}/payload`)(example.payload), pointer).toBeNull();
      if (headers) expect(compile(`${pointer}/headers`)(example.headers), pointer).toBeNull();
    }
  }
});

test('every message and every field is described', () => {
  for (const [pointer, { summary }] of messages()) expect(summary, pointer).toMatch(/\.$/);
  const undescribed = [...partsOf(document)].flatMap(([pointer, part]) => {
    const isField = /\/properties\/[^/]+$/.test(pointer) && !pointer.includes('/examples/');
    return isField && !isDescribed(part) ? [pointer] : [];
  });
  expect(undescribed).toEqual([]);
});

/** Whether the field or its named schema has a description. */
function isDescribed({ description, $ref, allOf, items }: Record<string, unknown>): boolean {
  if (typeof description === 'string' && description !== '') return true;
  const [only] = Array.isArray(allOf) ? allOf : [];
  const ref = $ref ?? only?.$ref ?? (items as { $ref?: string } | undefined)?.$ref;
  return typeof ref === 'string' && isDescribed(findByPointer(document, ref) as Record<string, unknown>);
}
