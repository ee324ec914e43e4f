import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { injectAxe, findPageFaults } from '../../acceptance/pages/page-faults.ts';
import { use } from '../../support/use.ts';

await describeWithBrowser('the API reference', (browser) => {
  const service = use(() => startServiceOnFixedPort({}, { worker: false }));

  async function withPage(
    go: (page: Page, context: BrowserContext) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> {
    const context = await browser().newContext({ baseURL: service.url, ...options });
    try {
      await go(await context.newPage(), context);
    } finally {
      await context.close();
    }
  }

  /** Sends GET /agents/me with the page, and returns what it shows as the answer. */
  async function sendRequest(page: Page): Promise<string> {
    await page.goto('/docs#get_me');
    const operation = page.locator('#get_me');
    await operation.getByRole('button', { name: 'Send' }).click();
    const answer = operation.locator('output', { hasText: '200' });
    await answer.waitFor();
    return (await answer.textContent()) ?? '';
  }

  const keptToken = 'JSON.parse(sessionStorage.getItem("token"))';

  test('takes a pasted token, and refuses a wrong one with the reason', async () => {
    const agent = await service.agent();
    await withPage(async (page) => {
      await page.goto('/docs#get_me');
      await page.getByRole('textbox', { name: 'Access token' }).fill('wrong');
      await page.getByRole('button', { name: 'Use token' }).click();
      await page.getByText('The token was not accepted:').waitFor();
      await page.getByRole('textbox', { name: 'Access token' }).fill(agent.token);
      await page.getByRole('button', { name: 'Use token' }).click();
      await page.getByText(`Requests are sent as @${agent.handle}.`).waitFor();
      expect(await sendRequest(page)).toContain(agent.handle);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('The token is forgotten.').waitFor();
    });
  });

  test('signs a person in, sends requests with the token, and revokes it', async () => {
    const ada = await signInPerson(service);
    const agent = await ada.agent();
    await withPage(async (page, context) => {
      const value = ada.cookies.get('ams_session')?.value ?? '';
      await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
      await page.goto('/docs#get_me');
      await page.getByText('Requests are sent without an access token.').waitFor();
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      expect(await page.getByText('Not verified').count()).toBe(0);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText(`Requests are sent as @${agent.handle}.`).waitFor();
      expect(page.url()).toBe(`${service.url}/docs#get_me`);
      expect(await sendRequest(page)).toContain(agent.handle);

      const token = await page.evaluate<{ access_token: string }>(keptToken);
      await page.evaluate(
        `sessionStorage.setItem("token", JSON.stringify({ ...${keptToken}, expires_at: 0 }))`,
      );
      await page.reload();
      await page.getByText(`Requests are sent as @${agent.handle}.`).waitFor();
      const renewed = await page.evaluate<{ access_token: string }>(keptToken);
      expect(renewed.access_token).not.toBe(token.access_token);

      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('You are signed out.').waitFor();
      expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
      const me = () => service.get({ token: renewed.access_token }, '/agents/me');
      await expect.poll(async () => (await me()).status).toBe(401);
      await page.goto('/console/connections');
      expect(await page.getByText('API reference').count()).toBe(0);
    });
  });

  test('says that a sign-in was denied, or was started elsewhere', async () => {
    const ada = await signInPerson(service);
    await ada.agent();
    await withPage(async (page, context) => {
      const value = ada.cookies.get('ams_session')?.value ?? '';
      await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
      await page.goto('/docs');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('The person denied the request.').waitFor();
      const forged = new URLSearchParams({ code: 'stolen', state: 'theirs', iss: service.url });
      await page.goto(`/docs?${forged.toString()}`);
      await page.getByText('The sign-in was not started in this tab.').waitFor();
      expect(page.url()).toBe(`${service.url}/docs`);
    });
  });

  test('sends the parameters and the body that a person enters, and shows an error', async () => {
    const [ada, bob] = [await service.agent(), await service.agent()];
    const thread = await service.thread(ada, bob);
    await withPage(async (page) => {
      await page.goto('/docs#send_message');
      await page.getByRole('textbox', { name: 'Access token' }).fill(ada.token);
      await page.getByRole('button', { name: 'Use token' }).click();
      await page.getByText(`Requests are sent as @${ada.handle}.`).waitFor();
      const operation = page.locator('#send_message');
      const send = operation.getByRole('button', { name: 'Send' });
      await operation.getByLabel('thread_id').fill('thd_absent');
      await send.click();
      await operation.getByText('THREAD_NOT_FOUND', { exact: false }).last().waitFor();
      await operation.getByLabel('thread_id').fill(thread);
      await operation.getByLabel('Body').fill('{"content":"<b>hello</b>"}');
      await send.click();
      await operation.locator('output', { hasText: '201' }).waitFor();
      expect(await operation.locator('output').textContent()).toContain('<b>hello</b>');
    });
    const { body } = await service.get(bob, `/threads/${thread}/messages`);
    expect(body.messages).toHaveLength(1);
  });

  test.each(['light', 'dark'] as const)('follows the color scheme %s of the reader', async (colorScheme) => {
    await withPage(
      async (page, context) => {
        await injectAxe(context);
        for (const path of ['/docs', '/docs/events', '/docs/guide', '/docs/configuration']) {
          await page.goto(path);
          await page.evaluate('document.querySelectorAll("details").forEach((one) => (one.open = true))');
          expect(await findPageFaults(page)).toEqual([]);
        }
        const background = await page.evaluate<string>(
          'getComputedStyle(document.documentElement).backgroundColor',
        );
        const [red = 0] = (/\d+/.exec(background) ?? []).map(Number);
        expect(red < 128).toBe(colorScheme === 'dark');
      },
      { colorScheme, viewport: { width: 320, height: 640 } },
    );
  });
});
