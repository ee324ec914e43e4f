import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { openApproval } from '../../../src/services/approvals/approvals.ts';
import { startThread } from '../../integration/console/conversations/conversation-fixtures.ts';
import { applyStoredDecisions, signInPerson } from '../../integration/console/signed-in-person.ts';
import { useSharedService } from '../../support/service.ts';
import { findPageFaults, injectAxe } from './page-faults.ts';

await describeWithBrowser('the keyboard', (browser) => {
  const service = useSharedService();

  async function openHome() {
    const ada = await signInPerson(service);
    const [mine, other] = [await ada.agent('planner'), await service.agent()];
    for (const subject of ['First', 'Second', 'Third'])
      await startThread(service, other, [mine], {
        subject,
        content: `The text of ${subject}`,
        metadata: { asks_person: subject === 'Second' },
      });
    const context = await browser().newContext({ baseURL: service.url });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    await injectAxe(context);
    const page = await context.newPage();
    await page.goto('/console');
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    return { page, press, mine };
  }

  test('opens the question on the home page with two keys, ready to write, and sends the answer', async () => {
    const { page, press } = await openHome();
    await press('j', 'a');
    await page.waitForURL('**/console/conversations/thd_*');
    const field = page.getByLabel('Message', { exact: true });
    await expect.poll(() => field.evaluate('document.activeElement.name')).toBe('content');
    await page.keyboard.type('Yes');
    await press('Control+Enter');
    await page.getByRole('status').getByText('Sent as @').waitFor();
    await press('g', 'h');
    await page.getByText('Nothing needs you.').waitFor();
    await page.context().close();
  });

  test('reads the conversations one after the other, and searches', async () => {
    const { page, press } = await openHome();
    await press('g', 'c');
    await page.waitForURL('**/console/conversations');
    for (const subject of ['Third', 'Second', 'First']) {
      await press('j', 'Enter');
      await page.locator('#messages').getByText(`The text of ${subject}`).waitFor();
    }
    await press('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('search');
    await page.context().close();
  });

  test('is done with a conversation, takes that back, and mutes one in the list', async () => {
    const { page, press } = await openHome();
    await press('g', 'c');
    await page.waitForURL('**/console/conversations');
    await press('j', 'e');
    await page.getByText('Done. It comes back').waitFor();
    expect(await page.locator('.thread').count()).toBe(2);
    expect(await page.locator('.thread-link:focus').textContent()).toBe('Second');
    expect(await findPageFaults(page)).toEqual([]);
    await press('u');
    await page.getByText('Open again.').waitFor();
    expect(await page.locator('.thread').count()).toBe(3);
    await press('j', 'm');
    await page.getByText('Muted. Its messages').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await press('Enter');
    await page.locator('#head').getByText('Muted').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await press('e');
    await page.waitForURL('**/console/conversations');
    await page.getByText('Done. It comes back').waitFor();
    expect(await page.locator('.thread').count()).toBe(2);
    await page.context().close();
  });

  test('approves the request of an agent and takes it back, and replies to a message', async () => {
    const { page, press, mine } = await openHome();
    const target = (await service.agent()).handle;
    const question = { agent_id: mine.id, action: 'request_contact', target, detail: {} } as const;
    await service.write((work) => openApproval(work, question));
    await page.goto('/console');
    await press('j', 'j', 'a');
    await page.getByText('Until then you can undo it.').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await press('u');
    await page.getByText('Undone. Nothing was decided.').waitFor();
    await press('a');
    await page.getByText('Until then you can undo it.').waitFor();
    await applyStoredDecisions(service);
    await page.getByText('wants to send a contact request').waitFor({ state: 'detached' });
    expect(await page.locator('tr a:focus').textContent()).toBe('planner');
    await press('g', 'c');
    await page.waitForURL('**/console/conversations');
    await press('j', 'Enter');
    await page.locator('#messages').getByText('The text of Third').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('A *draft*');
    await page.getByText('Markdown').click();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('#preview em').getByText('draft').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await page.locator('#messages .menu > summary').focus();
    await press('r');
    await page.locator('.composer .reply-to').getByText('The text of Third').waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('A *draft*');
    await page.locator('#messages .menu > summary').click();
    expect(await findPageFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Trace of message 1' }).click();
    await page.getByRole('dialog', { name: 'Trace of message 1' }).getByText('tokens').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await press('Escape');
    await page.context().close();
  });

  test('presses no button of a row outside of Home, and sends a form with its own button', async () => {
    const { page, press, mine } = await openHome();
    await page.goto(`/console/agents/${mine.id}/allowlist`);
    await page.getByLabel('Agent or owner').fill('acme.*');
    await press('Control+Enter');
    await page.getByText('Added @acme.*').waitFor();
    await page.getByRole('button', { name: 'Remove' }).focus();
    await press('a', 'd');
    // The key after them shows that they did nothing.
    await press('g', 'c');
    await page.waitForURL('**/console/conversations');
    await page.goto(`/console/agents/${mine.id}/allowlist`);
    expect(await page.getByRole('button', { name: 'Remove' }).count()).toBe(1);
    await page.context().close();
  });

  test('single keys can be turned off and on again; keys with Ctrl stay', async () => {
    const { page, press } = await openHome();
    await page.goto('/console/keys');
    await page.getByRole('button', { name: 'Turn single keys off' }).click();
    await page.getByRole('button', { name: 'Turn single keys on' }).waitFor();
    await press('g', 'h', 'j', '?', '/');
    expect(new URL(page.url()).pathname).toBe('/console/keys');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await press('Control+k');
    await page.getByRole('dialog', { name: 'Go to' }).waitFor();
    await press('Escape');
    await page.getByRole('button', { name: 'Turn single keys on' }).click();
    await page.getByRole('button', { name: 'Turn single keys off' }).waitFor();
    await press('g', 'h');
    await page.waitForURL('**/console');
    await page.context().close();
  });

  test('goes to an agent by a part of its name, and shows its keys, without a fault', async () => {
    const { page, press, mine } = await openHome();
    await press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).getByText('Next and previous row').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    await press('Escape', 'Control+k');
    const dialog = page.getByRole('dialog', { name: 'Go to' });
    await dialog.getByRole('searchbox').pressSequentially('plann');
    await dialog.locator('li').nth(0).getByText(`@${mine.handle}`).waitFor();
    await dialog.getByText('Conversations', { exact: true }).waitFor({ state: 'detached' });
    expect(await findPageFaults(page)).toEqual([]);
    await press('Enter');
    await page.waitForURL(`**/console/agents/${mine.id}`);
    await page.context().close();
  });
});
