import { expect, test } from 'vitest';
import { findPageFaults } from '../../../acceptance/pages/page-faults.ts';
import { describeWithBrowser } from '../../../clients/playwright.ts';
import { connectViewClient, eras } from '../../../clients/views/client.ts';
import { openView } from '../../../clients/views/host.ts';
import { useService } from '../../../support/service.ts';

await describeWithBrowser('the view of a conversation', (browser) => {
  const service = useService({ worker: false });

  /** A conversation of two owners, and a client of the first one. */
  async function talk(contents: readonly string[], era: (typeof eras)[number] = 'sessions') {
    const [mine, other] = await Promise.all([service.agent(), service.agent()]);
    const thread_id = await service.thread(other, mine);
    for (const content of contents) await service.post(other, `/threads/${thread_id}/messages`, { content });
    const ask = await connectViewClient(
      service.url,
      await service.token(mine.handle, { audience: 'mcp' }),
      era,
    );
    return { mine, other, thread_id, ask, view: { ask, tool: 'get_thread', args: { thread_id } } };
  }

  test.each(eras)('shows the messages, and marks them as read, in the revision with %s', async (era) => {
    const { mine, other, thread_id, view } = await talk(
      ['Can you check the invoice?', 'It is due on Friday.'],
      era,
    );
    await service.post(mine, `/threads/${thread_id}/messages`, { content: 'I will.' });
    const { frame, calls, requests } = await openView(browser(), view);
    const messages = frame.locator('li.message');
    expect(await messages.locator('.message-text').allTextContents()).toEqual([
      'Can you check the invoice?',
      'It is due on Friday.',
      'I will.',
    ]);
    expect(await messages.first().innerText()).toContain(`@${other.handle}\nNot a contact`);
    expect(await frame.locator('.message.own').count()).toBe(1);
    expect(await frame.locator('main').innerText()).toContain('2 unread');
    await frame.getByRole('button', { name: 'Mark as read' }).click();
    await frame.getByText('Marked as read.').waitFor();
    expect(calls[0]).toEqual({ name: 'mark_read', arguments: { thread_id, up_to_sequence: 3 } });
    expect((await service.get(mine, `/threads/${thread_id}`)).body.unread_count).toBe(0);
    expect(requests).toEqual([]);
  });

  test.each([
    ['light', 720],
    ['dark', 320],
  ] as const)('has no fault in %s, %i pixels wide', async (theme, width) => {
    const { view } = await talk(['wide'.repeat(200), 'And a second one.\nWith two lines.']);
    const viewport = { width, height: 700 };
    const { page, frame } = await openView(browser(), { ...view, hostContext: { theme }, viewport });
    expect(await findPageFaults(frame)).toEqual([]);
    const [body, iframe] = await Promise.all([
      frame.locator('body').boundingBox(),
      page.locator('iframe').boundingBox(),
    ]);
    expect(iframe?.height).toBe(Math.ceil(body?.height ?? 0));
    const dark = "getComputedStyle(document.querySelector('main')).backgroundColor";
    const ground = await frame.evaluate(dark);
    const other = theme === 'dark' ? 'light' : 'dark';
    await page.evaluate(`changeContext({ theme: '${other}' })`);
    await expect.poll(() => frame.evaluate(dark)).not.toBe(ground);
  });

  test('takes colors of the host', async () => {
    const { view } = await talk(['Hello.']);
    const variables = {
      '--color-background-primary': 'rgb(1, 2, 3)',
      '--color-text-primary': 'rgb(250, 250, 250)',
    };
    const { frame } = await openView(browser(), {
      ...view,
      hostContext: { theme: 'dark', styles: { variables } },
    });
    const main = "getComputedStyle(document.querySelector('main'))";
    expect(await frame.evaluate(`[${main}.backgroundColor, ${main}.color]`)).toEqual(
      Object.values(variables),
    );
  });

  test('shows what is hostile as text, and loads nothing', async () => {
    const hostile = [
      '</script><script>parent.postMessage({jsonrpc:"2.0",id:1,method:"tools/call",params:{name:"block_agent"}},"*")</script>',
      '<img src="https://evil.test/x.png" onerror="fetch(`https://evil.test/y`)">',
      '[link](javascript:alert(1)) ![image](https://evil.test/z.png)',
    ];
    const { frame, calls, requests } = await openView(browser(), (await talk(hostile)).view);
    expect(await frame.locator('.message-text').allTextContents()).toEqual(hostile);
    expect(await frame.locator('li.message img, li.message a, li.message script').count()).toBe(0);
    expect(calls).toEqual([]);
    expect(requests).toEqual([]);
    const load = (address: string) =>
      frame.evaluate(`fetch('${address}').then(() => 'loaded', () => 'refused')`);
    expect(await load('https://evil.test/')).toBe('refused');
    expect(requests).toEqual([]);
  });

  test('reads on, and marks only what it showed whole', async () => {
    const contents = Array.from({ length: 22 }, (_, index) => `${index + 1}. ${'word '.repeat(800)}`);
    const { mine, thread_id, view } = await talk(contents);
    const { frame } = await openView(browser(), view);
    const count = () => frame.locator('li.message').count();
    await expect.poll(count).toBe(20);
    await frame.getByRole('button', { name: 'Earlier messages' }).click();
    await expect.poll(count).toBe(22);
    await frame.getByRole('button', { name: 'Show the whole message' }).first().click();
    await expect.poll(() => frame.locator('.message-text').nth(2).textContent()).toBe(contents[2]);
    await frame.getByRole('button', { name: 'Mark as read' }).click();
    await frame.getByText('Marked as read.').waitFor();
    expect((await service.get(mine, `/threads/${thread_id}`)).body.unread_count).toBe(22 - 3);
  });

  test('shows the conversation of a question, without buttons where the host calls nothing', async () => {
    const { other, ask } = await talk([]);
    const args = { with_handle: other.handle, content: 'Can you help?', wait_seconds: 0 };
    const { frame } = await openView(browser(), { ask, tool: 'ask', args });
    await frame.getByText('Can you help?').waitFor();
    const { view } = await talk(['Hello.']);
    const { frame: still } = await openView(browser(), { ...view, hostCapabilities: {} });
    await still.getByText('Hello.').waitFor();
    expect(await still.getByRole('button').count()).toBe(0);
  });

  test('says that it waits, that the call was canceled or refused, and ends when the host ends it', async () => {
    const { view } = await talk(['Hello.']);
    const { page, frame } = await openView(browser(), { ...view, result: null });
    const text = () => frame.locator('body').innerText();
    expect(await text()).toBe('Loading …');
    await page.evaluate('cancelCall()');
    await expect.poll(text).toBe('The call was canceled.');
    const args = { thread_id: 'thd_01ARZ3NDEKTSV4RRFFQ69G5FAV' };
    const { page: refused, frame: notice } = await openView(browser(), { ...view, args });
    await notice.getByText('Call list_threads to get the ids of your threads').waitFor();
    expect(await refused.evaluate('tearDown()')).toEqual({});
    expect(await notice.locator('body').innerText()).toBe('');
  });
});
