import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { views } from '../../../scripts/screenshots/views.ts';
import {
  setNotificationAddress,
  setNotificationWebhook,
  toUnsubscribeKey,
} from '../../../src/services/notifications/settings.ts';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { findPageFaults, injectAxe } from '../../acceptance/pages/page-faults.ts';

await describeWithBrowser('the pages of notifications', (browser) => {
  let service: Awaited<ReturnType<typeof startServiceOnFixedPort>>;
  beforeAll(async () => {
    // No server is there: the page shows the error.
    const mail = { SMTP_URL: 'smtp://127.0.0.1:9', SMTP_FROM: 'ams@sender.example' };
    service = await startServiceOnFixedPort({ ...mail, WEBHOOK_NETWORKS: '127.0.0.0/8' });
  });
  afterAll(() => service.stop());

  async function createPerson() {
    const ada = await signInPerson(service);
    const { account_id } = ada.person;
    const email = `${'a'.repeat(60)}@${'long-host-name.'.repeat(10)}example.com`;
    const { unitOfWork, database, settings } = service.core;
    await unitOfWork.write(system, async (work) => {
      await setNotificationWebhook(work, account_id, `http://127.0.0.1:9/${'path'.repeat(60)}`);
      await setNotificationAddress(work, account_id, email);
    });
    const text = 'select id, token from notification_messages where account_id = $1';
    const [message] = await database.query<{ id: string; token: Buffer }>({ text }, [account_id]);
    const token = message ? settings.sealedBox.open(message.token, message.id) : '';
    return { ada, token, key: toUnsubscribeKey({ settings }, { account_id, email }) };
  }

  describe.each(views)('$name: no fault is found on', ({ options }) => {
    test('the settings, and the pages of links', async () => {
      const { ada, token, key } = await createPerson();
      const context = await browser().newContext({ ...options, baseURL: service.url });
      await injectAxe(context);
      const value = ada.cookies.get('ams_session')?.value ?? '';
      await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
      const page = await context.newPage();
      const expectNoFaults = async () => expect(await findPageFaults(page)).toEqual([]);
      await page.goto('/console/notifications');
      await expectNoFaults();
      await expect
        .poll(async () => {
          await page.reload();
          return page.getByText('the mail server cannot be reached').count();
        })
        .toBe(1);
      await expectNoFaults();
      await page.getByLabel('New URL').fill('https://10.0.0.1/');
      await page.getByRole('button', { name: 'Save the URL' }).click();
      await page.getByText('must lead to a public address').waitFor();
      await expectNoFaults();
      await page.getByLabel('New URL').fill('http://127.0.0.1:9/');
      await page.getByRole('button', { name: 'Save the URL' }).click();
      await page.getByText('Copy this now').waitFor();
      await expectNoFaults();
      await page.goto(`/notifications/confirm/${token}`);
      await expectNoFaults();
      await page.getByRole('button', { name: 'Confirm the address' }).click();
      await page.getByText('Notifications are now sent').waitFor();
      await expectNoFaults();
      await page.goto(`/notifications/unsubscribe/${key}`);
      await expectNoFaults();
      await page.getByRole('button', { name: 'Turn off e-mails' }).click();
      await page.getByText('You get no more notifications by e-mail').waitFor();
      await expectNoFaults();
      await context.close();
    });
  });
});
