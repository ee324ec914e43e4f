import { describe, expect, test } from 'vitest';
import { createApprovalFixtures, openForm } from './setup.ts';
import {
  type ElicitationHandler,
  type ElicitingClient,
  connectElicitingClient,
  type ElicitationCapabilities,
} from '../../../clients/mcp/eliciting-client.ts';
import { useMcpPair } from '../instance.ts';
import { stopAfterTest } from '../../../support/use.ts';

const [first, second] = useMcpPair();

const { people, colleagues, rows, requests } = createApprovalFixtures(() => first);

const setups = [
  ['one process', () => [first.url]],
  ['a balancer over two', () => [first.url, second.url]],
] as const;

const yes: ElicitationHandler = () => ({ action: 'accept', content: { approve: true } });
const decline: ElicitationHandler = () => ({ action: 'decline' });
const cancel: ElicitationHandler = () => ({ action: 'cancel' });
async function connected(
  urls: readonly string[],
  token: string,
  ways: ElicitationCapabilities,
  answer?: ElicitationHandler,
) {
  return stopAfterTest(await connectElicitingClient(urls, token, { ways, ...(answer && { answer }) }));
}

/** Repeats a call whose question waits; it is the same question, and the answer is what was decided. */
async function repeatedAfter(
  client: ElicitingClient,
  handle: string,
  id: unknown,
  decision: 'approved' | 'denied',
) {
  await first.decide(String(id), decision);
  return client.call('request_contact', { handle });
}

describe.each(setups)('over %s', (_, urls) => {
  test('a stranger, none: APPROVAL_REQUIRED and where to decide; the next call has the outcome', async () => {
    const { mine, stranger, token } = await people();
    const client = await connected(urls(), token, undefined);
    const one = await client.call('request_contact', { handle: stranger });
    expect(one).toMatchObject({ isError: true, error: { code: 'APPROVAL_REQUIRED' } });
    const { approval_id, approval_url, expires_at } = one.error;
    expect(approval_url).toBe(`http://localhost:3000/console/approvals/${String(approval_id)}`);
    expect(Number(expires_at)).toBeGreaterThan(Date.now());
    const again = await client.call('request_contact', { handle: `@${stranger.toUpperCase()}` });
    expect(again.error).toMatchObject({ approval_id, expires_at });
    expect([await requests(mine), await rows(mine)]).toMatchObject([0, [{ state: 'pending' }]]);
    const done = await repeatedAfter(client, stranger, approval_id, 'approved');
    expect(done).toMatchObject({
      isError: false,
      value: { status: 'pending', to: { canonical_handle: stranger } },
    });
    // The request exists: another call returns its status and asks no question.
    expect((await client.call('request_contact', { handle: stranger })).value).toEqual(done.value);
    expect([await requests(mine), await rows(mine)]).toMatchObject([1, [{ state: 'approved', used: true }]]);
  });

  test('a stranger, none, denied on the page: APPROVAL_DENIED, also when repeated', async () => {
    const { mine, stranger, token } = await people();
    const client = await connected(urls(), token, undefined);
    const { error } = await client.call('request_contact', { handle: stranger });
    for (let again = 0; again < 2; again += 1) {
      const told =
        again === 0
          ? await repeatedAfter(client, stranger, error['approval_id'], 'denied')
          : await client.call('request_contact', { handle: stranger });
      expect(told).toMatchObject({
        isError: true,
        error: { code: 'APPROVAL_DENIED', reason: 'approval_declined', approval_id: error['approval_id'] },
      });
    }
    expect(await requests(mine)).toBe(0);
  });

  test.each(
    (['owner', 'organization'] as const).flatMap((same) => [
      { same, name: 'none', ways: undefined },
      { same, name: 'form', ways: {} },
      { same, name: 'url', ways: { url: {} } },
    ]),
  )('the same $same, $name: done immediately, without a question', async ({ same, ways }) => {
    const { mine, kin, token } = await (same === 'owner' ? people() : colleagues());
    const client = await connected(urls(), token, ways);
    expect(await client.call('request_contact', { handle: kin })).toMatchObject({
      isError: false,
      value: { status: 'approved' },
    });
    expect(await client.call('remove_contact', { handle: kin })).toMatchObject({ isError: false, value: {} });
    expect([client.questions, await rows(mine)]).toEqual([[], []]);
  });

  test('a stranger, form, accept: the question is asked once, and what it allows is done once', async () => {
    const { mine, stranger, token } = await people();
    const client = await connected(urls(), token, {}, yes);
    const args = { handle: stranger, message: 'Hello <script>\n[there](https://evil.test)' };
    const done = await client.call('request_contact', args);
    expect(done).toMatchObject({ isError: false, value: { status: 'pending', message: args.message } });
    expect((await client.call('request_contact', args)).value).toEqual(done.value);
    expect(client.questions).toEqual([
      {
        message: `Your agent @${mine}, through a client named "Test ‹b›client‹/b›", wants to send a contact request to @${stranger}, with the message: "Hello ‹script› (there)(https://evil.test)".`,
        requestedSchema: {
          type: 'object',
          properties: { approve: expect.objectContaining({ type: 'boolean' }) },
          required: ['approve'],
        },
      },
    ]);
    expect(await rows(mine)).toMatchObject([
      { state: 'approved', used: true, decided_via: 'program', client_name: 'Test <b>client</b>' },
    ]);
    expect(await requests(mine)).toBe(1);
  });

  test.each([
    ['declines', decline],
    ['sends the form with a no', () => ({ action: 'accept', content: { approve: false } })],
  ] as [string, ElicitationHandler][])(
    'a stranger, form, the person %s: approval_declined, and not asked again',
    async (_name, answer) => {
      const { mine, stranger, token } = await people();
      const client = await connected(urls(), token, {}, answer);
      for (let again = 0; again < 2; again += 1) {
        expect(await client.call('request_contact', { handle: stranger })).toMatchObject({
          isError: true,
          error: { code: 'APPROVAL_DENIED', reason: 'approval_declined' },
        });
      }
      expect([client.questions.length, await requests(mine)]).toEqual([1, 0]);
      expect(await rows(mine)).toMatchObject([{ state: 'denied', decided_via: 'program' }]);
    },
  );

  test.each([
    ['cancels', cancel],
    ['has a program that answers without the choice', () => ({ action: 'accept', content: {} })],
    ['has a program that answers in words', () => ({ action: 'accept', content: { approve: 'true' } })],
    [
      'has a program that fails',
      () => {
        throw new Error('no window');
      },
    ],
  ] as [string, ElicitationHandler][])(
    'a stranger, form, the person %s: it waits, and is asked again',
    async (_name, answer) => {
      const { mine, stranger, token } = await people();
      const client = await connected(urls(), token, {}, answer);
      const ids = [];
      for (let again = 0; again < 2; again += 1) {
        const { error } = await client.call('request_contact', { handle: stranger });
        expect(error['code']).toBe('APPROVAL_REQUIRED');
        ids.push(error['approval_id']);
      }
      expect([new Set(ids).size, client.questions.length, await requests(mine)]).toEqual([1, 2, 0]);
      expect(await rows(mine)).toMatchObject([{ state: 'pending' }]);
    },
  );

  test('a stranger, url, accept: the page is shown, and the call ends with what was decided there', async () => {
    const { mine, stranger, token } = await people();
    const client = await connected(urls(), token, { url: {} }, (params) => {
      const { elicitationId } = Object(params);
      void first.decide(elicitationId, 'approved');
      return { action: 'accept' };
    });
    const done = await client.call('request_contact', { handle: stranger });
    expect(done).toMatchObject({ isError: false, value: { status: 'pending' } });
    const [question] = client.questions;
    const { elicitationId, url } = Object(question);
    expect(question).toMatchObject({ mode: 'url', message: expect.stringContaining(`@${stranger}`) });
    expect(url).toBe(`http://localhost:3000/console/approvals/${elicitationId}`);
    expect(client.completed).toEqual([elicitationId]);
    expect((await client.call('request_contact', { handle: stranger })).value).toEqual(done.value);
    expect(client.questions).toHaveLength(1);
    expect([await requests(mine), await rows(mine)]).toMatchObject([1, [{ state: 'approved', used: true }]]);
  });

  test.each([
    ['decline', 'APPROVAL_DENIED', decline, 'denied', 1],
    ['cancel', 'APPROVAL_REQUIRED', cancel, 'pending', 2],
  ] as [string, string, ElicitationHandler, string, number][])(
    'a stranger, url, %s: %s, also when repeated',
    async (_name, code, answer, state, asked) => {
      const { mine, stranger, token } = await people();
      const client = await connected(urls(), token, { url: {} }, answer);
      for (let again = 0; again < 2; again += 1) {
        expect((await client.call('request_contact', { handle: stranger })).error['code']).toBe(code);
      }
      expect(client.questions).toHaveLength(asked);
      expect([await requests(mine), await rows(mine)]).toMatchObject([0, [{ state }]]);
    },
  );

  test('a contact is removed when the person agrees; a repeated call gets the same result', async () => {
    const { mine, stranger, token } = await people();
    const client = await connected(urls(), token, {}, yes);
    const far = await connected(urls(), await first.token(stranger), undefined);
    expect((await client.call('remove_contact', { handle: stranger })).error['code']).toBe(
      'CONTACT_NOT_FOUND',
    );
    await client.call('request_contact', { handle: stranger });
    await far.call('respond_to_contact_request', { request_id: mine, decision: 'approve' });
    expect(await client.call('remove_contact', { handle: stranger })).toMatchObject({
      isError: false,
      value: {},
    });
    expect(await client.call('remove_contact', { handle: stranger })).toMatchObject({
      isError: false,
      value: {},
    });
    // A contact since then is another one: the person is asked again.
    await client.call('request_contact', { handle: stranger, message: 'again' });
    await far.call('respond_to_contact_request', { request_id: mine, decision: 'approve' });
    await client.call('remove_contact', { handle: stranger });
    const { contacts } = (await client.call('list_contacts', {})).value;
    expect(contacts).toMatchObject([{ same_owner: true }]);
    expect(client.questions.map(({ message }) => message.includes('wants to remove'))).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  test('decided elsewhere while the form is open: the call continues, and the form is cancelled', async () => {
    const { mine, stranger, token } = await people();
    let withdrawn = false;
    const client = await connected(
      urls(),
      token,
      {},
      openForm(() => (withdrawn = true)),
    );
    const call = client.call('request_contact', { handle: stranger });
    await expect.poll(() => client.questions.length).toBe(1);
    const [row] = await first.query(
      `select q.id from approvals q join agents a on a.id = q.agent_id where a.canonical_handle = $1`,
      [mine],
    );
    await second.decide(Object(row).id, 'approved');
    expect(await call).toMatchObject({ isError: false, value: { status: 'pending' } });
    await expect.poll(() => withdrawn).toBe(true);
  });
});

test('nothing of this was a fault of ours', () => {
  expect([first, second].flatMap(({ loggedErrors }) => loggedErrors)).toEqual([]);
});
