import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { startMcpRemote } from '../../clients/oauth/mcp-remote.ts';
import { approve, createFirstAgent, createPerson, signUp } from '../../clients/person.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { use } from '../../support/use.ts';

await describeWithBrowser('mcp-remote', (browser) => {
  const service = use(startServiceOnFixedPort);

  test('signs a person in by the browser, and later starts without another sign-in', async () => {
    const remote = await startMcpRemote(service.url);
    const page = await browser().newPage();
    try {
      const person = createPerson();
      const first = remote.connect();
      await page.goto(await remote.opened());
      await signUp(page, person);
      await createFirstAgent(page, person);
      await approve(page, { client: 'MCP CLI Proxy', redirect_host: 'localhost:', handle: person.handle });
      await first.connected.catch((error: unknown) => expect.fail(`${String(error)}\n${remote.log()}`));

      const { tools } = await first.client.listTools();
      expect(tools.map(({ name }) => name)).toContain('send_message');
      expect(await first.client.callTool({ name: 'whoami', arguments: {} })).toMatchObject({
        structuredContent: { canonical_handle: person.handle },
      });
      await first.client.close();

      const second = remote.connect();
      await second.connected;
      expect(await second.client.callTool({ name: 'whoami', arguments: {} })).toMatchObject({
        structuredContent: { canonical_handle: person.handle },
      });
      await second.client.close();
    } finally {
      await page.close();
      await remote.close();
    }
  });
});
