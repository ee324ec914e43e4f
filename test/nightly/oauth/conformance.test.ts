import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { runConformance } from '../../support/conformance/run.ts';
import { findFreePort } from '../../support/free-port.ts';
import { approve, createFirstAgent, createPerson, signUp } from '../../clients/person.ts';
import { register } from '../../clients/oauth/public-client.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { use } from '../../support/use.ts';

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
