import type { BrowserContext, Page } from 'playwright-core';
import { openApproval } from '../../../src/services/approvals/approvals.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { sendTo, startThread } from '../../integration/console/conversations/conversation-fixtures.ts';
import { signInPerson } from '../../integration/console/signed-in-person.ts';
import { startProcess } from '../../../scripts/parts/service-process.ts';
import { startTcpBalancer } from '../../../scripts/parts/tcp-balancer.ts';
import { bundledProgram } from '../../support/vitest/bundled-program.ts';
import { createTestSettings, startService, type TestService } from '../../support/service.ts';
import { isNightly } from '../../support/extent.ts';

/** The list beside them shows the beginning of the last one too. */
const messagesOf = (page: Page) => page.locator('#messages');

await describeWithBrowser('an open page in a browser', (browser) => {
  let first: TestService;
  let second: TestService;
  let release: () => Promise<void>;
  beforeAll(async () => {
    const settings = await createTestSettings('postgres');
    release = settings.release;
    const shared = { ...settings, release: () => Promise.resolve() };
    first = await startService({ worker: false, settings: shared });
    second = await startService({ worker: false, settings: shared });
  });
  afterAll(async () => {
    await first.stop();
    await second.stop();
    await release();
  });

  async function createWorld() {
    const ada = await signInPerson(first);
    const [mine, other] = [await ada.agent(), await first.agent()];
    const id = await startThread(first, other, [mine], { content: 'The first word' });
    const token = ada.cookies.get('ams_session')?.value ?? '';
    return { mine, other, id, token };
  }

  async function openContext(url: string, token: string, options = {}): Promise<BrowserContext> {
    const context = await browser().newContext({ baseURL: url, ...options });
    await context.addCookies([{ name: 'ams_session', value: token, url }]);
    return context;
  }

  test('shows messages that arrive at another process, within a second at the 95th percentile', async () => {
    const { other, id, token } = await createWorld();
    const context = await openContext(first.url, token);
    const page = await context.newPage();
    await page.goto(`/console/conversations/${id}`);
    const delays: number[] = [];
    for (let number = 1; number <= 20; number += 1) {
      const start = performance.now();
      await sendTo(second, other, id, `Live word ${number}.`);
      await messagesOf(page).getByText(`Live word ${number}.`).waitFor();
      delays.push(performance.now() - start);
    }
    delays.sort((one, other_) => one - other_);
    console.info(`event to page: p50 ${delays[9]?.toFixed(0)} ms, p95 ${delays[18]?.toFixed(0)} ms`);
    expect(await page.locator('li.message').count()).toBe(21);
    await context.close();
  });

  test.each([true, false])(
    'opens at the first unread message, then at its end, in the zone of the browser, with scripts: %s',
    async (javaScriptEnabled) => {
      const { mine, other, id, token } = await createWorld();
      const read = (up_to_sequence: number) => first.post(mine, `/threads/${id}/read`, { up_to_sequence });
      for (let number = 2; number <= 30; number += 1) await sendTo(first, other, id, `Number ${number}`);
      const context = await openContext(first.url, token, {
        javaScriptEnabled,
        timezoneId: 'Asia/Kolkata',
        viewport: { width: 390, height: 844 },
      });
      const page = await context.newPage();
      await page.goto('/console/conversations');
      await read(14);
      await page.goto(`/console/conversations/${id}`);
      const isShown = async (text: string) => {
        const box = await messagesOf(page).getByText(text, { exact: true }).boundingBox();
        return box !== null && box.y >= 0 && box.y + box.height <= 844;
      };
      await expect.poll(() => isShown('Number 15')).toBe(true);
      await read(30);
      // A reload would keep the place of the reader.
      await page.goto('/console/conversations');
      await page.goto(`/console/conversations/${id}`);
      await expect.poll(() => isShown('Number 30')).toBe(true);
      const time = await page.locator('.moment time').last().textContent();
      expect(time).toMatch(javaScriptEnabled ? /^\d\d:\d\d$/ : /^\d\d:\d\d UTC$/);
      await context.close();
    },
  );

  test('works without scripts by reloading', async () => {
    const { other, id, token } = await createWorld();
    const context = await openContext(first.url, token, { javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto('/console/conversations');
    await page.getByRole('link', { name: `@${other.handle}` }).click();
    await messagesOf(page).getByText('The first word').waitFor();
    await sendTo(second, other, id, 'A second word');
    await page.reload();
    await messagesOf(page).getByText('A second word').waitFor();
    expect(await messagesOf(page).getByText('The first word').count()).toBe(1);
    await context.close();
  });

  if (!isNightly) return;
  test('keeps its place: details stay open, and a reader who scrolled up is not moved', async () => {
    const { other, id, token } = await createWorld();
    for (let number = 2; number <= 40; number += 1) await sendTo(first, other, id, `Number ${number}`);
    const context = await openContext(first.url, token);
    const page = await context.newPage();
    await page.goto(`/console/conversations/${id}`);
    await page.evaluate('scrollTo(0, 400)');
    await sendTo(second, other, id, 'Below the fold');
    await messagesOf(page).getByText('Below the fold').waitFor({ state: 'attached' });
    expect(await page.evaluate('Math.round(scrollY)')).toBe(400);
    await page.getByRole('button', { name: '1 new' }).click();
    await expect.poll(() => page.getByRole('button', { name: '1 new' }).count()).toBe(0);
    await page.evaluate('scrollTo(0, 400)');
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await sendTo(second, other, id, 'At the end');
    await messagesOf(page).getByText('At the end').waitFor();
    const isAtEnd = 'innerHeight + scrollY > document.documentElement.scrollHeight - 4';
    await expect.poll(() => page.evaluate(isAtEnd)).toBe(true);
    await context.close();
  });

  test('continues at another process when its own is killed', async () => {
    const { other, id, token } = await createWorld();
    const program = bundledProgram('api');
    const third = await startProcess('api', { ...first.env, LOG_LEVEL: 'info' }, { program });
    let target = new URL(third.url);
    const balancer = await startTcpBalancer(() => [{ host: target.hostname, port: Number(target.port) }]);
    const url = `http://127.0.0.1:${balancer.port}`;
    const context = await openContext(url, token);
    const page = await context.newPage();
    await page.goto(`/console/conversations/${id}`);
    await sendTo(second, other, id, 'Before the kill');
    await messagesOf(page).getByText('Before the kill').waitFor();
    target = new URL(second.url);
    await third.kill9();
    await sendTo(second, other, id, 'After the kill');
    await messagesOf(page).getByText('After the kill').waitFor();
    expect(await page.locator('li.message').count()).toBe(3);
    await context.close();
    await balancer.close();
  });

  test('one of 200 agents waits for its person: found and answered with one click on the home page', async () => {
    const ada = await signInPerson(first);
    const agents = [];
    for (let number = 0; number < 200; number += 1) agents.push(await ada.agent(`agent-${number}`));
    const target = (await first.agent()).handle;
    const agent_id = agents[117]?.id ?? '';
    const question = { agent_id, action: 'request_contact', target, detail: { message: 'May I?' } } as const;
    await first.write((work) => openApproval(work, question));
    const context = await openContext(first.url, ada.cookies.get('ams_session')?.value ?? '');
    const page = await context.newPage();
    await page.goto('/console');
    expect(await page.title()).toBe('(1) Home · Agent Messaging');
    await page.getByText('May I?').waitFor();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Until then you can undo it.').waitFor();
    expect(await page.title()).toBe('Home · Agent Messaging');
    await context.close();
  });
});
