import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { sendTo } from '../../integration/console/conversations/conversation-fixtures.ts';
import { createWatchedWorld, expireLinks, linksAddress, share } from '../../integration/watch/setup.ts';
import { useSharedService } from '../../support/service.ts';
import { findPageFaults, injectAxe } from './page-faults.ts';

const screens = {
  'a phone': { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  'a desktop': { viewport: { width: 1280, height: 800 } },
};

await describeWithBrowser('the page of a watch link in a browser', (browser) => {
  const service = useSharedService();

  const cases = Object.keys(screens).flatMap((screen) =>
    (['light', 'dark'] as const).map((colorScheme) => [screen as keyof typeof screens, colorScheme] as const),
  );
  test.each(cases)('has no fault on %s in %s colors, nor has its end', async (screen, colorScheme) => {
    const { ada, mine, other, thread } = await createWatchedWorld(service);
    const wide = `${'word '.repeat(100)}\n\n| a | b |\n|---|---|\n| ${'c'.repeat(300)} | d |`;
    await sendTo(service, other, thread, wide, { content_type: 'markdown' });
    const path = await share(ada, thread, mine, { files: 'on' });
    const context = await browser().newContext({ baseURL: service.url, ...screens[screen], colorScheme });
    await injectAxe(context);
    const page = await context.newPage();
    await page.goto(path);
    await page.locator('details.members summary').click();
    expect(await findPageFaults(page)).toEqual([]);
    await page.goto('/watch/unknown');
    expect(await findPageFaults(page)).toEqual([]);
    expect(await context.cookies()).toEqual([]);
    await context.close();
    const own = await browser().newContext({ baseURL: service.url, ...screens[screen], colorScheme });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await own.addCookies([{ name: 'ams_session', value, url: service.url }]);
    await injectAxe(own);
    const ownPage = await own.newPage();
    for (const address of [linksAddress(thread), `/console/conversations/${thread}`]) {
      await ownPage.goto(address);
      expect(await findPageFaults(ownPage)).toEqual([]);
    }
    await own.close();
  });

  test.each([true, false])(
    'shows new messages, and says within five seconds that the link has ended, with scripts: %s',
    async (javaScriptEnabled) => {
      const { ada, mine, other, thread } = await createWatchedWorld(service);
      const path = await share(ada, thread, mine);
      const context = await browser().newContext({ baseURL: service.url, javaScriptEnabled });
      const page = await context.newPage();
      const requests: string[] = [];
      const errors: string[] = [];
      page.on('request', (request) => requests.push(new URL(request.url()).pathname));
      page.on('console', (line) => line.type() === 'error' && errors.push(line.text()));
      await page.goto(path);
      await page.getByText('The first word').waitFor();
      await sendTo(service, other, thread, 'The second word');
      if (!javaScriptEnabled) await page.reload();
      await page.getByText('The second word').waitFor();
      expect(errors).toEqual([]);
      await expireLinks(service, thread);
      if (!javaScriptEnabled) await page.reload();
      await page.getByText('it has ended').waitFor({ timeout: 5_000 });
      expect(await page.getByText('The first word').count()).toBe(0);
      expect(requests.filter((each) => !each.startsWith(path) && !each.startsWith('/assets/'))).toEqual([]);
      await context.close();
    },
  );

  test('keeps what was opened while messages arrive, and leads nowhere with keys', async () => {
    const { ada, mine, other, thread } = await createWatchedWorld(service);
    const path = await share(ada, thread, mine);
    const context = await browser().newContext({ baseURL: service.url });
    const page = await context.newPage();
    await page.goto(path);
    await page.locator('details.members summary').click();
    await sendTo(service, other, thread, 'The second word');
    await page.getByText('The second word').waitFor();
    expect(await page.locator('details.members').getAttribute('open')).not.toBeNull();
    for (const key of ['g', 'h', '?', 'Control+k', '/']) await page.keyboard.press(key);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe(path);
    await context.close();
  });
});
