import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { findFreePort } from '../../support/free-port.ts';
import { issuerClient, startIssuer, type TestIssuer } from '../../support/servers/openid-issuer.ts';
import { startService, type TestService } from '../../support/service.ts';
import { createPerson, signUp } from '../../clients/person.ts';

/** Signs in on the pages of the issuer, which is another site. */
async function signInThere(page: Page, issuer: TestIssuer, name: string): Promise<void> {
  await page.waitForURL(`${issuer.url}/**`);
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('anything');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

await describeWithBrowser('a browser goes to the provider and comes back', (browser) => {
  let issuer: TestIssuer;
  let service: TestService;
  let url: string;
  beforeAll(async () => {
    const port = await findFreePort();
    url = `http://localhost:${port}`;
    issuer = await startIssuer(`${url}/sign-in/external/callback`);
    const settings = {
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: issuerClient.client_id,
      OIDC_CLIENT_SECRET: issuerClient.client_secret,
      OIDC_NAME: 'Example ID',
    };
    service = await startService({
      worker: false,
      env: { PORT: String(port), PUBLIC_URL: url, ...settings },
    });
  });
  afterAll(async () => {
    await service.stop();
    await issuer.stop();
  });

  async function inFreshBrowser(run: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser().newContext();
    try {
      await run(await context.newPage());
    } finally {
      await context.close();
    }
  }

  test('to sign up, and to sign in from then on', async () => {
    const { username } = createPerson();
    for (const visit of ['first', 'second']) {
      await inFreshBrowser(async (page) => {
        await page.goto(`${url}/sign-in`);
        await page.getByRole('link', { name: 'Continue with Example ID' }).click();
        await signInThere(page, issuer, username);
        if (visit === 'first') {
          expect(await page.getByLabel('Username').inputValue()).toBe(username);
          await page.getByRole('button', { name: 'Create account' }).click();
        }
        await page.getByRole('heading', { name: `Hello, ${username}` }).waitFor();
      });
    }
  });

  test('to connect an account: the page after the form redirects by itself', async () => {
    const person = createPerson();
    await inFreshBrowser(async (page) => {
      await page.goto(`${url}/sign-in`);
      await signUp(page, person);
      await page.getByRole('heading', { name: `Hello, ${person.username}` }).waitFor();
      await page.goto(`${url}/console/account`);
      await page.getByRole('link', { name: 'Connections' }).click();
      await page.getByRole('button', { name: 'Connect with Example ID' }).click();
      await signInThere(page, issuer, `${person.username}-there`);
      await page.getByText('Your account is connected with Example ID').waitFor();
      expect(new URL(page.url()).pathname).toBe('/console/account/external');
    });
  });
});
