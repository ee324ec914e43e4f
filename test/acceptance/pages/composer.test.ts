import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { createConversation, sendTo } from '../../integration/console/conversations/conversation-fixtures.ts';
import { useSharedService } from '../../support/service.ts';
import { findPageFaults, injectAxe } from './page-faults.ts';

await describeWithBrowser('the form below a conversation', (browser) => {
  const service = useSharedService();

  async function openConversation() {
    const world = await createConversation(service, 'Who decides?');
    const context = await browser().newContext({ baseURL: service.url });
    const value = world.ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    await injectAxe(context);
    const page = await context.newPage();
    await page.goto(world.address);
    const setStatus = (status: 'active' | 'closed') =>
      service.patch(world.other, `/threads/${world.id}`, { status });
    const field = page.getByLabel('Message', { exact: true });
    const send = page.getByRole('button', { name: 'Send', exact: true });
    return { context, page, world, setStatus, field, send };
  }

  test('goes and comes with the state of the thread, and never with a text in it', async () => {
    const { context, page, setStatus, field, send } = await openConversation();
    await setStatus('closed');
    await page.getByText('This conversation is not active').waitFor();
    await field.waitFor({ state: 'hidden' });
    expect(await findPageFaults(page)).toEqual([]);
    await setStatus('active');
    await field.fill('I do.');
    await setStatus('closed');
    await page.getByText('This conversation is not active').waitFor();
    await send.click();
    await page.getByRole('alert').getByText('Not sent. This thread is closed').waitFor();
    expect(await field.inputValue()).toBe('I do.');
    expect(await findPageFaults(page)).toEqual([]);
    await setStatus('active');
    await send.click();
    await page.getByText('Sent as @').waitFor();
    expect(await field.inputValue()).toBe('');
    await context.close();
  });

  test('shows what was sent, also after many unread messages', async () => {
    const { context, page, world, field } = await openConversation();
    // An open page reads what arrives.
    await page.goto('about:blank');
    for (const count of Array(40).keys()) await sendTo(service, world.other, world.id, `Message ${count}`);
    await page.goto(world.address);
    expect(await page.evaluate('scrollY')).toBe(0);
    await field.fill('I do.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Sent as @').waitFor();
    await page.locator('.message:focus').getByText('I do.').waitFor();
    expect(await page.evaluate('scrollY')).toBeGreaterThan(0);
    await context.close();
  });

  test('says that nothing was sent without a connection, and keeps the text', async () => {
    const { context, page, field, send } = await openConversation();
    await field.fill('First');
    await send.click();
    await page.getByText('Sent as @').waitFor();
    await field.fill('Second');
    await context.setOffline(true);
    await send.click();
    await page.getByRole('alert').getByText('Not sent: there is no connection.').waitFor();
    expect(await page.getByText('Sent as @').count()).toBe(0);
    expect(await field.inputValue()).toBe('Second');
    expect(await findPageFaults(page)).toEqual([]);
    await context.setOffline(false);
    await send.click();
    await page.getByText('Sent as @').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.locator('#messages').getByText('Second').waitFor();
    await context.close();
  });
});
