import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { captureOpenedUrls } from '../../clients/oauth/opened-urls.ts';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { findFreePort } from '../../support/free-port.ts';
import { requestRest } from '../../clients/rest.ts';
import type { TestAgent } from '../../support/service.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';
import {
  startBridge,
  type BridgeOptions,
  initializeRequest,
  program,
  startRawBridge,
} from '../../clients/mcp/bridge.ts';
import { readClientConfigs, root } from './client-configs.ts';
import { type RestartableService, startRestartableService } from './restartable-service.ts';
import { isNightly } from '../../support/extent.ts';

/** The error of a refused call. */
const settleCall = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'it still works',
    (error: Error) => error.message,
  );

let service: RestartableService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ams-bridge-'));
  service = await startRestartableService();
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

function started(options: Partial<BridgeOptions>) {
  const bridge = startBridge({
    args: [service.url],
    ...options,
    env: { AMS_CONFIG_DIR: folder, ...options.env },
  });
  onTestFinished(() => bridge.client.close());
  return bridge;
}

/** An agent with its own credential, as a program has it. */
async function withCredential() {
  const { handle, id } = await service.agent();
  const made = Object(await runCliJson(service.env, ['credential', 'create', handle]));
  const { client_id, client_secret } = made as { client_id: string; client_secret: string };
  return { id, handle, client_id, env: { AMS_CLIENT_ID: client_id, AMS_CLIENT_SECRET: client_secret } };
}

async function writeTo(handle: string, writer: TestAgent) {
  const { body } = await requestRest('POST', `${service.url}/v1/threads`, {
    token: writer.token,
    body: { with_handle: handle },
  });
  const id = String(body.id);
  const send = (content: string) =>
    requestRest('POST', `${service.url}/v1/threads/${id}/messages`, {
      token: writer.token,
      body: { content },
    });
  return { id, send };
}

const sessions = async (agent_id: string) =>
  (await service.query('select 1 from mcp_sessions where agent_id = $1', [agent_id])).length;

test('a program with a credential: calls, questions, notifications, restarts, a lost session, a revoked credential', async () => {
  const { id, handle, client_id, env } = await withCredential();
  const [writer, stranger] = [await service.agent(), await service.agent()];
  const bridge = started({
    env,
    onElicitation: async () => ({ action: 'accept', content: { approve: true } }),
  });
  const { client, call, messageContents } = bridge;
  await bridge.connect();
  expect(client.getInstructions()).toContain(handle);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('send_message');
  expect(await call('whoami')).toMatchObject({ canonical_handle: handle });
  expect(await call('request_contact', { handle: stranger.handle })).toMatchObject({ status: 'pending' });
  expect(await call('send_message', { thread_id: 'thd_none', content: 'x' })).toMatchObject({
    error: { code: 'THREAD_NOT_FOUND' },
  });
  await expect(client.readResource({ uri: 'service://nothing' })).rejects.toMatchObject({ code: -32_002 });

  const thread = await writeTo(handle, writer);
  // From here on a stream that opens late misses nothing either.
  const { cursor } = await call('wait_for_events', { wait_seconds: 0 });
  expect(await call('acknowledge_events', { cursor })).toHaveProperty('pending_events');
  await client.subscribeResource({ uri: 'service://threads' });
  await thread.send('first');
  await expect.poll(messageContents).toEqual(['first']);
  expect(bridge.notifications.map(({ method }) => method)).toContain('notifications/resources/updated');

  // A cancelled call does not affect later calls.
  const cancel = new AbortController();
  const waiting = client.callTool({ name: 'wait_for_events' }, undefined, { signal: cancel.signal });
  cancel.abort('no longer');
  await expect(waiting).rejects.toThrow('no longer');

  // While the service is down the bridge retries; the key prevents a duplicate effect.
  await service.stop();
  const sent = call('send_message', { thread_id: thread.id, content: 'mine', idempotency_key: 'once' });
  await expect.poll(bridge.log).toContain('is unavailable');
  await service.start();
  expect(await sent).toMatchObject({ sequence: 2 });
  await thread.send('second');
  await expect.poll(messageContents).toEqual(['first', 'mine', 'second']);

  // The session is lost as well. Events in between arrive once; subscriptions continue.
  await service.stop();
  await service.query('delete from mcp_sessions where agent_id = $1', [id]);
  await service.start();
  await thread.send('third');
  expect(await call('list_threads')).toMatchObject({ threads: [{ id: thread.id }] });
  await expect.poll(messageContents).toEqual(['first', 'mine', 'second', 'third']);
  const before = bridge.notifications.length;
  await thread.send('fourth');
  await expect.poll(messageContents).toEqual(['first', 'mine', 'second', 'third', 'fourth']);
  expect(bridge.notifications.slice(before).map(({ method }) => method)).toContain(
    'notifications/resources/updated',
  );
  expect(await sessions(id)).toBe(1);

  expect((await runCli(service.env, ['credential', 'revoke', client_id])).code).toBe(0);
  await expect
    .poll(() => settleCall(call('whoami')))
    .toContain('AMS_CLIENT_ID and AMS_CLIENT_SECRET were refused');
  expect(bridge.log()).toContain('was revoked');
  expect(bridge.strange).toEqual([]);
});

/** Revokes the app's access, as the person does. */
async function disconnect(person: ReturnType<typeof openFormBrowser>): Promise<void> {
  const page = await person.go('/console/connections');
  for (const form of page.forms.filter(({ action }) => action.startsWith('/console/connections')))
    await person.send(form);
}

test('errors say what to do; a signal ends the bridge immediately', async () => {
  const refused = startRawBridge([service.url], { AMS_TOKEN: 'wrong' });
  refused.write(initializeRequest);
  const nowhere = startRawBridge(['--timeout', '0', `http://localhost:${await findFreePort()}`], {
    AMS_TOKEN: 'x',
  });
  nowhere.write(initializeRequest);
  const elsewhere = startRawBridge([`${service.url}/v1`], { AMS_TOKEN: 'x' });
  elsewhere.write(initializeRequest);
  const stopped = startRawBridge([service.url], {
    AMS_TOKEN: await service.token((await service.agent()).handle),
  });
  stopped.write(initializeRequest);
  stopped.write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait_for_events' } });
  stopped.child.stdout.once('data', () => stopped.child.kill('SIGTERM'));

  const expected = [
    [refused, 'AMS_TOKEN was refused'],
    [nowhere, 'cannot be reached'],
    [elsewhere, 'returned 404. Check that this is the URL of the MCP server.'],
  ] as const;
  for (const [bridge, words] of expected) {
    bridge.child.stdin.end();
    const { code, messages, log } = await bridge.ended();
    expect([code, messages]).toMatchObject([
      0,
      [{ id: 0, error: { message: expect.stringContaining(words) } }],
    ]);
    expect(log).toContain(words);
  }
  const { code, messages } = await stopped.ended();
  expect([code, messages]).toMatchObject([0, [{ id: 0, result: {} }]]);

  const wrong = startRawBridge(['no address'], {});
  expect(await wrong.ended()).toMatchObject({
    code: 2,
    messages: [],
    log: expect.stringContaining('Must be a URL'),
  });
});

test('the client configurations of docs/mcp.md connect to the tool server', async () => {
  const { env } = await withCredential();
  const here = (text: string) => text.replace('http://localhost:3000', service.url);
  const blocks = readClientConfigs();
  const addresses = blocks.flatMap((block) => ('url' in block ? [block.url] : []));
  expect(new Set(addresses)).toEqual(new Set(['http://localhost:3000/mcp']));
  expect(addresses).toHaveLength(6);
  const unauthorized = await fetch(here('http://localhost:3000/mcp'), { method: 'POST' });
  expect(unauthorized.headers.get('WWW-Authenticate')).toContain('/.well-known/oauth-protected-resource/mcp');

  const commands = blocks.flatMap((block) => ('command' in block ? [block] : []));
  expect(commands).toHaveLength(3);
  const listed = commands.map(async ({ command, args }) => {
    // The script first installs and builds what the checkout lacks; the test run has done that.
    const [script = '', entry = '', ...given] = args;
    expect(await readFile(script.replace('/path/to/agent-messaging-service', root), 'utf8')).toContain(
      `${entry}: 'src/cli/main.js'`,
    );
    const { client, connect } = started({ command: [command, program, ...given.map(here)], args: [], env });
    await connect();
    return (await client.listTools()).tools.map(({ name }) => name);
  });
  for (const names of await Promise.all(listed)) expect(names).toContain('send_message');
  const named = commands.flatMap((block) => Object.keys(block.env ?? {}));
  expect(named).toEqual(Object.keys(env));
});

if (isNightly) {
  test('a person signs in by browser, once for all bridges; tokens are readable by their owner only and replaced under a lock', async () => {
    const desktop = await captureOpenedUrls();
    onTestFinished(() => desktop.close());
    const person = openFormBrowser(service.url);
    const username = `bridged-${process.pid}`;
    await person.signUp(username, 'a quiet word in passing');
    await service.register(`${username}.helper`);

    const [one, two] = [started({ env: desktop.env }), started({ env: desktop.env })];
    const both = Promise.all([one.connect(), two.connect()]);
    const address = new URL(await desktop.next());
    const redirect = new URL(address.searchParams.get('redirect_uri') ?? '');
    // A request that guesses the port cannot supply its own code.
    for (const query of ['', '?code=x', '?code=x&state=guessed', '?error=access_denied'])
      expect((await fetch(`${redirect.href}${query}`)).status).toBe(404);
    const consent = await person.go(address.href);
    const back = (await person.approve(consent)).headers.get('Location') ?? '';
    expect((await fetch(back)).status).toBe(200);
    await both;
    const helper = { canonical_handle: `${username}.helper` };
    // From here on each bridge knows which tools only read and can be called again after a restart.
    await Promise.all([one.client.listTools(), two.client.listTools()]);
    expect(await Promise.all([one.call('whoami'), two.call('whoami')])).toMatchObject([helper, helper]);
    expect(`${one.log()}${two.log()}`).toContain(address.href);

    const files = await readdir(join(folder, 'mcp'));
    expect(files).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.json$/)]);
    expect((await stat(join(folder, 'mcp', files[0] ?? ''))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'mcp'))).mode & 0o777).toBe(0o700);

    // Both learn at the same time that their token expired. A refresh token that is used twice would revoke everything.
    for (let round = 0; round < 2; round += 1) {
      await service.query('update access_tokens set expires_at = 0', []);
      await service.stop();
      await service.start();
      expect(await Promise.all([one.call('whoami'), two.call('whoami')])).toMatchObject([helper, helper]);
    }

    // The next bridge starts no sign-in. Under another name it would.
    const three = started({ env: { BROWSER: '/bin/false' } });
    await three.connect();
    expect(await three.call('whoami')).toMatchObject(helper);

    await disconnect(person);
    for (const { call } of [one, two, three])
      await expect.poll(() => settleCall(call('whoami'))).toContain('has ended: it was revoked');
    expect([one, two, three].flatMap(({ strange }) => strange)).toEqual([]);
  });

  test('input that is not MCP gets an error, the last calls are answered, and the session ends with the client', async () => {
    const { handle, id } = await service.agent();
    const bridge = startRawBridge([`${service.url}/mcp`], { AMS_TOKEN: await service.token(handle) });
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } };
    for (const line of [
      '{',
      'hello',
      '[]',
      '{"jsonrpc":"1.0","id":3,"method":"ping"}',
      '',
      initializeRequest,
    ])
      bridge.write(line);
    bridge.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    bridge.write(call);
    bridge.child.stdin.end();
    const { code, messages, log } = await bridge.ended();
    expect(code).toBe(0);
    const errors = messages.flatMap((message) => ('error' in message ? [message.error.code] : []));
    // The empty line is no message.
    expect(errors).toEqual([-32_700, -32_700, -32_600, -32_600]);
    expect(messages.slice(errors.length)).toMatchObject([
      { id: 0, result: { serverInfo: { name: 'agent-messaging-service' } } },
      { id: 1, result: { structuredContent: { canonical_handle: handle } } },
    ]);
    expect(log).toContain('standard input: Parse error');
    expect(await sessions(id)).toBe(0);
  });
}
