import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { newUsername, signInPerson } from '../../integration/console/signed-in-person.ts';
import { useSharedService } from '../../support/service.ts';
import { findPageFaults, injectAxe } from '../../acceptance/pages/page-faults.ts';

/** The distinct tops of the elements: one for elements in one row. */
async function countRows(page: Page, selector: string): Promise<number> {
  const boxes = await Promise.all((await page.locator(selector).all()).map((each) => each.boundingBox()));
  expect(boxes.length).toBeGreaterThan(3);
  return new Set(boxes.map((box) => Math.round(box?.y ?? 0))).size;
}

await describeWithBrowser('the menu', (browser) => {
  const service = useSharedService();

  async function open(options: object, username?: string) {
    const ada = await signInPerson(service, username);
    const agent = await ada.agent();
    const context = await browser().newContext({ baseURL: service.url, ...options });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    await injectAxe(context);
    return { ada, agent, context, page: await context.newPage() };
  }

  test('sessions, account and sign-out are behind the name, and work without scripts', async () => {
    const { ada, context, page } = await open({ javaScriptEnabled: false });
    await page.goto('/console');
    const menu = page.getByRole('navigation', { name: 'Account' });
    expect(await menu.isVisible()).toBe(false);
    const navigation = page.getByRole('navigation', { name: 'Console' });
    expect(await navigation.getByRole('link', { name: /Sessions|Account/ }).count()).toBe(0);
    await page.getByText(ada.username, { exact: true }).click();
    await menu.getByRole('link', { name: 'Sessions' }).click();
    await page.waitForURL('**/console/sessions');
    await page.getByText(ada.username, { exact: true }).first().click();
    await menu.getByRole('link', { name: 'Account' }).click();
    await page.waitForURL('**/console/account');
    await page.getByText(ada.username, { exact: true }).first().click();
    await page.locator('.account-menu').getByRole('button', { name: 'Sign out' }).click();
    await page.goto('/console');
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await context.close();
  });

  test('the keyboard opens it and reaches its links', async () => {
    const { ada, context, page } = await open({});
    await page.goto('/console');
    await page.locator('.account-menu summary').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sessions');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/sessions');
    expect(await page.locator('.account-menu summary').getAttribute('aria-label')).toContain(ada.username);
    await context.close();
  });

  test.each(['light', 'dark'] as const)(
    'at 320 pixels, in %s, the navigation is a bar of four links and More, the tabs are one row that scrolls, and the open menu fits',
    async (colorScheme) => {
      const name = newUsername('a-rather-long-name');
      const { agent, context, page } = await open(
        { viewport: { width: 320, height: 640 }, colorScheme },
        name,
      );
      await page.goto(`/console/agents/${agent.id}`);
      expect(await countRows(page, '.navigation li:visible')).toBe(1);
      expect(await page.locator('.navigation li:visible').count()).toBe(5);
      expect(await countRows(page, 'nav.tabs[aria-label^="Pages of"] li')).toBe(1);
      const isOneRow = 'document.querySelector(".top").offsetHeight < 80';
      expect(await page.evaluate(isOneRow)).toBe(true);
      await page.locator('.account-menu summary').click();
      await page.getByRole('navigation', { name: 'Account' }).waitFor();
      const box = await page.locator('.account-menu .menu-content').boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 320).toBe(true);
      expect(await findPageFaults(page)).toEqual([]);
      await page.locator('.account-menu summary').click();
      await page.getByRole('link', { name: 'Webhooks' }).click();
      await page.waitForURL('**/webhooks');
      await context.close();
    },
  );
});
