import { textContent } from 'domutils';
import { expect, test } from 'vitest';
import { createCredential } from '../../../../src/services/auth/credentials.ts';
import { findForm, type PageResponse } from '../../../clients/form-browser.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { type SignedInPerson, signInPerson } from '../signed-in-person.ts';

const service = useSharedService();

interface Named {
  client_id: string;
  client_secret: string;
}

const addressOf = ({ id }: TestAgent, { client_id }: Named) =>
  `/console/agents/${id}/credentials/${client_id}/rotate`;

/** A person with an agent that has a credential. */
async function withCredential() {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const order = { handle: mine.handle, scopes: ['agents:read', 'threads:read'] as const, name: 'Night job' };
  const credential: Named = await service.write((work) => createCredential(work, order));
  return { ada, mine, credential };
}

async function requestToken({ client_id, client_secret }: Named): Promise<{ status: number; token: string }> {
  const answer = await fetch(`${service.url}/token`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: `grant_type=client_credentials&resource=${encodeURIComponent('http://localhost:3000/v1')}`,
  });
  const { access_token = '' } = (await answer.json()) as { access_token?: string };
  return { status: answer.status, token: access_token };
}

const readSecret = (page: PageResponse): string => textContent(page.elements('output')[1] ?? []);

async function rotate(ada: SignedInPerson, address: string, previous: 'keep' | 'end'): Promise<PageResponse> {
  return ada.fill(address, { fields: { previous } });
}

test('a rotated credential has a new secret, shown once; the previous one works for 24 hours more', async () => {
  const { ada, mine, credential } = await withCredential();
  const before = await requestToken(credential);
  const page = await rotate(ada, addressOf(mine, credential), 'keep');
  expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const client_secret = readSecret(page);
  expect(client_secret).toMatch(/^[\w-]{43}$/);
  expect(client_secret).not.toBe(credential.client_secret);
  const renewed = { ...credential, client_secret };
  const answers = await Promise.all([credential, renewed].map(requestToken));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const tokens = [before, ...answers].map(({ token }) => token);
  const seen = await Promise.all(tokens.map((token) => service.get({ token }, '/agents/me')));
  expect(seen.map(({ body }) => body.id)).toEqual([mine.id, mine.id, mine.id]);
  const list = await ada.go(`/console/agents/${mine.id}/credentials`);
  expect(list.text).not.toContain(client_secret);
  expect(list.visibleText).toContain('secret of just now');
  const stored = { text: 'select c::text as row from credentials c where client_id = $1' };
  const [row] = await service.core.database.query<{ row: string }>(stored, [credential.client_id]);
  expect(row?.row).not.toContain(client_secret);

  const expire = { text: 'update credentials set previous_secret_until = $2 where client_id = $1' };
  await service.core.database.query(expire, [credential.client_id, Date.now() - 1]);
  expect((await requestToken(credential)).status).toBe(401);
  expect((await requestToken(renewed)).status).toBe(200);
  expect((await ada.go('/console/audit?kind=access')).visibleText).toContain('Credential rotated');
});

test('a previous secret that others may know ends at once, with its tokens and connections', async () => {
  const { ada, mine, credential } = await withCredential();
  const { token } = await requestToken(credential);
  const socket = await connectWebSocket(service.url, { token });
  const page = await rotate(ada, addressOf(mine, credential), 'end');
  expect(page.visibleText).toContain('The previous secret no longer works.');
  expect(await socket.closed).toMatchObject({ code: 1008 });
  expect((await service.get({ token }, '/agents/me')).status).toBe(401);
  expect((await requestToken(credential)).status).toBe(401);
  expect((await requestToken({ ...credential, client_secret: readSecret(page) })).status).toBe(200);
});

test('only the last two secrets work, and one that is ended does not come back', async () => {
  const { ada, mine, credential } = await withCredential();
  const address = addressOf(mine, credential);
  const second = { ...credential, client_secret: readSecret(await rotate(ada, address, 'keep')) };
  const third = { ...credential, client_secret: readSecret(await rotate(ada, address, 'keep')) };
  const statuses = async (all: Named[]) =>
    Promise.all(all.map(async (each) => (await requestToken(each)).status));
  expect(await statuses([credential, second, third])).toEqual([401, 200, 200]);
  const fourth = { ...credential, client_secret: readSecret(await rotate(ada, address, 'end')) };
  expect(await statuses([credential, second, third, fourth])).toEqual([401, 401, 401, 200]);
});

test('a form rotates once, however often it is sent', async () => {
  const { ada, mine, credential } = await withCredential();
  const address = addressOf(mine, credential);
  const form = findForm(await ada.go(address), address);
  const answers = await Promise.all([1, 2, 3].map(() => ada.send(form)));
  const shown = answers.filter((page) => page.elements('output').length > 0);
  expect(shown).toHaveLength(1);
  const others = answers.filter((page) => page.elements('output').length === 0);
  others.forEach((page) => expect(page.visibleText).toContain('was rotated or revoked before'));
  const [page] = shown;
  if (!page) throw new Error('no answer has the secret');
  const all = [credential, { ...credential, client_secret: readSecret(page) }];
  const statuses = await Promise.all(all.map(async (each) => (await requestToken(each)).status));
  expect(statuses).toEqual([200, 200]);
});

test('a revoked credential and one of another agent stay as they are', async () => {
  const [{ ada, mine, credential }, eve] = [await withCredential(), await withCredential()];
  const hers = `/console/agents/${mine.id}/credentials/${eve.credential.client_id}/rotate`;
  expect((await ada.go(hers)).status).toBe(404);
  const own = addressOf(mine, credential);
  const form = findForm(await ada.go(own), own);
  const foreign = await ada.send({ ...form, action: hers });
  expect(foreign.status).toBe(404);
  expect((await requestToken(eve.credential)).status).toBe(200);
  const revoke = own.replace(/rotate$/, 'revoke');
  await ada.fill(revoke);
  const late = await ada.send(form);
  expect(late.visibleText).toContain('was rotated or revoked before');
  expect((await requestToken(credential)).status).toBe(401);
});
