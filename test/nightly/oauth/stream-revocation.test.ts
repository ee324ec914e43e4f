import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundledProgram } from '../../support/vitest/bundled-program.ts';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { startProcess, type ServiceProcess } from '../../../scripts/parts/service-process.ts';
import { startService, createTestSettings, type TestService } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { createApp, registerApp, readTokens } from '../../clients/oauth/app.ts';
import { password } from '../../integration/oauth/authorization-server.ts';
import { use } from '../../support/use.ts';

/** Two API processes over one database: what ends at one is heard at the other. */
const settings = use(() => createTestSettings('postgres'));
let here: TestService;
let there: ServiceProcess;
beforeAll(async () => {
  settings.env['REFRESH_GRACE_SECONDS'] = '60';
  here = await startService({ worker: false, env: settings.env });
  there = await startProcess(
    'api',
    { ...settings.env, LOG_LEVEL: 'info' },
    { program: bundledProgram('api') },
  );
});
afterAll(async () => {
  await there.terminate();
  await here.stop();
});

let count = 0;

/** An app that a person of the service has connected, and its tokens for sockets and for tools. */
async function connected() {
  const username = `streams-${(count += 1)}`;
  const browser = openFormBrowser(here.url);
  await browser.signUp(username, password);
  const agent = await here.register({ handle: `${username}.agent` });
  const app = await registerApp(here.url);
  const answer = await app.approved({ username, agent }, {}, browser);
  const socket = readTokens(await app.exchange(answer.get('code') ?? ''));
  const resource = 'http://localhost:3000/mcp';
  const tools = readTokens(await app.refresh(socket.refresh_token, { resource }));
  return { app, socket: socket.access_token, tools: tools.access_token, refresh_token: tools.refresh_token };
}

test('a grant that ends at one process ends open sockets and tool streams at another', async () => {
  const { app, socket, tools, refresh_token } = await connected();
  const stays = await connected();
  const open = await connectWebSocket(there.url, { token: socket });
  const other = await connectWebSocket(there.url, { token: stays.socket });
  const stream = await fetch(`${there.url}/mcp`, {
    headers: { Authorization: `Bearer ${tools}`, Accept: 'text/event-stream' },
  });
  expect(stream.status).toBe(200);

  expect((await app.revoke(refresh_token)).status).toBe(200);
  expect(await open.closed).toMatchObject({ code: 1008 });
  await stream.text();

  const again = await fetch(`${there.url}/v1/agents/me`, { headers: { Authorization: `Bearer ${socket}` } });
  expect(again.status).toBe(401);
  other.send({ type: 'ping' });
  await other.next(({ type }) => type === 'pong');
  await other.close();
});

test('a refresh token used at two processes concurrently is valid at both, and so are the new tokens', async () => {
  const { app, refresh_token } = await connected();
  const elsewhere = createApp(there.url, app.client_id, app.redirect_uri, app.pair);
  const answers = await Promise.all([app, elsewhere].map((each) => each.refresh(refresh_token)));
  const issued = answers.map(readTokens);
  expect(new Set(issued.map((tokens) => tokens.refresh_token)).size).toBe(2);
  for (const each of issued) {
    const next = readTokens(await elsewhere.refresh(each.refresh_token));
    const headers = { Authorization: `Bearer ${next.access_token}` };
    expect((await fetch(`${there.url}/v1/agents/me`, { headers })).status).toBe(200);
  }
});

test('a code, a refresh token and a pending request of one process are valid at another', async () => {
  const username = `streams-${(count += 1)}`;
  const browser = openFormBrowser(here.url);
  await browser.signUp(username, password);
  const agent = await here.register({ handle: `${username}.agent` });
  const app = await registerApp(here.url);
  const [code, later] = [
    await app.approved({ username, agent }, {}, browser),
    await app.approved({ username, agent }, {}, browser),
  ];
  const at = (url: string) => createApp(url, app.client_id, app.redirect_uri, app.pair);
  const tokens = readTokens(await at(there.url).exchange(code.get('code') ?? ''));
  await there.kill9();
  there = await startProcess(
    'api',
    { ...settings.env, LOG_LEVEL: 'info' },
    { program: bundledProgram('api') },
  );
  const restarted = at(there.url);
  expect((await restarted.refresh(tokens.refresh_token)).status).toBe(200);
  expect((await restarted.exchange(later.get('code') ?? '')).status).toBe(200);
});
