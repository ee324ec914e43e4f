import type { Page } from 'playwright-core';
import { buildAuthorizationUrl } from './authorization-request.ts';
import { sampleClient, people } from './fixtures.ts';
import { type Screenshot, type ScreenshotOptions, takeScreenshots } from './take-screenshots.ts';

const screenshotOf = (name: string, path: string): Screenshot => ({
  name,
  prepare: (page) => page.goto(path),
});

/**
 * Takes every picture of the documentation, as a person who comes to know the service sees it.
 * @param ids the id of each agent, by handle
 */
export async function takeAllScreenshots(
  studio: ScreenshotOptions,
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  const strangers = [screenshotOf('start', '/'), screenshotOf('sign-in', '/sign-in')];
  await takeScreenshots(studio, strangers);

  const context = await studio.browser.newContext({ baseURL: studio.baseURL });
  const page = await context.newPage();
  await signIn(page);
  await page.goto(await buildAuthorizationUrl(studio.baseURL, sampleClient));
  const asked = await context.storageState();
  await takeScreenshots(studio, [screenshotOf('consent', new URL(page.url()).pathname)], asked);
  await page.route(`${sampleClient.redirect_uri}?*`, (route) => route.fulfill({ body: 'Back at the app.' }));
  await page.getByRole('radio', { name: '@mara.assistant' }).check();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.waitForURL(`${sampleClient.redirect_uri}?*`);

  const agent = `/console/agents/${ids.get('mara.assistant')}`;
  const known: Screenshot[] = [
    screenshotOf('home', '/console'),
    screenshotOf('agents', '/console/agents'),
    screenshotOf('agent', agent),
    screenshotOf('contacts', `${agent}/contacts`),
    screenshotOf('credentials', `${agent}/credentials`),
    screenshotOf('webhooks', `${agent}/webhooks`),
    screenshotOf('connections', '/console/connections'),
    { name: 'approval', prepare: showApproval },
    screenshotOf('organization', '/console/organizations/harbour-books'),
    screenshotOf('sessions', '/console/sessions'),
    screenshotOf('exports', '/console/exports'),
    screenshotOf('erasures', '/console/erasures'),
  ];
  await takeScreenshots(studio, known, asked);
  const secret: Screenshot = {
    name: 'secret',
    prepare: (shown) => createCredential(shown, `${agent}/credentials/new`),
  };
  await takeScreenshots(studio, [secret], asked);
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

/** Ends on the page that shows the secret, once. */
export async function createCredential(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByLabel('Name').fill('Reading list server');
  await page.getByRole('button', { name: 'Create credential' }).click();
  await page.getByText('Copy this now').waitFor();
}
