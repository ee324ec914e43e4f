import { expect, test } from 'vitest';
import { findForm } from '../../clients/form-browser.ts';
import { applyStoredDecisions, signInPerson } from '../../integration/console/signed-in-person.ts';
import { useService } from '../../support/service.ts';
import { connectModel } from './model.ts';

const service = useService();

test('a person approves after the session has ended: the call runs, and the next session gets the result', async () => {
  const ada = await signInPerson(service);
  const { handle, id } = await ada.agent('helper', { visibility: 'unlisted' });
  const stranger = await service.agent({ visibility: 'unlisted', inbound_policy: 'contacts_only' });
  const connect = async () => connectModel(service, await service.token(handle, { audience: 'mcp' }));
  const request = { handle: stranger.handle, message: 'May I?', idempotency_key: 'asked-once' };

  const first = await connect();
  const { error } = await first.call('request_contact', request);
  expect(error).toMatchObject({ code: 'APPROVAL_REQUIRED' });
  await first.leave();
  const requestsOf = async () => (await service.get(stranger, '/contacts/requests')).body.requests;
  expect(await requestsOf()).toEqual([]);

  const page = await ada.go(new URL(String(error['approval_url'])).pathname);
  expect(page.visibleText).toContain(`@${stranger.handle}`);
  const decided = await ada.send(findForm(page, new URL(page.url).pathname), { button: 'approve' });
  expect(decided.visibleText).toContain('Until then you can undo it.');
  expect(await requestsOf()).toEqual([]);
  expect(await applyStoredDecisions(service)).toEqual([]);
  const [received] = await requestsOf();
  expect(received).toMatchObject({ from: { id, canonical_handle: handle }, message: 'May I?' });

  const second = await connect();
  const waited = await second.use('wait_for_events', { types: ['approval.resolved'] });
  const result = expect.objectContaining({ request_id: received.request_id, status: 'pending' });
  expect(waited).toMatchObject({
    events: [{ data: { approval_id: error['approval_id'], decision: 'approved', result } }],
  });
  // With the key of the call and without, and as often as the model repeats it.
  const { idempotency_key: _key, ...repeated } = request;
  for (const args of [request, repeated, request])
    expect(await second.use('request_contact', args)).toEqual(result);
  expect(await requestsOf()).toHaveLength(1);
});
