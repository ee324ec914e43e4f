import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../clients/playwright.ts';
import { connectViewClient } from '../../../clients/views/client.ts';
import { openView, type ViewOptions } from '../../../clients/views/host.ts';
import { useService } from '../../../support/service.ts';
import { reviewsOf } from '../../reviews/setup.ts';

const service = useService({ worker: false });
const reviews = reviewsOf(service);
const host = fileURLToPath(new URL('../../../clients/views/reference-host.mjs', import.meta.url));

await describeWithBrowser('in the host of the authors of the extension', (browser) => {
  let script = '';
  beforeAll(async () => {
    const { outputFiles } = await build({ entryPoints: [host], bundle: true, format: 'esm', write: false });
    script = outputFiles[0]?.text.replaceAll('</script', String.raw`<\/script`) ?? '';
  });

  async function start() {
    const { mine, stranger, thread } = await reviews.conversation('review_strangers');
    const token = await service.token(mine.handle, { audience: 'mcp' });
    await reviews.connectAsPerson(mine, token);
    await service.post(stranger, `/threads/${thread}/messages`, { content: 'Are you there?' });
    const ask = await connectViewClient(service.url, token, 'sessions');
    const open = (tool: string, args: ViewOptions['args']) =>
      openView(browser(), { ask, tool, args, script });
    return { stranger, thread, open };
  }

  test('a conversation and the inbox are shown, and end with their frame', async () => {
    const { stranger, thread, open } = await start();
    const conversation = await open('get_thread', { thread_id: thread });
    await conversation.frame.getByText('Are you there?').waitFor();
    const inbox = await open('list_threads', {});
    await inbox.frame.getByText(`@${stranger.handle}`).first().waitFor();
    for (const { page, requests } of [conversation, inbox]) {
      await page.evaluate(() => (globalThis as unknown as { tearDown(): Promise<object> }).tearDown());
      expect(requests).toEqual([]);
    }
  });

  test('a person edits and approves what waits', async () => {
    const { stranger, thread, open } = await start();
    const { frame, calls } = await open('send_message', { thread_id: thread, content: 'We pay 1000.' });
    await frame.getByLabel('Message').fill('We pay 100.');
    await frame.getByRole('button', { name: 'Approve and send' }).click();
    await frame.getByText('The approved action was carried out.').waitFor();
    expect(calls.map(({ name }) => name)).toContain('decide_approval');
    expect(await reviews.contents(stranger, thread)).toEqual(['Are you there?', 'We pay 100.']);
  });
});
