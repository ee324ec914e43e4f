import type { Page } from 'playwright-core';
import { buildAuthorizationUrl } from './authorization-request.ts';
import { sampleClient, people } from './fixtures.ts';
import { type Screenshot, type ScreenshotOptions, takeScreenshots } from './take-screenshots.ts';

const screenshotOf = (name: string, path: string): Screenshot => ({
  name,
  prepare: (page) => page.goto(path),
});

/**
 * Takes all screenshots of the documentation.
 * @param ids the id of each agent, by handle
 */
export async function takeAllScreenshots(
  options: ScreenshotOptions,
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  const signedOut = [screenshotOf('start', '/'), screenshotOf('sign-in', '/sign-in')];
  await takeScreenshots(options, signedOut);

  const context = await options.browser.newContext({ baseURL: options.baseURL });
  const page = await context.newPage();
  await signIn(page);
  await page.goto(await buildAuthorizationUrl(options.baseURL, sampleClient));
  const storageState = await context.storageState();
  await takeScreenshots(options, [screenshotOf('consent', new URL(page.url()).pathname)], storageState);
  await page.route(`${sampleClient.redirect_uri}?*`, (route) => route.fulfill({ body: 'Back at the app.' }));
  await page.getByRole('radio', { name: '@mara.assistant' }).check();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.waitForURL(`${sampleClient.redirect_uri}?*`);

  const agent = `/console/agents/${ids.get('mara.assistant')}`;
  const signedIn: Screenshot[] = [
    screenshotOf('home', '/console'),
    screenshotOf('conversations', '/console/conversations'),
    { name: 'conversation', prepare: showConversation },
    screenshotOf('waits', '/console/waits'),
    screenshotOf('usage', '/console/usage'),
    screenshotOf('agents', '/console/agents'),
    screenshotOf('agent', agent),
    screenshotOf('contacts', `${agent}/contacts`),
    screenshotOf('credentials', `${agent}/credentials`),
    screenshotOf('webhooks', `${agent}/webhooks`),
    screenshotOf('connections', '/console/connections'),
    { name: 'approval', prepare: showApproval },
    screenshotOf('organization', '/console/organizations/harbour-books'),
    screenshotOf('sessions', '/console/sessions'),
    screenshotOf('audit', '/console/audit'),
    screenshotOf('notifications', '/console/notifications'),
    screenshotOf('exports', '/console/exports'),
    screenshotOf('erasures', '/console/erasures'),
  ];
  await takeScreenshots(options, signedIn, storageState);
  const secret: Screenshot = {
    name: 'secret',
    prepare: (shown) => createCredential(shown, `${agent}/credentials/new`),
  };
  await takeScreenshots(options, [secret], storageState);
  await context.close();
}

async function signIn(page: Page): Promise<void> {
  const [{ username, password }] = people;
  await page.goto('/sign-in');
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/console');
}

async function showApproval(page: Page): Promise<void> {
  await page.goto('/console/approvals');
  await page.getByRole('main').getByRole('link').first().click();
  await page.waitForURL('**/console/approvals/*');
}

async function showConversation(page: Page): Promise<void> {
  await page.goto('/console/conversations');
  await page.getByRole('link', { name: 'Field guides' }).click();
  await page.waitForURL('**/console/conversations/*');
}

/** Creates a credential and stops at the page that shows the secret once. */
export async function createCredential(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByLabel('Name').fill('Reading list server');
  await page.getByRole('button', { name: 'Create credential' }).click();
  await page.getByText('Copy this now').waitFor();
}
