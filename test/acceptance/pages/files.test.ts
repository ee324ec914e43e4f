import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { startThread } from '../../integration/console/conversations/conversation-fixtures.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { useSharedService } from '../../support/service.ts';
import { findPageFaults, injectAxe } from './page-faults.ts';

const file = (name: string, size = 10) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'x') });

/** Pastes or drops files into the text, as a browser does: by an event with data. */
const give = (page: Page, type: 'paste' | 'drop', names: string[]) =>
  page.evaluate(`{
    const data = new DataTransfer();
    for (const name of ${JSON.stringify(names)}) data.items.add(new File(['picture'], name, { type: 'image/x-raw' }));
    const init = { bubbles: true, cancelable: true };
    const event = '${type}' === 'paste'
      ? new ClipboardEvent('paste', { ...init, clipboardData: data })
      : new DragEvent('drop', { ...init, dataTransfer: data });
    document.querySelector('#write').dispatchEvent(event);
  }`);

await describeWithBrowser('files of a message', (browser) => {
  const service = useSharedService();

  async function openConversation(options: BrowserContextOptions = {}) {
    const ada = await signInPerson(service);
    const [mine, other] = [await ada.agent('planner'), await service.agent()];
    const id = await startThread(service, other, [mine], { content: 'Send me the list' });
    const context = await browser().newContext({ baseURL: service.url, ...options });
    const value = ada.cookies.get('ams_session')?.value ?? '';
    await context.addCookies([{ name: 'ams_session', value, url: service.url }]);
    await injectAxe(context);
    const page = await context.newPage();
    await page.goto(`/console/conversations/${id}`);
    const write = page.getByLabel('Message', { exact: true });
    const list = page.getByRole('list', { name: 'Files to send' }).getByRole('listitem');
    const input = page.locator('input[type=file]');
    const sendAndRead = async (count: number) => {
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByRole('status').getByText('Sent as @').waitFor();
      // The text may be that of the message before.
      const read = async () => (await service.get(mine, `/threads/${id}/messages`)).body.messages;
      await expect.poll(read).toHaveLength(count);
      const [{ content, attachments, reply_to }] = await read();
      return { content, reply_to, names: attachments.map(({ filename }: { filename: string }) => filename) };
    };
    return { page, write, list, input, sendAndRead };
  }

  test('are chosen, pasted and dropped, shown by name before they are sent, and stay over a reply and a preview', async () => {
    const { page, write, list, input, sendAndRead } = await openConversation();
    await write.fill('The *list*');
    await input.setInputFiles([file('a.txt'), file('b.txt')]);
    await give(page, 'paste', ['picture.raw']);
    await give(page, 'drop', ['dropped.raw']);
    expect(await list.allInnerTexts()).toEqual(['a.txt\n×', 'b.txt\n×', 'picture.raw\n×', 'dropped.raw\n×']);
    await page.getByRole('button', { name: 'Remove b.txt' }).click();
    expect(await findPageFaults(page)).toEqual([]);
    await page.locator('#messages .menu > summary').click();
    await page.getByRole('button', { name: 'Reply to message 1' }).click();
    await page.locator('.composer .reply-to').getByText('Send me the list').waitFor();
    await expect.poll(() => write.evaluate('document.activeElement.id')).toBe('write');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('#preview').getByText('The *list*').waitFor();
    expect(await findPageFaults(page)).toEqual([]);
    const sent = await sendAndRead(2);
    expect(sent).toMatchObject({ content: 'The *list*', reply_to: expect.stringMatching(/^msg_/) });
    expect(sent.names).toEqual(['a.txt', 'picture.raw', 'dropped.raw']);
    expect([await write.inputValue(), await list.count()]).toEqual(['', 0]);
    await page.context().close();
  });

  test('are sent once: not again with the next message, nor twice after a form that was refused', async () => {
    const { page, write, input, sendAndRead } = await openConversation();
    await write.fill('One');
    await input.setInputFiles([file('a.txt')]);
    expect((await sendAndRead(2)).names).toEqual(['a.txt']);
    await expect.poll(() => write.inputValue()).toBe('');
    await write.fill('Two');
    expect((await sendAndRead(3)).names).toEqual([]);
    await expect.poll(() => write.inputValue()).toBe('');
    await write.fill('x'.repeat(33_000));
    await input.setInputFiles([file('b.txt')]);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('must be at most 32768 bytes').waitFor();
    await write.fill('Three');
    expect((await sendAndRead(4)).names).toEqual(['b.txt']);
    await page.context().close();
  });

  test('that are too many or too large are refused before they are sent', async () => {
    const { page, write, list, input, sendAndRead } = await openConversation();
    await write.fill('Text');
    const isValid = () => page.evaluate(`document.querySelector('[type=file]').validationMessage`);
    await input.setInputFiles(['1', '2', '3', '4', '5', '6'].map((name) => file(name)));
    expect(await isValid()).toBe('At most 5 files.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('button', { name: 'Remove 6' }).click();
    expect(await isValid()).toBe('');
    await page.getByRole('button', { name: 'Remove 5' }).click();
    await input.setInputFiles([file('large.txt', 10 * 1024 * 1024 + 1)]);
    expect(await isValid()).toBe('large.txt is too large.');
    await page.getByRole('button', { name: 'Remove large.txt' }).click();
    expect(await list.count()).toBe(4);
    expect((await sendAndRead(2)).names).toEqual(['1', '2', '3', '4']);
    await page.context().close();
  });

  test('and the text stay without script: over a reply, a preview and an error', async () => {
    const { page, write, input, sendAndRead } = await openConversation({ javaScriptEnabled: false });
    await write.fill('The *list*');
    await input.setInputFiles([file('a.txt')]);
    await page.locator('#messages .menu > summary').click();
    await page.getByRole('button', { name: 'Reply to message 1' }).click();
    await page.locator('.composer .reply-to').getByText('Send me the list').waitFor();
    await input.setInputFiles([file('b.txt')]);
    await page.getByText('Markdown').click();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('#preview em').getByText('list').waitFor();
    expect(await write.inputValue()).toBe('The *list*');
    await page.getByLabel('b.txt').uncheck();
    await write.fill('x'.repeat(33_000));
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('must be at most 32768 bytes').waitFor();
    await write.fill('Short');
    const sent = await sendAndRead(2);
    expect(sent).toMatchObject({
      content: 'Short',
      names: ['a.txt'],
      reply_to: expect.stringMatching(/^msg_/),
    });
    await page.context().close();
  });
});
