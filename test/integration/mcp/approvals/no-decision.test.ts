import { afterAll, expect, test } from 'vitest';
import {
  type ElicitationCapabilities,
  type ElicitationHandler,
  connectElicitingClient,
} from '../../../clients/mcp/eliciting-client.ts';
import { useMcpInstance } from '../instance.ts';
import { createApprovalFixtures, openForm } from './setup.ts';
import { stopAfterTest } from '../../../support/use.ts';

// Runs after the instance has closed.
afterAll(() => expect(instance.loggedErrors).toEqual([]));
const instance = useMcpInstance({ approval_ms: 150 });
/** It waits for a decision for longer than the client. */
const patient = useMcpInstance({ page_ms: 50 });

const { people, rows, requests } = createApprovalFixtures(() => instance);

async function connect(token: string, ways: ElicitationCapabilities, answer: ElicitationHandler) {
  return stopAfterTest(await connectElicitingClient([instance.url], token, { ways, answer }));
}

test.each([
  ['form', {}],
  ['url', { url: {} }],
] as [string, ElicitationCapabilities][])(
  '%s, no answer in time: the question waits, and the form is cancelled',
  async (_name, ways) => {
    const { mine, stranger, token } = await people();
    let withdrawn = false;
    const client = await connect(
      token,
      ways,
      openForm(() => (withdrawn = true)),
    );
    const { error } = await client.call('request_contact', { handle: stranger });
    expect(error['code']).toBe('APPROVAL_REQUIRED');
    await expect.poll(() => withdrawn).toBe(true);
    expect([await requests(mine), await rows(mine)]).toMatchObject([0, [{ state: 'pending' }]]);
    // Repeated it asks once more, and is the same question.
    const again = await client.call('request_contact', { handle: stranger });
    expect(again.error).toMatchObject({ code: 'APPROVAL_REQUIRED', approval_id: error['approval_id'] });
    await expect.poll(() => client.questions.length).toBe(2);
    expect(await rows(mine)).toHaveLength(1);
  },
);

test('url, the client shows no progress: the call ends with the address before the client gives up', async () => {
  const { token, stranger } = await createApprovalFixtures(() => patient).people();
  const url = patient.url;
  const ways = { url: {} };
  const client = stopAfterTest(
    await connectElicitingClient([url], token, { ways, answer: () => ({ action: 'accept' }) }),
  );
  const { error } = await client.call('request_contact', { handle: stranger });
  expect(client.questions).toMatchObject([{ mode: 'url', url: error['approval_url'] }]);
  expect(error['code']).toBe('APPROVAL_REQUIRED');
});

test('url, the page is opened and there is no decision in time: the question waits', async () => {
  const { mine, stranger, token } = await people();
  const client = await connect(token, { url: {} }, () => ({
    action: 'accept',
  }));
  expect((await client.call('request_contact', { handle: stranger })).error['code']).toBe(
    'APPROVAL_REQUIRED',
  );
  expect([client.completed, await rows(mine)]).toMatchObject([[], [{ state: 'pending' }]]);
});
