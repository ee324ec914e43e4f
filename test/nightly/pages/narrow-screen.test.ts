import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { inboxOf } from '../../integration/inbox/setup.ts';
import { startThread } from '../../integration/console/conversations/conversation-fixtures.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { useSharedService } from '../../support/service.ts';

await describeWithBrowser('a screen of 320 pixels', (browser) => {
  const service = useSharedService();

  test.each(['light', 'dark'] as const)('has no page that scrolls sideways, in %s', async (colorScheme) => {
    const ada = await signInPerson(service);
    const [mine, other] = [await ada.agent(), await service.agent()];
    const inbox = inboxOf(service.api, mine);
    await inbox.turnOn({ max_attempts: 1 });
    const thread = await startThread(service, other, [mine], { content: 'wide'.repeat(200) });
    const [lease] = await inbox.leases({ consumer: 'consumer'.repeat(8) });
    await inbox.release(lease?.id ?? '', { reason: 'reason'.repeat(60) });
    const viewport = { width: 320, height: 640 };
    const context = await browser().newContext({ baseURL: service.url, viewport, colorScheme });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    const page = await context.newPage();
    const agent = `/console/agents/${mine.id}`;
    const paths = [
      '/',
      '/nothing',
      '/console',
      '/console/agents/new',
      '/console/conversations',
      `/console/conversations/${thread}`,
      ...['', '/connect?client=curl', '/profile', '/inbox', '/settings', '/webhooks/new'].map(
        (each) => agent + each,
      ),
    ];
    for (const path of paths) {
      await page.goto(path);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 320]);
    }
    await context.close();
  });
});
