import type { Page } from 'playwright-core';
import { askAs } from './ask.ts';
import { companion, people } from './cast.ts';
import { type Shot, type Studio, takeShots } from './take.ts';

const at = (name: string, path: string): Shot => ({ name, show: (page) => page.goto(path) });

/**
 * Takes every picture of the documentation, as a person who comes to know the service sees it.
 * @param ids the id of each agent, by handle
 */
export async function takeAll(studio: Studio, ids: ReadonlyMap<string, string>): Promise<void> {
  const strangers = [at('start', '/'), at('sign-in', '/sign-in')];
  await takeShots(studio, strangers);

  const context = await studio.browser.newContext({ baseURL: studio.baseURL });
  const page = await context.newPage();
  await signIn(page);
  await page.goto(await askAs(studio.baseURL, companion));
  const asked = await context.storageState();
  await takeShots(studio, [at('consent', new URL(page.url()).pathname)], asked);
  await page.route(`${companion.redirect_uri}?*`, (route) => route.fulfill({ body: 'Back at the app.' }));
  await page.getByRole('radio', { name: '@mara.assistant' }).check();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.waitForURL(`${companion.redirect_uri}?*`);

  const agent = `/console/agents/${ids.get('mara.assistant')}`;
  const known: Shot[] = [
    at('home', '/console'),
    at('agents', '/console/agents'),
    at('agent', agent),
    at('contacts', `${agent}/contacts`),
    at('credentials', `${agent}/credentials`),
    at('webhooks', `${agent}/webhooks`),
    at('connections', '/console/connections'),
    { name: 'approval', show: showApproval },
    at('organization', '/console/organizations/harbour-books'),
    at('sessions', '/console/sessions'),
    at('exports', '/console/exports'),
    at('erasures', '/console/erasures'),
  ];
  await takeShots(studio, known, asked);
  const secret: Shot = {
    name: 'secret',
    show: (shown) => makeCredential(shown, `${agent}/credentials/new`),
  };
  await takeShots(studio, [secret], asked);
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
export async function makeCredential(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByLabel('Name').fill('Reading list server');
  await page.getByRole('button', { name: 'Create the credential' }).click();
  await page.getByText('Copy this now').waitFor();
}
