import { expect, onTestFinished, test } from 'vitest';
import { a2aAddress, bindings, createA2aClient, reasonOf, toA2aMessage } from '../../../clients/a2a.ts';
import { requestRest } from '../../../clients/rest.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { type ProxyAction, startHttpProxy } from '../../../support/servers/http-proxy.ts';
import { waitUntil } from '../../webhooks/setup.ts';
import { accept, connect, findRemote, invite, tokenFor } from './setup.ts';
import { startInstallation, useInstallation } from '../setup.ts';

const here = useInstallation();
const there = useInstallation();

/** Posts to the address of an invitation, as another installation does. */
async function post(address: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as { token?: string; error?: { code: string; message: string } };
  return { status: response.status, answer };
}

const introduction = { card_url: 'https://agent.example/a2a/eve/bot/card.json', token: 'a'.repeat(43) };

test('the token of an invitation serves calls of its agent over A2A', async () => {
  const { bob, remoteBob } = await connect(here, there);
  const token = await tokenFor(here, remoteBob);
  const base = a2aAddress(there.url, bob.handle);
  const send = { message: toA2aMessage('Hello'), configuration: { returnImmediately: true } };
  const calls = bindings.map((binding) => createA2aClient(binding, base, token).call('SendMessage', send));
  for (const { result } of await Promise.all(calls))
    expect(result.task.status.state).toBe('TASK_STATE_SUBMITTED');
  const legacy = await requestRest('POST', base.replace('/a2a/', '/a2a/v0.3/'), {
    token,
    body: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'unknown' } },
  });
  expect(legacy.body.error.code).toBe(-32_001);
  const card = await requestRest('GET', `${base}/.well-known/agent-card.json`, { token });
  expect(card.status).toBe(200);
});

test('an answer that was lost is given again, and to the same redeemer only', async () => {
  const bob = await there.agent();
  const address = await invite(there, bob);
  const [first, again] = [await post(address, introduction), await post(address, introduction)];
  expect(first.status).toBe(200);
  expect(again).toEqual(first);
  expect(await post(address, { ...introduction, token: 'b'.repeat(43) })).toMatchObject({ status: 404 });
  expect(await there.core.db.remoteAgents.listBound(bob.id)).toHaveLength(1);
  expect(first.answer.token).not.toBe((await post(await invite(there, bob), introduction)).answer.token);
});

test('invitations that are unknown, expired, or of a retired agent look the same', async () => {
  const [bob, gone] = [await there.agent(), await there.agent()];
  const [expired, retired] = [await invite(there, bob), await invite(there, gone)];
  await there.sql('update remote_invitations set expires_at = $2 where agent_id = $1', [
    bob.id,
    Date.now() - 1,
  ]);
  await there.sql('update agents set retired_at = $2 where id = $1', [gone.id, Date.now()]);
  const addresses = [`${there.url}/a2a/-/invitations/unknown`, expired, retired];
  const answers = await Promise.all(addresses.map((address) => post(address, introduction)));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  expect(new Set(answers.map(({ answer }) => answer.error?.message)).size).toBe(1);
  const invalid = await Promise.all(addresses.map((address) => post(address, { card_url: 'x' })));
  expect(invalid.map(({ status }) => status)).toEqual([400, 400, 400]);
});

test('over a line that loses answers, an invitation is redeemed once', async () => {
  const port = await findFreePort();
  let action: ProxyAction = 'unanswered';
  const proxy = await startHttpProxy(`http://127.0.0.1:${port}`, () => action);
  const behind = await startInstallation({ port, env: { PUBLIC_URL: proxy.url } });
  onTestFinished(async () => {
    await behind.stop();
    await proxy.close();
  });
  const [ann, bob] = [await here.agent(), await behind.agent()];
  const remote = await accept(here, ann, await invite(behind, bob));
  await waitUntil(() => findRemote(behind, bob)).toBeDefined();
  await waitUntil(async () => (await here.readRemote(ann, remote.id)).card_error).toEqual(expect.any(String));
  action = 'pass';
  await here.post(ann, `/remote-agents/${remote.id}/refresh`);
  await waitUntil(async () => (await here.readRemote(ann, remote.id)).state).toBe('ready');
  expect(await behind.core.db.remoteAgents.listBound(bob.id)).toHaveLength(1);
});

test('either side ends it: the other one is told, and sends nothing until a person confirms', async () => {
  const { ann, bob, remoteBob, remoteAnn } = await connect(here, there);
  const thread = await here.thread(ann, remoteBob);
  const removed = await requestRest('DELETE', `${there.api}/remote-agents/${remoteAnn.id}`, {
    token: bob.token,
  });
  expect(removed.status).toBe(204);
  await here.send(ann, thread, 'Hello');
  await waitUntil(async () => here.readRemote(ann, remoteBob.id)).toMatchObject({
    state: 'waiting',
    last_error: expect.stringContaining('revoked'),
    expires_at: null,
  });
  expect(await here.sql('select from remote_messages where thread_id = $1', [thread])).toEqual([]);
});

test.each(['retire', 'erase'])('an agent that was %sd has no invitations any more', async (how) => {
  const { ann, bob, remoteBob, remoteAnn } = await connect(here, there);
  const open = await invite(there, bob);
  const token = await tokenFor(here, remoteBob);
  const gone = await requestRest('DELETE', `${there.api}/agents/${bob.id}`, { token: bob.token });
  expect(gone.status, gone.text).toBe(204);
  if (how === 'erase') await there.write((work) => work.db.erasure.removeOwnedRows(bob.id));
  expect(await there.core.db.remoteAgents.find(remoteAnn.id)).toBeUndefined();
  expect(await post(open, introduction)).toMatchObject({ status: 404 });
  const client = createA2aClient('JSONRPC', a2aAddress(there.url, bob.handle), token);
  expect(reasonOf(await client.call('SendMessage', { message: toA2aMessage('Hello') }))).toBe('UNAUTHORIZED');
  expect((await here.readRemote(ann, remoteBob.id)).only_with).toBe(ann.handle);
});
