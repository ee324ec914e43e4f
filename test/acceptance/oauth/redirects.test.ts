import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { buildAuthorizationUrl } from '../../../scripts/screenshots/authorization-request.ts';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { approve, createFirstAgent, createPerson, signUp } from '../../clients/person.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { isNightly } from '../../support/extent.ts';
import { use } from '../../support/use.ts';

const addresses = [
  ['http://127.0.0.1:8765/callback', '127.0.0.1:8765'],
  ['http://localhost:8765/callback', 'localhost:8765'],
  ['http://[::1]:8765/callback', '[::1]:8765'],
  ['https://app.example.com:8443/callback?tenant=1', 'app.example.com:8443'],
  ['cursor://anysphere.cursor-mcp/oauth/callback', 'cursor:'],
  ['com.example.app:/oauth', 'com.example.app:'],
] as const;

// The form-action policy restricts where the form may redirect; only a real browser shows whether it is right.
await describeWithBrowser('the browser brings the answer to the client', (browser) => {
  const service = use(() => startServiceOnFixedPort({}, { worker: false }));

  /** The address that the browser opens, or tries to open, after the person pressed a button. */
  async function readAnswer(page: Page, redirect_uri: string, press: () => Promise<void>) {
    const leaving = page.waitForRequest((request) => request.url().startsWith(redirect_uri));
    await press();
    const request = await leaving;
    expect(request.headers()).not.toHaveProperty('referer');
    return new URL(request.url()).searchParams;
  }

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

  if (!isNightly) return;
  test('at every kind of address, to a person who signs up and to one who is signed in', async () => {
    const context = await browser().newContext();
    const person = createPerson();
    for (const [index, [redirect_uri, redirect_host]] of addresses.entries()) {
      const page = await context.newPage();
      await page.goto(await buildAuthorizationUrl(service.url, { client_name: 'Somebody', redirect_uri }));
      if (index === 0) {
        await signUp(page, person);
        await createFirstAgent(page, person);
      }
      const answer = await readAnswer(page, redirect_uri, () =>
        approve(page, { client: 'Somebody', redirect_host, handle: person.handle }),
      );
      expect(answer.get('code'), redirect_uri).toMatch(/./);
      expect(answer.get('iss')).toBe(service.url);
      await page.close();
    }
    const redirect_uri = 'https://app.example.com/refused';
    const page = await context.newPage();
    await page.goto(await buildAuthorizationUrl(service.url, { client_name: 'Somebody', redirect_uri }));
    const refusal = await readAnswer(page, redirect_uri, () =>
      page.getByRole('button', { name: 'Cancel' }).click(),
    );
    expect([refusal.get('error'), refusal.get('code')]).toEqual(['access_denied', null]);
    await context.close();
  });
});
