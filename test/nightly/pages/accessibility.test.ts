import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildAuthorizationUrl } from '../../../scripts/screenshots/authorization-request.ts';
import { sampleClient, people } from '../../../scripts/screenshots/fixtures.ts';
import { views } from '../../../scripts/screenshots/views.ts';
import { createCredential } from '../../../scripts/screenshots/take-all.ts';
import { seedService } from '../../../scripts/screenshots/seed.ts';
import type { Core } from '../../../src/compose.ts';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { createClient } from '../../../packages/client/src/main.ts';
import { createInvitationLink } from '../../../src/services/people/membership-invitations.ts';
import { createOrganization } from '../../../src/services/people/organizations.ts';
import { requireOwner } from '../../../src/services/people/owners.ts';
import { addRemoteAgentForPerson } from '../../../src/services/remote/of-person.ts';
import { joinOrganization } from '../../support/join-organization.ts';
import { issueToken } from '../../../src/services/auth/issue-token.ts';
import { toResourceUrls } from '../../../src/services/auth/tokens.ts';
import { describeWithBrowser } from '../../clients/playwright.ts';
import { approve, createPerson, signIn, signUp } from '../../clients/person.ts';
import { requestRest } from '../../clients/rest.ts';
import { inboxOf } from '../../integration/inbox/setup.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { crawl } from './crawl.ts';
import { injectAxe, findPageFaults } from '../../acceptance/pages/page-faults.ts';
import { use } from '../../support/use.ts';

const [mara, jonas] = people;

/** Excluded: another test checks the documentation, and data and downloads are not pages. */
const noPage = (path: string) =>
  /^\/(?:docs|v1)\b|\/(?:archive|raw)(?:\?|$)|\.csv(?:\?|$)|\/files\//.test(path);

/** A client with a long name and address that could break a layout. */
const hostileClientMetadata = {
  client_name: `${'Wide'.repeat(15)} <b>&amp; bold`,
  redirect_uri: `https://${'a-very-long-name-of-a-host.'.repeat(6)}example.com/callback`,
};

/** Forms of pages that the crawl must open: the same page with other contents. */
const variants = [
  '/console/agents/{id}/connect?client=python',
  '/console/agents/{id}/webhooks/{id}/deliveries?state=failed',
  '/console/usage?agent={id}',
];

/** Pages that the crawl does not reach; other tests open them. */
const openedElsewhere = new Set([
  '/authorize/requests/:uid',
  '/notifications/confirm/:token',
  '/notifications/unsubscribe/:key',
  '/watch/:secret',
  '/console/invitations/:secret',
]);

/** Whether a route of the console shows a page that a crawl of a person with a lot of data reaches. */
const isReached = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'GET' &&
  !noPage(path) &&
  !path.startsWith('/console/live/') &&
  !path.endsWith('/live') &&
  !signedOutPages.includes(path) &&
  !openedElsewhere.has(path);

const signedOutPages = ['/', '/sign-in', '/sign-up'];

/** Every delivery state of a webhook event. The pending one stays pending for longer than the test runs. */
async function logDeliveries({ db, database }: Core, agent_id: string): Promise<void> {
  const [webhook] = await db.webhooks.list(agent_id);
  const text = `insert into webhook_deliveries
    (webhook_id, event_id, event_type, number, state, attempts, next_at, last_attempt_at, last_status, last_error, created_at)
    values ($1, $2, 'message.created', 1, $3, 3, $4, $5, $6, $7, $5)`;
  const outcomes = [
    ['delivered', null, 204, null],
    ['failed', null, null, 'the host cannot be reached'],
    ['skipped', null, null, null],
    ['pending', Date.now() + 3_600_000, 503, null],
  ];
  for (const [state, next_at, status, error] of outcomes) {
    const values = [webhook?.id, newId('event'), state, next_at, Date.now(), status, error];
    await database.query({ text }, values);
  }
}

/** A subscription in each state, by an app with a name that could break a layout. */
async function subscribeApp({ database }: Core, agent_id: string): Promise<void> {
  const now = Date.now();
  await database.query(
    {
      text: `insert into client_grants (grant_id, account_id, agent_id, client_id, client_name, redirect_host, scopes, created_at, expires_at)
        select 'grt_subscriber', owner_id, id, 'subscriber', $2, 'app.example', '{threads:read}', $3, $4 from agents where id = $1`,
    },
    [agent_id, hostileClientMetadata.client_name, now, now + 3_600_000],
  );
  const text = `insert into event_subscriptions (id, agent_id, client_id, grant_id, url, event_type, arguments, scopes, dialect, secret, position,
      oldest_at, active, next_at, failed_since, last_error, hold_ms, expires_at, created_at)
    values ($1, $2, 'subscriber', 'grt_subscriber', $3, 'message.created', '{"only_mentions": true}', '{threads:read}', 'sep3415', '', 0,
      0, $4, $5, $6, $7, 0, $5, $8)`;
  const states = [
    ['sub_active', true, null, null],
    ['sub_retrying', true, now, 'timeout'],
    ['sub_paused', false, now, 'http_5xx'],
  ];
  for (const [id, active, failed_since, error] of states) {
    const until = now + 3_600_000;
    const url = hostileClientMetadata.redirect_uri;
    await database.query({ text }, [id, agent_id, url, active, until, failed_since, error, now]);
  }
}

/** An agent of another system, whose card cannot be read. */
async function addRemoteAgent({ unitOfWork }: Core): Promise<void> {
  const card_url = 'https://agent.example/.well-known/agent-card.json';
  await unitOfWork.write(system, async (work) => {
    const { id } = await requireOwner(work, mara.username, 'account');
    await addRemoteAgentForPerson(work, id, { card_url, credential: { kind: 'none' } });
  });
}

/** A link that invites to an organization of another person. */
async function inviteByLink({ unitOfWork }: Core): Promise<string> {
  return unitOfWork.write(system, async (work) => {
    const { slug } = await createOrganization(work, 'night-readers');
    await joinOrganization(work, { slug, username: jonas.username, role: 'admin' });
    const { id: account_id } = await requireOwner(work, jonas.username, 'account');
    return createInvitationLink(work, { account_id }, { slug, role: 'member' });
  });
}

/** A conversation in which messages are under the composer. */
async function startLongThread({ unitOfWork, config }: Core): Promise<string> {
  const resource = toResourceUrls(config.PUBLIC_URL).api;
  const order = { handle: 'mara.garden', resource, scopes: [...scopes], expires_in: 900 };
  const { access_token } = await unitOfWork.write(system, (work) => issueToken(work, order));
  const client = createClient({ url: config.PUBLIC_URL, auth: access_token });
  const { id: thread_id } = await client.threads.create({
    participants: ['mara.assistant'],
    subject: 'Beds',
  });
  for (let bed = 1; bed <= 40; bed += 1)
    await client.messages.send({
      thread_id,
      content: `Bed ${bed}\n\nhas [water](https://example.com/${bed}).`,
      content_type: 'markdown',
    });
  return thread_id;
}

/** An inbox with a dead item. */
async function fillInbox({ unitOfWork }: Core, url: string): Promise<void> {
  const [asker, worker] = ['mara.garden', 'mara.assistant'].map((handle) => ({
    handle,
    token: async () => {
      const order = { handle, resource: toResourceUrls(url).api, scopes: [...scopes], expires_in: 900 };
      return (await unitOfWork.write(system, (work) => issueToken(work, order))).access_token;
    },
  })) as [Sample, Sample];
  const inbox = inboxOf(`${url}/v1`, { token: await worker.token() });
  await inbox.turnOn({ max_attempts: 1 });
  await requestRest('POST', `${url}/v1/threads`, {
    token: await asker.token(),
    body: { participants: [worker.handle], initial_message: 'It has not rained for a week.' },
  });
  const [lease] = await inbox.leases({ wait_seconds: 10, consumer: 'worker-1' });
  await inbox.release(lease?.id ?? '', { reason: 'The calendar server does not answer.' });
}

interface Sample {
  handle: string;
  token(): Promise<string>;
}

await describeWithBrowser('the pages', (browser) => {
  const service = use(startServiceOnFixedPort);
  let ids: Map<string, string>;
  let invitation: string;
  let thread: string;
  beforeAll(async () => {
    ids = await seedService(service.core);
    await logDeliveries(service.core, ids.get('mara.assistant') ?? '');
    await fillInbox(service.core, service.url);
    await subscribeApp(service.core, ids.get('mara.assistant') ?? '');
    await addRemoteAgent(service.core);
    invitation = await inviteByLink(service.core);
    thread = await startLongThread(service.core);
  });

  describe.each(views)('$name: no fault is found on', ({ options }) => {
    async function withPage(go: (page: Page) => Promise<void>): Promise<void> {
      const context = await browser().newContext({ ...options, baseURL: service.url });
      try {
        await injectAxe(context);
        await go(await context.newPage());
      } finally {
        await context.close();
      }
    }

    async function signedIn(page: Page): Promise<void> {
      await page.goto('/sign-in');
      await signIn(page, mara);
      await page.waitForURL('**/console');
    }

    test('pages for anonymous visitors', () =>
      withPage(async (page) => {
        const { kinds, faults } = await crawl(page, '/', noPage);
        expect(faults).toEqual([]);
        expect(kinds).toEqual(expect.arrayContaining(signedOutPages));
      }));

    test('pages of a new person', () =>
      withPage(async (page) => {
        await page.goto('/sign-in');
        await signUp(page, createPerson());
        await page.waitForURL('**/console');
        const { kinds, faults } = await crawl(page, '/console', noPage);
        expect(faults).toEqual([]);
        expect(kinds).toEqual(expect.arrayContaining(['/console/approvals', '/console/connections']));
      }));

    test('pages of a person with a lot of data', { timeout: 600_000 }, () =>
      withPage(async (page) => {
        await signedIn(page);
        await page.goto(await buildAuthorizationUrl(service.url, sampleClient));
        await page.route(`${sampleClient.redirect_uri}?*`, (route) =>
          route.fulfill({ body: 'Back at the app.' }),
        );
        const asks = {
          client: sampleClient.client_name,
          redirect_host: '127.0.0.1',
          handle: 'mara.assistant',
        };
        await approve(page, asks);
        await page.waitForURL(`${sampleClient.redirect_uri}?*`);
        const { kinds, faults } = await crawl(page, '/console', noPage);
        expect(faults).toEqual([]);
        expect(kinds).toEqual(expect.arrayContaining(variants));
        const opened = kinds.map((kind) => kind.split('?')[0] ?? '');
        const missing = service.parts.pages.routes
          .filter(isReached)
          .map(({ path }) => path)
          .filter((path) => {
            const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
            return !opened.some((address) => pattern.test(address));
          });
        expect(missing).toEqual([]);
      }),
    );

    test('the consent page, whatever the name of the client', () =>
      withPage(async (page) => {
        await signedIn(page);
        for (const client of [sampleClient, hostileClientMetadata]) {
          await page.goto(await buildAuthorizationUrl(service.url, client));
          expect(await findPageFaults(page)).toEqual([]);
        }
      }));

    test('the page of an invitation by link, and messages under the composer', () =>
      withPage(async (page) => {
        await signedIn(page);
        await page.goto(invitation);
        await page.getByText('night-readers').first().waitFor();
        expect(await findPageFaults(page)).toEqual([]);
        for (let sequence = 1; sequence <= 40; sequence += 3) {
          await page.goto(`/console/conversations/${thread}?at=${sequence}`);
          expect(await findPageFaults(page), `message ${sequence}`).toEqual([]);
        }
      }));

    test('the page that shows a secret once', () =>
      withPage(async (page) => {
        await signedIn(page);
        await createCredential(page, `/console/agents/${ids.get('mara.assistant')}/credentials/new`);
        expect(await findPageFaults(page)).toEqual([]);
      }));

    test('error pages', () =>
      withPage(async (page) => {
        const refusals: [string, number][] = [
          ['/authorize/requests/nothing', 404],
          ['/authorize?client_id=absent', 400],
          ['/console/nothing', 404],
          ['/nothing', 404],
        ];
        for (const [path, status] of refusals) {
          expect((await page.goto(path))?.status()).toBe(status);
          expect(await findPageFaults(page)).toEqual([]);
        }
        await page.goto('/sign-in');
        await signIn(page, { ...mara, password: 'not the password' });
        await page.getByText('Wrong username or password').waitFor();
        expect(await findPageFaults(page)).toEqual([]);
      }));
  });
});
