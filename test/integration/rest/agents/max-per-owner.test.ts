import { expect, test } from 'vitest';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { createOrganization } from '../../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../../support/join-organization.ts';
import { useService } from '../../../support/service.ts';

const service = useService({ worker: false, env: { AGENTS_PER_OWNER: '3', RATE_LIMITS: 'off' } });

const register = (token: string, name: string, more: object = {}) =>
  service.post({ token }, '/agents', { name, display_name: name, ...more }, { key: null });

test('the number of agents per owner is limited, also for concurrent calls; a deleted agent no longer counts', async () => {
  const first = await service.register({ handle: 'crowd.first', create_owner: true }, { scopes });
  const names = Array.from({ length: 6 }, (_, turn) => `more-${turn}`);
  const answers = await Promise.all(names.map((name) => register(first.token, name)));
  const created = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status !== 201);
  expect([created.length, refused.length]).toEqual([2, 4]);
  for (const { status, body } of refused) {
    expect([status, body.error.code]).toEqual([403, 'FORBIDDEN']);
    expect(body.error.message).toBe('crowd can have at most 3 agents; delete one first.');
  }

  const gone = created[0]?.body.id;
  expect((await service.delete(first, `/agents/${gone}`)).status).toBe(204);
  expect((await register(first.token, 'in-its-place')).status).toBe(201);
  expect((await register(first.token, 'one-more')).status).toBe(403);

  // Agents of an organization count for the organization; operators are not limited.
  await service.write(async (work) => {
    await createOrganization(work, 'crowd-org');
    await joinOrganization(work, { slug: 'crowd-org', username: 'crowd', role: 'admin' });
  });
  const shared = { organization: 'crowd-org', scope: 'shared' };
  expect((await register(first.token, 'desk', shared)).status).toBe(201);
  await service.register({ handle: 'crowd.by-operator' });
});
