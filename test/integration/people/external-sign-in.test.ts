import { describe, expect, test } from 'vitest';
import {
  findForm,
  openFormBrowser,
  type PageResponse,
  type FormBrowser,
} from '../../clients/form-browser.ts';
import { issuerClient, startIssuer } from '../../support/servers/openid-issuer.ts';
import { runCliJson } from '../../clients/cli.ts';
import { newUsername, password } from './setup.ts';
import {
  signInAtIssuer,
  beginSignIn,
  callback,
  returnToService,
  declineAtIssuer,
  followRedirect,
  startServiceWithIssuer,
} from './issuer-sign-in.ts';
import { use } from '../../support/use.ts';

const choose = '/sign-in/external/username';
const connections = '/console/account/external';
const issuer = use(() => startIssuer(callback));
const service = use(() => startServiceWithIssuer(issuer, { OIDC_CLIENT_SECRET: issuerClient.client_secret }));

async function through(browser: FormBrowser, username: string, to?: string): Promise<PageResponse> {
  return returnToService(browser, await signInAtIssuer(issuer, await beginSignIn(browser, to), username));
}

/** A person who signed in through the issuer, chose that name here too, and is signed in. */
async function newcomer(username = newUsername()) {
  const browser = openFormBrowser(service.url);
  const home = await browser.send(findForm(await through(browser, username), choose));
  return { browser, username, home };
}

/** A person with a password. */
async function resident(username = newUsername()) {
  const browser = openFormBrowser(service.url);
  await browser.signUp(username, password);
  return { browser, username };
}

/** Connects the signed-in account to a person at the issuer. */
async function connect(browser: FormBrowser, username: string): Promise<PageResponse> {
  const sent = await browser.fill(connections);
  return returnToService(browser, await signInAtIssuer(issuer, followRedirect(sent), username));
}

describe('a new person from the provider', () => {
  test('chooses a username, and signs in to that account from then on', async () => {
    const username = newUsername('Ada');
    const browser = openFormBrowser(service.url);
    const offer = await browser.go('/sign-in?to=%2Fconsole%2Fsessions');
    expect(offer.visibleText).toContain('Continue with Example ID');
    expect((await browser.go('/sign-up')).visibleText).toContain('Continue with Example ID');

    const choice = await through(browser, username, '/console/sessions');
    expect(choice.title).toContain('Choose a username');
    // The name from the provider, made valid for this service.
    expect(findForm(choice, choose).fields).toContainEqual(['username', username.toLowerCase()]);
    const page = await browser.send(findForm(choice, choose));
    expect(new URL(page.url).pathname).toBe('/console/sessions');
    expect(page.visibleText).toContain(`Welcome, ${username.toLowerCase()}.`);

    const elsewhere = openFormBrowser(service.url);
    const again = await through(elsewhere, username, '/console');
    expect(again.visibleText).toContain(`Hello, ${username.toLowerCase()}`);
  });

  test('must choose again when the name is taken, reserved or invalid', async () => {
    const { username: taken } = await resident();
    const browser = openFormBrowser(service.url);
    let page = await through(browser, newUsername());
    for (const [name, status, word] of [
      [taken, 409, 'is taken'],
      ['admin', 400, 'is reserved'],
      ['a.b', 400, 'has 1 to 32'],
    ] as const) {
      page = await browser.send(findForm(page, choose), { fields: { username: name } });
      expect([page.status, page.title]).toEqual([status, expect.stringContaining('Error')]);
      expect(page.visibleText).toContain(word);
    }
    expect((await browser.send(findForm(page, choose), { fields: { username: newUsername() } })).status).toBe(
      200,
    );
  });

  test('is never matched by name: the same name here is another person', async () => {
    const { username } = await resident();
    const choice = await through(openFormBrowser(service.url), username);
    expect(choice.title).toContain('Choose a username');
  });

  test('gets one account from two windows', async () => {
    const browser = openFormBrowser(service.url);
    const choice = findForm(await through(browser, newUsername()), choose);
    const [one, other] = [newUsername(), newUsername()];
    const answers = await Promise.all(
      [one, other].map((username) => browser.send(choice, { fields: { username }, follow: false })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, expect.any(Number)]);
    const made = await service.sql('select name from owners where name = any($1)', [[one, other]]);
    expect(made).toHaveLength(1);
  });

  test('can set a password without a current one, and sign in with it', async () => {
    const { browser, username } = await newcomer();
    const account = await browser.go('/console/account');
    expect(account.visibleText).toContain('Your account is connected with Example ID.');
    const form = findForm(account, '/console/account/password');
    expect(form.fields.map(([name]) => name)).not.toContain('current');
    expect((await browser.send(form, { fields: { next: password } })).visibleText).toContain(
      'Password changed',
    );
    const home = await openFormBrowser(service.url).signIn(username, password);
    expect(home.visibleText).toContain(`Hello, ${username}`);
  });
});

describe('a person with an account', () => {
  test('connects it while signed in, and can then sign in both ways', async () => {
    const { browser, username } = await resident();
    const outside = newUsername();
    const connected = await connect(browser, outside);
    expect(connected.visibleText).toContain('Your account is connected with Example ID');
    expect(connected.visibleText).toContain(`${outside} · connected`);
    expect((await through(openFormBrowser(service.url), outside, '/console')).visibleText).toContain(
      `Hello, ${username}`,
    );
    expect((await openFormBrowser(service.url).signIn(username, password)).visibleText).toContain(
      `Hello, ${username}`,
    );

    const ended = await browser.fill(connections, {}, `${connections}/disconnect`);
    expect(ended.visibleText).toContain('Disconnected');
    expect((await through(openFormBrowser(service.url), outside)).title).toContain('Choose a username');
  });

  test('cannot connect an identity that belongs to another account', async () => {
    const { username: outside } = await newcomer();
    const { browser, username } = await resident();
    const answer = await connect(browser, outside);
    expect([answer.status, answer.title]).toEqual([409, expect.stringContaining('another account')]);
    expect((await through(openFormBrowser(service.url), outside, '/console')).visibleText).not.toContain(
      `Hello, ${username}`,
    );
  });

  test('cannot remove the only way to sign in', async () => {
    const { browser } = await newcomer();
    const answer = await browser.fill(connections, {}, `${connections}/disconnect`);
    expect(answer.visibleText).toContain('your only way to sign in');
    expect(findForm(answer, `${connections}/disconnect`)).toBeDefined();
  });

  test('cannot disconnect another person’s identity', async () => {
    const { username: outside } = await newcomer();
    const { browser } = await newcomer();
    const form = findForm(await browser.go(connections), `${connections}/disconnect`);
    for (const subject of [outside, '\0', '']) {
      expect((await browser.send(form, { fields: { subject } })).visibleText).not.toContain('Disconnected.');
    }
    expect((await through(openFormBrowser(service.url), outside, '/console')).visibleText).toContain(
      `Hello, ${outside}`,
    );
  });

  test('is sent to the provider by a form of the service only', async () => {
    const { browser } = await resident();
    const form = findForm(await browser.go(connections), connections);
    const forged = await browser.send(form, { fields: { csrf: 'guessed' }, follow: false });
    const crossSite = await browser.send(form, {
      headers: { 'Sec-Fetch-Site': 'cross-site' },
      follow: false,
    });
    expect([forged.status, crossSite.status]).toEqual([403, 403]);
  });
});

describe('sign-up by invitation', () => {
  test('and closed sign-up apply to the provider too', async () => {
    const env = { OIDC_CLIENT_SECRET: issuerClient.client_secret };
    const invited = await startServiceWithIssuer(issuer, { ...env, SIGNUP: 'invite' });
    const closed = await startServiceWithIssuer(issuer, { ...env, SIGNUP: 'closed' });
    try {
      const browser = openFormBrowser(invited.url);
      const choice = await returnToService(
        browser,
        await signInAtIssuer(issuer, await beginSignIn(browser), newUsername()),
      );
      const refused = await browser.send(findForm(choice, choose), { fields: { invitation: 'AAAAA-AAAAA' } });
      expect([refused.status, refused.visibleText]).toEqual([
        400,
        expect.stringContaining('is invalid or has expired'),
      ]);
      const { DATABASE_URL, SECRET_KEY } = invited.core.config;
      const { code } = (await runCliJson({ DATABASE_URL, SECRET_KEY }, ['invitation', 'create'])) as {
        code: string;
      };
      const welcome = await browser.send(findForm(refused, choose), { fields: { invitation: code } });
      expect(welcome.visibleText).toContain('Your account is ready');

      const other = openFormBrowser(closed.url);
      const answer = await returnToService(
        other,
        await signInAtIssuer(issuer, await beginSignIn(other), newUsername()),
      );
      expect([answer.status, answer.title]).toEqual([403, expect.stringContaining('No connected account')]);
    } finally {
      await Promise.all([invited.stop(), closed.stop()]);
    }
  });
});

test('declining at the provider shows a message, and changes nothing', async () => {
  const browser = openFormBrowser(service.url);
  const answer = await returnToService(browser, await declineAtIssuer(issuer, await beginSignIn(browser)));
  expect([answer.status, answer.title]).toEqual([403, expect.stringContaining('You are not signed in')]);
});

test('without a provider there is no external sign-in', async () => {
  const plain = await startServiceWithIssuer(issuer, { OIDC_ISSUER: '' });
  try {
    const browser = openFormBrowser(plain.url);
    expect((await browser.go('/sign-in')).visibleText).not.toContain('Continue with');
    for (const path of ['/sign-in/external', '/sign-in/external/callback', choose]) {
      expect((await browser.go(path)).status).toBe(404);
    }
  } finally {
    await plain.stop();
  }
});
