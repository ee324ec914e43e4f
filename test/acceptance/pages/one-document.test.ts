import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { sendTo, startThread } from '../../integration/console/conversations/conversation-fixtures.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { useSharedService } from '../../support/service.ts';

await describeWithBrowser('pages in one document', (browser) => {
  const service = useSharedService();

  async function openPage(address: string) {
    const ada = await signInPerson(service);
    const [mine, other] = [await ada.agent('planner'), await service.agent()];
    const context = await browser().newContext({
      baseURL: service.url,
      viewport: { width: 1280, height: 700 },
    });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(address);
    await page.evaluate('window.isFirst = true');
    return { page, mine, other, faults };
  }

  const isSameDocument = (page: Page) => page.evaluate('window.isFirst === true');

  test('links and buttons of rows change the page, and a written message appears, without a fault', async () => {
    const { page, mine, other, faults } = await openPage('/console');
    await startThread(service, other, [mine], { subject: 'Second', content: 'Another one' });
    await startThread(service, other, [mine], { subject: 'First', content: 'Hello there' });
    await page.getByRole('link', { name: 'Conversations' }).click();
    await page.getByRole('link', { name: 'First', exact: true }).click();
    await page.getByLabel('Message', { exact: true }).fill('An answer');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#messages').getByText('An answer').waitFor();
    // The live list can be first, before the answer to the form.
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
    await page.getByLabel('Message', { exact: true }).fill('A draft');
    await page.getByRole('link', { name: 'Second', exact: true }).click();
    await page.locator('#messages').getByText('Another one').waitFor();
    await page.goBack();
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('A draft');
    await sendTo(service, other, new URL(page.url()).pathname.split('/').at(-1) ?? '', 'Still live');
    await page.locator('#messages').getByText('Still live').waitFor();
    expect(await isSameDocument(page)).toBe(true);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('a secret is on a page of its own, which the way back does not show', async () => {
    const { page, mine, faults } = await openPage('/console');
    await page.goto(`/console/agents/${mine.id}/credentials/new`);
    await page.getByLabel('Name').fill('A program');
    await page.getByRole('button', { name: 'Create credential' }).click();
    const secret = await page.getByLabel('Client secret').textContent();
    await page.getByRole('link', { name: 'Done' }).click();
    await page.locator('.row-title', { hasText: 'A program' }).waitFor();
    await page.goBack().catch(() => null);
    // While the browser goes back, there is no content to read.
    await expect.poll(() => page.content().catch(() => secret)).not.toContain(secret);
    expect(faults.filter((text) => !text.includes('ERR_CACHE_MISS'))).toEqual([]);
    await page.context().close();
  });

  test('the end of the session leads to a sign-in page without Turbo', async () => {
    const { page } = await openPage('/console');
    await page.context().clearCookies();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await expect.poll(() => page.evaluate('typeof Turbo')).toBe('undefined');
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await page.context().close();
  });
});
