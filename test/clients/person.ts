import type { Page } from 'playwright-core';
import { uniqueName } from '../support/unique-name.ts';

export interface Person {
  username: string;
  password: string;
  /** Name and handle of the one agent that the person makes. */
  agent: string;
  handle: string;
}

type Credentials = Pick<Person, 'username' | 'password'>;

/** Somebody who has no account yet. */
export function createPerson(): Person {
  const username = uniqueName('visitor');
  return { username, password: 'a quiet word in passing', agent: 'helper', handle: `${username}.helper` };
}

/** From the sign-in page that a client's address leads to: creates an account instead, and comes back to what the client asks. */
export async function signUp(page: Page, { username, password }: Credentials): Promise<void> {
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
}

export async function signIn(page: Page, { username, password }: Credentials): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** On the page that asks for consent, which requires an agent: creates the first one. */
export async function createFirstAgent(page: Page, { agent }: Person): Promise<void> {
  await page.getByLabel('Handle').fill(agent);
  await page.getByRole('button', { name: 'Create agent' }).click();
}

/** Lets a client act as an agent, and checks that the page says which client that is and where the answer goes. */
export async function approve(page: Page, asks: { client: string; redirect_host: string; handle: string }) {
  await page.getByText(asks.client, { exact: true }).waitFor();
  await page.getByText(asks.redirect_host).first().waitFor();
  await page.getByRole('radio', { name: `@${asks.handle}` }).check();
  await page.getByRole('button', { name: 'Approve' }).click();
}
