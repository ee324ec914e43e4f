import { expect, test } from 'vitest';
import { buildAuthorizationUrl } from '../../../scripts/screenshots/authorization-request.ts';
import { sampleClient } from '../../../scripts/screenshots/fixtures.ts';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { startThread } from '../../integration/console/conversations/conversation-fixtures.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { findPageFaults, injectAxe } from './page-faults.ts';
import { use } from '../../support/use.ts';

/** The nightly run visits every page, on screens of four kinds. */
await describeWithBrowser('no fault is found on the pages that are used most', (browser) => {
  const service = use(() => startServiceOnFixedPort({}, { worker: false }));

  test('in dark, on a screen of 320 pixels', async () => {
    const ada = await signInPerson(service);
    const [mine, other] = [await ada.agent(), await service.agent()];
    const thread = await startThread(service, other, [mine], { content: 'wide'.repeat(200) });
    const viewport = { width: 320, height: 640 };
    const context = await browser().newContext({ baseURL: service.url, viewport, colorScheme: 'dark' });
    await injectAxe(context);
    const page = await context.newPage();
    const expectNoFaults = async (path: string) => {
      await page.goto(path);
      expect(await findPageFaults(page), path).toEqual([]);
    };
    for (const path of ['/', '/sign-in', '/nothing']) await expectNoFaults(path);
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    await expectNoFaults(await buildAuthorizationUrl(service.url, sampleClient));
    const agent = `/console/agents/${mine.id}`;
    const paths = [
      '/console',
      '/console/conversations',
      `/console/conversations/${thread}`,
      agent,
      `${agent}/settings`,
      '/console/approvals',
      '/console/notifications',
    ];
    for (const path of paths) await expectNoFaults(path);
    await context.close();
  });
});
