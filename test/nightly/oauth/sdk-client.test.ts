import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { approve, createFirstAgent, createPerson, type Person, signUp } from '../../clients/person.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { type CallbackListener, startCallbackListener } from '../../clients/oauth/callback-listener.ts';
import { TestOAuthProvider } from '../../clients/oauth/mcp-oauth-provider.ts';
import { use } from '../../support/use.ts';

await describeWithBrowser('an unmodified MCP SDK client', (browser) => {
  const service = use(() => startServiceOnFixedPort({}, { worker: false }));
  let callback: CallbackListener;
  beforeEach(async () => {
    callback = await startCallbackListener();
  });
  afterEach(() => callback.close());

  /** One connection attempt, as an application makes it: a new client and transport with the provider's stored state. */
  function attempt(authProvider: TestOAuthProvider) {
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
      authProvider,
      // When a token expires, the event stream reconnects, and it gets the 401 together with the calls.
      reconnectionOptions: {
        maxRetries: 10,
        initialReconnectionDelay: 0,
        maxReconnectionDelay: 1_000,
        reconnectionDelayGrowFactor: 2,
      },
    });
    const client = new Client({ name: 'acceptance', version: '1' });
    return { client, transport, connected: client.connect(transport) };
  }

  async function handleOf(client: Client): Promise<unknown> {
    const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} });
    return structuredContent;
  }

  /** From 401 through sign-up in the browser to a connected client. */
  async function wholeWay(provider: TestOAuthProvider, person: Person, javaScriptEnabled: boolean) {
    const first = attempt(provider);
    await expect(first.connected).rejects.toThrow(UnauthorizedError);

    const context = await browser().newContext({ javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(String(provider.authorizationUrl));
    await signUp(page, person);
    await createFirstAgent(page, person);
    await approve(page, { client: 'Plain client', redirect_host: callback.host, handle: person.handle });
    const answer = (await callback.next()).searchParams;
    await context.close();
    expect(answer.get('iss')).toBe(service.url);
    await first.transport.finishAuth(answer.get('code') ?? '');

    const { client, connected } = attempt(provider);
    await connected;
    return client;
  }

  test.each([true, false])(
    'leads from 401 to a tool call, with JavaScript in the browser: %s',
    async (javaScript) => {
      const person = createPerson();
      const client = await wholeWay(new TestOAuthProvider(callback.url), person, javaScript);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('send_message');
      expect(await handleOf(client)).toMatchObject({ canonical_handle: person.handle });
      await client.close();
    },
  );

  test('refreshes an expired token automatically, without the person', async () => {
    const person = createPerson();
    const provider = new TestOAuthProvider(callback.url);
    const client = await wholeWay(provider, person, true);
    const { access_token, refresh_token } = provider.tokens() ?? {};
    await end(String(access_token), String(provider.clientInformation()?.client_id));

    expect(await handleOf(client)).toMatchObject({ canonical_handle: person.handle });
    expect(provider.tokens()?.access_token).not.toBe(access_token);
    expect(provider.tokens()?.refresh_token).not.toBe(refresh_token);
    await client.close();
  });

  /** Revokes an access token (RFC 7009); its grant stays valid. */
  async function end(token: string, client_id: string): Promise<void> {
    const body = new URLSearchParams({ token, client_id, token_type_hint: 'access_token' });
    const answer = await fetch(`${service.url}/revoke`, { method: 'POST', body });
    expect(answer.status).toBe(200);
  }
});
