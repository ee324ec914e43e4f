import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askAs } from '../../../scripts/screenshots/ask.ts';
import { describeWithBrowser } from '../../support/browser.ts';
import { approve, makeFirstAgent, newPerson, type Person, signUp } from '../person.ts';
import { startAtItsAddress } from '../service.ts';

// The policy of the page names where its form may lead in the end: only a real browser shows whether it is right.
await describeWithBrowser('the browser brings the answer to the client', (browser) => {
  let service: Awaited<ReturnType<typeof startAtItsAddress>>;
  beforeAll(async () => {
    service = await startAtItsAddress();
  });
  afterAll(() => service.stop());

  /** Where the browser goes, or tries to go, when the person has pressed a button. */
  async function answerAt(redirect_uri: string, press: (page: Page, person: Person) => Promise<void>) {
    const page = await browser().newPage();
    const person = newPerson();
    await page.goto(await askAs(service.url, { client_name: 'Somebody', redirect_uri }));
    await signUp(page, person);
    await makeFirstAgent(page, person);
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

  test('each to its own, of two that ask at the same time', async () => {
    const context = await browser().newContext();
    const person = newPerson();
    const ask = async (name: string) => {
      const redirect_uri = `https://${name}.example.com/callback`;
      const page = await context.newPage();
      await page.goto(await askAs(service.url, { client_name: name, redirect_uri }));
      return { name, page, redirect_uri };
    };
    const first = await ask('first');
    await signUp(first.page, person);
    await makeFirstAgent(first.page, person);
    const second = await ask('second');
    for (const { name, page, redirect_uri } of [first, second]) {
      const leaving = page.waitForRequest((request) => request.url().startsWith(redirect_uri));
      await approve(page, { client: name, redirect_host: `${name}.example.com`, handle: person.handle });
      expect(new URL((await leaving).url()).searchParams.get('code')).toMatch(/./);
    }
    await context.close();
  });

  test('when it is no', async () => {
    const answer = await answerAt('https://app.example.com/callback', (page) =>
      page.getByRole('button', { name: 'Cancel' }).click(),
    );
    expect(answer.get('error')).toBe('access_denied');
    expect(answer.get('code')).toBeNull();
  });
});
