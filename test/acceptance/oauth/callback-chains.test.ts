import { createServer } from 'node:http';
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { buildAuthorizationUrl } from '../../../scripts/screenshots/authorization-request.ts';
import { createFirstAgent, createPerson, signUp } from '../../clients/person.ts';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { use } from '../../support/use.ts';
import { listen } from '../../support/servers/listen.ts';

/** A callback that redirects on to `target`, or the page where the chain ends. */
async function startSite(target?: string) {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(request.url ?? '');
    if (target === undefined) response.end('<h1>Connected</h1>');
    else response.writeHead(302, { Location: target }).end();
  });
  return {
    ...(await listen(server)),
    /** The parameters that the callback was sent. */
    answer: () => new URL(received.find((path) => path.startsWith('/cb')) ?? '', 'http://x').searchParams,
  };
}

// Chromium applies form-action to every redirect after a form; only a real browser shows where it ends.
await describeWithBrowser('a callback that redirects on', (browser) => {
  const service = use(() => startServiceOnFixedPort({}, { worker: false }));
  const end = use(() => startSite());
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    context = await browser().newContext();
    page = await context.newPage();
    const person = createPerson();
    await page.goto(
      await buildAuthorizationUrl(service.url, { client_name: 'First', redirect_uri: 'https://a.example/' }),
    );
    await signUp(page, person);
    await createFirstAgent(page, person);
  });

  /** In a page of its own: a page may open one app. */
  async function ask(redirect_uri: string) {
    page = await context.newPage();
    await page.goto(await buildAuthorizationUrl(service.url, { client_name: 'Chain', redirect_uri }));
  }
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  test.each([
    ['127.0.0.1', '127.0.0.1', 'Approve'],
    ['localhost', '127.0.0.1', 'Approve'],
    ['127.0.0.1', 'localhost', 'Approve'],
    ['127.0.0.1', 'localhost', 'Cancel'],
  ])('from %s to another port of %s reaches the end: %s', async (host, next, button) => {
    const target = `http://${next}:${end.port}/done`;
    const callback = await startSite(target);
    await ask(`http://${host}:${callback.port}/cb`);
    await Promise.all([page.waitForURL(target), press(button)]);
    expect(await page.getByRole('heading').textContent()).toBe('Connected');
    const told = callback.answer();
    expect([told.has('code'), told.get('error')]).toEqual(
      button === 'Approve' ? [true, null] : [false, 'access_denied'],
    );
    await callback.close();
  });

  test.each(['Approve', 'Cancel'])('to an app is opened: %s', async (button) => {
    const callback = await startSite('cursor://anysphere.cursor-mcp/done');
    await ask(`http://127.0.0.1:${callback.port}/cb`);
    const opened = page.waitForRequest((request) => request.url().startsWith('cursor:'));
    await press(button);
    await opened;
    expect(callback.answer().get('state')).toBe('a-picture');
    await callback.close();
  });

  test.each([
    ['Approve', 'You approved this request'],
    ['Cancel', 'You denied this request'],
  ])('an app that leaves the page open: a further press shows the outcome of %s', async (button, outcome) => {
    await ask('cursor://anysphere.cursor-mcp/oauth/callback');
    const opened = page.waitForRequest((request) => request.url().startsWith('cursor:'));
    await press(button);
    await opened;
    // By now the browser asks whether to open the app and holds back the pointer until a person answers, which no test can.
    await page
      .getByRole('button', { name: 'Approve', exact: true })
      .evaluate((approve: HTMLButtonElement) => approve.form?.requestSubmit(approve));
    expect(await page.getByRole('heading', { level: 1, name: outcome }).textContent()).toBe(outcome);
  });
});
