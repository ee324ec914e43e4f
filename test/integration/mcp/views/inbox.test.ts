import { expect, test } from 'vitest';
import { findPageFaults } from '../../../acceptance/pages/page-faults.ts';
import { describeWithBrowser } from '../../../clients/playwright.ts';
import { connectViewClient } from '../../../clients/views/client.ts';
import { openView } from '../../../clients/views/host.ts';
import { useService } from '../../../support/service.ts';
import { reviewsOf } from '../../reviews/setup.ts';

await describeWithBrowser('the view of the inbox', (browser) => {
  const service = useService({ worker: false });
  const reviews = reviewsOf(service);

  /** An agent with an unread conversation, a question, a contact request and a review. */
  async function fill() {
    const { mine, stranger, thread } = await reviews.conversation('review_strangers');
    await service.post(stranger, `/threads/${thread}/messages`, { content: 'Did it <b>arrive</b>?' });
    const [asking, wishing] = await Promise.all([service.agent(), service.agent()]);
    await service.post(asking, '/threads/ask', {
      with_handle: mine.handle,
      content: 'Which size?',
      wait_seconds: 0,
    });
    await service.post(wishing, '/contacts/requests', { handle: mine.handle, message: 'It is me.' });
    const token = await service.token(mine.handle, { audience: 'mcp' });
    await reviews.connectAsPerson(mine, token);
    const ask = await connectViewClient(service.url, token, 'sessions');
    await ask('tools/call', { name: 'send_message', arguments: { thread_id: thread, content: 'It did.' } });
    return { mine, stranger, asking, wishing, thread, view: { ask, tool: 'list_threads', args: {} } };
  }

  test('shows what waits and what is unread, and its buttons act', async () => {
    const { mine, stranger, asking, wishing, thread, view } = await fill();
    const { frame, links, requests } = await openView(browser(), view);
    const waiting = frame.getByRole('list', { name: 'Waiting for you' });
    await waiting.waitFor();
    const rows = await waiting.getByRole('listitem').allInnerTexts();
    expect(rows).toEqual([
      expect.stringContaining(`wants to write to @${stranger.handle}`),
      expect.stringContaining('wants to be a contact'),
      expect.stringContaining(`@${asking.handle} asks your agent`),
    ]);
    const conversations = frame.getByRole('list', { name: 'Conversations' });
    expect(await conversations.innerText()).toContain('1 unread');
    expect(await conversations.innerText()).toContain('Did it <b>arrive</b>?');

    await waiting.getByRole('button', { name: 'Approve' }).click();
    await expect.poll(() => waiting.getByRole('listitem').count()).toBe(2);
    const { contacts } = (await service.get(wishing, '/contacts')).body;
    expect(contacts).toEqual([expect.objectContaining({ canonical_handle: mine.handle })]);

    await waiting.getByRole('button', { name: 'Review' }).click();
    await frame.getByRole('button', { name: 'Approve and send' }).click();
    await frame.getByText('The approved action was carried out.').waitFor();
    expect(await reviews.contents(stranger, thread)).toContain('It did.');
    await frame.getByRole('button', { name: 'Back to the inbox' }).click();
    await frame.getByText('asks your agent').waitFor();
    await waiting.getByRole('button', { name: 'Open' }).click();
    await expect.poll(() => links).toEqual([expect.stringMatching(/^Show the conversation thd_\w+\.$/)]);
    expect(requests).toEqual([]);
  });

  test('says that nothing waits, and shows only what the token allows', async () => {
    const { handle } = await service.agent();
    const token = await service.token(handle, { audience: 'mcp', scopes: ['threads:read'] });
    const ask = await connectViewClient(service.url, token, 'stateless');
    const { frame } = await openView(browser(), { ask, tool: 'list_threads', args: {} });
    const texts = () => frame.locator('.calm').allTextContents();
    await expect.poll(texts).toEqual(['Nothing needs you.', 'No conversations.']);
  });

  test.each([
    ['light', 720],
    ['dark', 320],
  ] as const)('has no fault in %s, %i pixels wide', async (theme, width) => {
    const { view } = await fill();
    const options = { hostContext: { theme }, viewport: { width, height: 700 } };
    const { frame } = await openView(browser(), { ...view, ...options });
    await frame.getByText('asks your agent').waitFor();
    expect(await findPageFaults(frame)).toEqual([]);
  });
});
