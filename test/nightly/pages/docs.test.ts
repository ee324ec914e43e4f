import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { injectAxe, findPageFaults } from '../../acceptance/pages/page-faults.ts';
import { use } from '../../support/use.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

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
    const operation = page.locator('.opblock', { hasText: '/agents/me' }).first();
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table');
    await answer.locator('.response-col_status').last().waitFor();
    return (await answer.textContent()) ?? '';
  }

  async function openGroup(page: Page, name: string): Promise<void> {
    await page.locator(`#operations-tag-${name}`).waitFor();
    const isOpen = await page.locator(`#operations-tag-${name}`).getAttribute('data-is-open');
    if (isOpen !== 'true') await page.locator(`#operations-tag-${name}`).click();
  }

  const keptToken = 'JSON.parse(sessionStorage.getItem("token"))';

  test('takes a pasted token, and refuses a wrong one with the reason', async () => {
    const agent = await service.agent();
    await withPage(async (page) => {
      await page.goto('/docs#/agents');
      await page.getByRole('textbox', { name: 'Access token' }).fill('wrong');
      await page.getByRole('button', { name: 'Use token' }).click();
      await page.getByText('The token was not accepted:').waitFor();
      await page.getByRole('textbox', { name: 'Access token' }).fill(agent.token);
      await page.getByRole('button', { name: 'Use token' }).click();
      await page.getByText(`Requests are sent as @${agent.handle}.`).waitFor();
      await openGroup(page, 'agents');
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
      await page.goto('/docs#/agents');
      await page.getByText('Requests are sent without an access token.').waitFor();
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('API reference', { exact: true }).waitFor();
      expect(await page.getByText('Not verified').count()).toBe(0);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText(`Requests are sent as @${agent.handle}.`).waitFor();
      expect(page.url()).toBe(`${service.url}/docs#/agents`);
      await openGroup(page, 'agents');
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

  test('prefills no optional parameter', async () => {
    await withPage(async (page) => {
      await page.goto('/docs#/threads');
      await openGroup(page, 'threads');
      const operation = page.locator('#operations-threads-list_threads');
      await operation.locator('.opblock-summary-control').click();
      await operation.getByRole('button', { name: 'Try it out' }).click();
      const fields = operation.locator('.parameters input[type=text]');
      await fields.first().waitFor();
      const values = await Promise.all((await fields.all()).map((field) => field.inputValue()));
      expect(values.length).toBeGreaterThan(2);
      expect(values.filter((value) => value !== '')).toEqual([]);
    });
  });

  test.each(['light', 'dark'] as const)('follows the color scheme %s of the reader', async (colorScheme) => {
    await withPage(
      async (page, context) => {
        await injectAxe(context);
        await page.goto('/docs');
        await page.locator('#operations-tag-threads').waitFor();
        const hasDarkMode = 'document.documentElement.classList.contains("dark-mode")';
        expect(await page.evaluate(hasDarkMode)).toBe(colorScheme === 'dark');
        const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
        const [red = 0] = (/\d+/.exec(background) ?? []).map(Number);
        expect(red < 128).toBe(colorScheme === 'dark');
        await page.goto('/docs/events');
        await page.evaluate('document.querySelectorAll("details").forEach((one) => (one.open = true))');
        expect(await findPageFaults(page)).toEqual([]);
      },
      { colorScheme, viewport: { width: 320, height: 640 } },
    );
  });
});
