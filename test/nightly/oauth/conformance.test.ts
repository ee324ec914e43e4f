import { refreshTokenGrant } from 'openid-client';
import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { startCallbackListener } from '../../clients/oauth/callback-listener.ts';
import { approve, createFirstAgent, createPerson, signUp } from '../../clients/person.ts';
import { register, signIn } from '../../clients/oauth/public-client.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { use } from '../../support/use.ts';
import { runConformance } from '../../support/conformance/run.ts';
import { findFreePort } from '../../support/free-port.ts';

await describeWithBrowser('a client that names no resource when it asks the person', (browser) => {
  const service = use(startServiceOnFixedPort);

  /** The transports that accept a token for the selected agent. */
  async function acceptingTransports(token: string, handle: string): Promise<string[]> {
    const { url } = service;
    const me = await requestRest('GET', `${url}/v1/agents/me`, { token });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const mcp = await fetch(`${url}/mcp`, { method: 'POST', headers, body: ping });
    const open: string[] = [];
    if (me.status === 200) {
      expect(me.body.canonical_handle).toBe(handle);
      open.push('api');
    } else {
      expect(me.status).toBe(401);
    }
    if (mcp.status === 200) {
      expect((await callToolRaw(url, token, 'whoami')).value).toMatchObject({ canonical_handle: handle });
      open.push('mcp');
    } else {
      expect(mcp.status).toBe(401);
    }
    const socket = await connectWebSocket(url, { token }).catch(() => undefined);
    if (socket) open.push('ws');
    await socket?.close();
    return open;
  }

  test('gets tokens for all three by refresh, each valid for its own audience', async () => {
    const callback = await startCallbackListener();
    const page = await browser().newPage();
    const person = createPerson();
    const client = await register(service.url, 'Many audiences', callback.url);
    const first = await signIn(client, { redirect_uri: callback.url }, async (address) => {
      await page.goto(address.href);
      await signUp(page, person);
      await createFirstAgent(page, person);
      await approve(page, { client: 'Many audiences', redirect_host: callback.host, handle: person.handle });
      return new URL((await callback.next()).search, callback.url);
    });
    await page.close();
    await callback.close();
    // Without a resource the token is for the whole service.
    expect(await acceptingTransports(first.access_token, person.handle)).toEqual(['api', 'mcp', 'ws']);

    const resources = {
      mcp: `${service.url}/mcp`,
      api: `${service.url}/v1`,
      ws: `${service.url.replace('http', 'ws')}/ws`,
    };
    let refresh_token = first.refresh_token ?? '';
    const opened: Record<string, string[]> = {};
    for (const [name, resource] of Object.entries(resources)) {
      const tokens = await refreshTokenGrant(client, refresh_token, { resource });
      opened[name] = await acceptingTransports(tokens.access_token, person.handle);
      expect(tokens.refresh_token).not.toBe(refresh_token);
      refresh_token = tokens.refresh_token ?? '';
    }
    expect(opened).toEqual({ mcp: ['mcp'], api: ['api', 'ws'], ws: ['ws'] });
  });
});

await describeWithBrowser('the conformance suite of the MCP project', (browser) => {
  const service = use(() => startServiceOnFixedPort({}, { worker: false }));

  /** The suite prints the address that a person must visit, and waits for the browser at its own callback. */
  async function judge(extra: readonly string[] = []) {
    const port = await findFreePort();
    const redirect_host = `127.0.0.1:${port}`;
    const client = await register(service.url, 'Conformance', `http://${redirect_host}/callback`);
    const { client_id } = client.clientMetadata();
    const page = await browser().newPage();
    const person = createPerson();
    let visit = Promise.resolve();
    const run = await runConformance(
      ['authorization', '--url', service.url, '--client-id', client_id, '--port', String(port), ...extra],
      (line) => {
        if (!line.startsWith(`${service.url}/authorize?`)) return;
        visit = page
          .goto(line)
          .then(() => signUp(page, person))
          .then(() => createFirstAgent(page, person))
          .then(() => approve(page, { client: 'Conformance', redirect_host, handle: person.handle }));
      },
    );
    await visit;
    await page.close();
    return run;
  }

  const expected = [
    ['authorization-code-grant', 'SUCCESS'],
    ['authorization-server-metadata', 'SUCCESS'],
    ['authorization-server-metadata-cimd', 'SUCCESS'],
  ];

  test('passes for the authorization server', async () => {
    const { code, checks, output } = await judge();
    expect(
      checks.map(({ id, status }) => [id, status]),
      output,
    ).toEqual(expected);
    expect(code).toBe(0);
  });

  test('passes with the tool server as the resource', async () => {
    const { code, checks, output } = await judge(['--resource', `${service.url}/mcp`]);
    expect(
      checks.map(({ id, status }) => [id, status]),
      output,
    ).toEqual(expected);
    expect(code).toBe(0);
  });
});
