import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { useService } from '../../support/service.ts';

await describeWithBrowser('Try it', (browser) => {
  const service = useService();

  test('opens a live page where the answer of the echo appears', async () => {
    const ada = await signInPerson(service);
    const { id } = await ada.agent();
    const context = await browser().newContext({ baseURL: service.url });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    await page.goto(`/console/agents/${id}`);
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.waitForURL('**/console/conversations/thd_*');
    const messages = page.locator('li.message', { hasText: 'Hello, echo. This is my first message.' });
    await expect.poll(() => messages.count()).toBe(2);
    await page.getByLabel('Message', { exact: true }).fill('And once more');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => page.locator('li.message', { hasText: 'And once more' }).count()).toBe(2);
    await context.close();
  });
});
