import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fakeService, type FakeService } from '../../../packages/client/src/testing/main.ts';
import committed from '../../../packages/client/src/testing/contract.json' with { type: 'json' };
import { operations } from '../../../packages/client/src/testing/operations/execute.ts';
import {
  buildFakeContract,
  fakedOperations,
  operationsNotFaked,
} from '../../../scripts/client/fake-contract.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { stopAfterTest } from '../../support/use.ts';

const start = async (): Promise<FakeService> => stopAfterTest(await fakeService());

interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

async function request(
  url: string,
  token: string,
  body?: object,
  key = crypto.randomUUID(),
): Promise<Answer> {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} };
}

/** A thread of two agents with a message. */
async function converse(service: FakeService) {
  const ann = service.agent('acme.ann');
  const bob = service.agent('globex.bob');
  const body = { with_handle: bob.handle, initial_message: 'Hello' };
  const { body: thread } = await request(`${service.url}/v1/threads`, ann.token, body);
  return { ann, bob, thread };
}

test('the fake service has the contract of the catalogue', () => {
  // When this fails: npm run generate
  expect(committed).toEqual(buildFakeContract());
});

test('its operations take the input of those of the service', () => {
  const schemaOf = (input?: z.ZodType) =>
    input && z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  for (const { name, input, rest } of fakedOperations) {
    const { properties, ...taken } = schemaOf(operations.get(name)?.input) ?? {};
    // A file is no JSON.
    expect({ ...taken, ...(!rest?.upload && { properties }) }, name).toEqual(
      rest?.upload ? expect.objectContaining(taken) : schemaOf(input),
    );
  }
});

test('it has every operation of its contract, and the documentation lists the missing ones', () => {
  expect([...operations.keys()].toSorted()).toEqual(Object.keys(committed.operations).toSorted());
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/testing.md'), 'utf8');
  const [, section = ''] = page.split('## What it does not cover');
  const listed = Array.from(section.matchAll(/`([a-z]+_[a-z_]+)`/g), ([, name = '']) => name);
  expect(listed.toSorted()).toEqual([...operationsNotFaked].toSorted());
});

test('two services create the same ids and times', async () => {
  const results = [];
  for (const service of [await start(), await start()]) results.push((await converse(service)).thread);
  expect(results[0]).toEqual(results[1]);
  expect(results[0]?.['created_at']).toBe(Date.UTC(2026, 0, 1));
});

test('a client credential yields a token, which expires when the clock moves', async () => {
  const service = await start();
  const { client_id, client_secret } = service.agent('acme.ann');
  const form = { grant_type: 'client_credentials', client_id, client_secret };
  const ask = (fields: Record<string, string>) =>
    fetch(`${service.url}/token`, { method: 'POST', body: new URLSearchParams(fields) });
  const { access_token, expires_in } = (await (await ask(form)).json()) as Record<string, string>;
  const me = async () => (await request(`${service.url}/v1/agents/me`, access_token ?? '')).status;
  expect(await me()).toBe(200);
  service.clock.advance(Number(expires_in) * 1_000);
  expect(await me()).toBe(401);
  expect((await ask({ ...form, client_secret: 'wrong' })).status).toBe(401);
  expect((await ask({ ...form, grant_type: 'password' })).status).toBe(400);
});

test('a revoked token closes its connection', async () => {
  const service = await start();
  const { token } = service.agent('acme.ann');
  const client = await connectWebSocket(service.url, { token });
  service.revoke(token);
  expect((await client.closed).code).toBe(1008);
});

test('requests fail as the test configures', async () => {
  const service = await start();
  const { token } = service.agent('acme.ann');
  service.failNext({ status: 503, retry_after: 2 });
  service.failNext({ status: 'disconnect' });
  const url = `${service.url}/v1/agents/me`;
  const failed = await request(url, token);
  expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '2']);
  expect(failed.body).toMatchObject({ error: { code: 'UNAVAILABLE' } });
  await expect(request(url, token)).rejects.toThrow('fetch failed');
  expect((await request(url, token)).status).toBe(200);
});

test('removed events are a gap for readers that have not seen them', async () => {
  const service = await start();
  const { bob } = await converse(service);
  const url = `${service.url}/v1/events`;
  const first = await request(`${url}?limit=1`, bob.token);
  service.removeEvents(bob.handle);
  const cursor = String(first.body['cursor']);
  const next = await request(`${url}?cursor=${cursor}`, bob.token);
  expect(next.body).toMatchObject({ events: [], complete: true, gap: true });
  const client = await connectWebSocket(service.url, { token: bob.token, cursor });
  expect(client.ready).toMatchObject({ gap: true });
  await client.close();
});

test('disconnect cuts connections, and the agents can reconnect', async () => {
  const service = await start();
  const { bob, ann } = await converse(service);
  const client = await connectWebSocket(service.url, { token: bob.token });
  service.disconnect();
  expect((await client.closed).code).toBe(1006);
  const again = await connectWebSocket(service.url, { token: bob.token, cursor: client.ready.cursor });
  service.connect(ann.handle, bob.handle);
  await again.next(({ type }) => type === 'contact.added');
  await again.close();
});

test('routes that the fake service does not cover are 404', async () => {
  const service = await start();
  const { token } = service.agent('acme.ann');
  const { status, body } = await request(`${service.url}/v1/conversations`, token);
  expect([status, body]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
  expect(() => service.connect('acme.ann', 'no.body')).toThrow('the fake service has no agent no.body');
});
