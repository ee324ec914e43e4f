import { describe, expect, test } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { createCredential } from '../../../src/services/auth/credentials.ts';
import { createOrganization } from '../../../src/services/people/organizations.ts';
import { requestRest } from '../../clients/rest.ts';
import { joinOrganization } from '../../support/join-organization.ts';
import type { TestAgent } from '../../support/service.ts';
import { uniqueName } from '../../support/unique-name.ts';
import { useInstallation } from './setup.ts';

const service = useInstallation({ env: { REMOTE_CONFIRM: 'person' } });

const path = '/remote-agents';
const ownerOf = ({ handle }: TestAgent): string => handle.split('.')[0] ?? '';
const add = (by: TestAgent, fields: object = {}) =>
  service.post(by, path, { card_url: 'https://agent.example/card.json', ...fields });

test('an organization has remote agents of its own, which only its admins change', async () => {
  const [admin, member] = [await service.agent(), await service.agent()];
  const slug = uniqueName('org');
  await service.write(async (work) => {
    await createOrganization(work, slug);
    await joinOrganization(work, { slug, username: ownerOf(admin), role: 'admin' });
    await joinOrganization(work, { slug, username: ownerOf(member), role: 'member' });
  });
  const shared = await service.register({ handle: `${slug}.shared`, scope: 'shared' }, { scopes });
  const linked = await service.register(
    { handle: `${slug}.linked`, scope: 'member', member: ownerOf(member) },
    { scopes },
  );
  const { status, body } = await add(admin, { organization: slug, handle: 'freight' });
  expect([status, body.canonical_handle]).toEqual([201, `${slug}.freight`]);
  expect((await add(member, { organization: slug })).body.error.code).toBe('FORBIDDEN');
  expect((await add(member, { organization: 'unknown' })).body.error.code).toBe('NOT_FOUND');
  const outcomes = async (agent: TestAgent) => [
    (await service.get(agent, `${path}/${body.id}`)).status,
    (await service.patch(agent, `${path}/${body.id}`, { display_name: 'Freight' })).status,
    (await service.get(agent, path)).body.remote_agents.length,
  ];
  expect(await outcomes(admin)).toEqual([200, 200, 1]);
  expect(await outcomes(shared)).toEqual([200, 200, 1]);
  expect(await outcomes(linked)).toEqual([200, 403, 1]);
  expect(await outcomes(member)).toEqual([404, 404, 0]);
});

describe('an agent of another system speaks for itself', () => {
  test('no agent of its owner changes it as one of its own', async () => {
    const ann = await service.agent();
    const { id } = (await add(ann)).body;
    for (const [method, fields] of [['PATCH', { visibility: 'public' }], ['DELETE']] as const) {
      const { status, body } = await requestRest(method, `${service.api}/agents/${id}`, {
        token: ann.token,
        body: fields,
      });
      expect([status, body.error.code]).toEqual([403, 'FORBIDDEN']);
      expect(body.error.message).toContain('belongs to another system');
    }
  });

  test('an operator makes no token and no credential for it', async () => {
    const ann = await service.agent();
    const { canonical_handle: handle } = (await add(ann)).body;
    await expect(service.token(handle)).rejects.toThrow('belongs to another system');
    const credential = service.write((work) => createCredential(work, { handle, scopes: ['threads:read'] }));
    await expect(credential).rejects.toThrow('belongs to another system');
  });
});
