import { expect, onTestFinished, test } from 'vitest';
import { decideAsOperator } from '../../../../src/services/approvals/approvals.ts';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { startService } from '../../../support/service.ts';

test('a question costs the budget of its operation once; to look how it stands, and what it allows, do not', async () => {
  const service = await startService({ worker: false, env: { RATE_LIMITS: 'contact_request=1/3600' } });
  onTestFinished(async () => void (await service.stop()));
  const [ann, bob, cid] = await Promise.all([
    service.agent({ audience: 'mcp' }),
    service.agent(),
    service.agent(),
  ]);
  const ask = (handle: string) => callToolRaw(service.url, ann.token, 'request_contact', { handle });
  const errorOf = async (handle: string) => Object((await ask(handle)).value['error']);
  const { approval_id } = await errorOf(bob.handle);
  expect(await errorOf(bob.handle)).toMatchObject({ code: 'APPROVAL_REQUIRED', approval_id });
  expect(await errorOf(cid.handle)).toMatchObject({ code: 'RATE_LIMITED', retry_after: expect.any(Number) });
  await service.write((work) => decideAsOperator(work, approval_id, 'approved'));
  expect(await ask(bob.handle)).toMatchObject({ isError: false, value: { status: 'pending' } });
  expect(await service.core.db.approvals.listOfAgent(ann.id, Date.now(), 10)).toMatchObject([
    { id: approval_id, state: 'approved', used_at: expect.any(Number) },
  ]);
});
