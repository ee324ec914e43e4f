import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { buildAuthorizationUrl } from '../../../scripts/screenshots/authorization-request.ts';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { approve, createFirstAgent, createPerson, type Person, signUp } from '../../clients/person.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

// The form-action policy restricts where the form may redirect; only a real browser shows whether it is right.
await describeWithBrowser('the browser brings the answer to the client', (browser) => {
  let service: Awaited<ReturnType<typeof startServiceOnFixedPort>>;
  beforeAll(async () => {
    service = await startServiceOnFixedPort();
  });
  afterAll(() => service.stop());

  /** The address that the browser opens, or tries to open, after the person pressed a button. */
  async function answerAt(redirect_uri: string, press: (page: Page, person: Person) => Promise<void>) {
    const page = await browser().newPage();
    const person = createPerson();
    await page.goto(await buildAuthorizationUrl(service.url, { client_name: 'Somebody', redirect_uri }));
    await signUp(page, person);
    await createFirstAgent(page, person);
    const leaving = page.waitForRequest((request) => request.url().startsWith(redirect_uri));
    await press(page, person);
    const request = await leaving;
    await page.close();
    expect(request.headers()).not.toHaveProperty('referer');
    return new URL(request.url()).searchParams;
  }

  test.each([
    ['http://127.0.0.1:8765/callback', '127.0.0.1:8765'],
    ['http://localhost:8765/callback', 'localhost:8765'],
    ['http://[::1]:8765/callback', '[::1]:8765'],
    ['https://app.example.com:8443/callback?tenant=1', 'app.example.com:8443'],
    ['cursor://anysphere.cursor-mcp/oauth/callback', 'cursor:'],
    ['com.example.app:/oauth', 'com.example.app:'],
  ])('at %s', async (redirect_uri, redirect_host) => {
    const answer = await answerAt(redirect_uri, (page, { handle }) =>
      approve(page, { client: 'Somebody', redirect_host, handle }),
    );
    expect(answer.get('code')).toMatch(/./);
    expect(answer.get('iss')).toBe(service.url);
  });

  test('each to its own client, of two concurrent requests', async () => {
    const context = await browser().newContext();
    const person = createPerson();
    const ask = async (name: string) => {
      const redirect_uri = `https://${name}.example.com/callback`;
      const page = await context.newPage();
      await page.goto(await buildAuthorizationUrl(service.url, { client_name: name, redirect_uri }));
      return { name, page, redirect_uri };
    };
    const first = await ask('first');
    await signUp(first.page, person);
    await createFirstAgent(first.page, person);
    const second = await ask('second');
    for (const { name, page, redirect_uri } of [first, second]) {
      const leaving = page.waitForRequest((request) => request.url().startsWith(redirect_uri));
      await approve(page, { client: name, redirect_host: `${name}.example.com`, handle: person.handle });
      expect(new URL((await leaving).url()).searchParams.get('code')).toMatch(/./);
    }
    await context.close();
  });

  test('after a refusal', async () => {
    const answer = await answerAt('https://app.example.com/callback', (page) =>
      page.getByRole('button', { name: 'Cancel' }).click(),
    );
    expect(answer.get('error')).toBe('access_denied');
    expect(answer.get('code')).toBeNull();
  });
});
