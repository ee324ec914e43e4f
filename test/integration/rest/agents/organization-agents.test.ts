import { expect, test } from 'vitest';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { createOrganization, removeFromOrganization } from '../../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../../support/join-organization.ts';
import { outcomeOf, requestRest, type RestResponse } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();
let count = 0;

function agents(method: string, path: string, token: string, body?: unknown): Promise<RestResponse> {
  return requestRest(method, `${service.api}/agents${path}`, { token, body, key: null });
}

function agent(
  handle: string,
  more: { scope?: 'shared' | 'member'; member?: string } = {},
): Promise<TestAgent> {
  return service.register({ handle, create_owner: true, visibility: 'private', ...more }, { scopes });
}

/** An organization with an admin, a member and a stranger, each with a personal agent; a shared agent and a member agent of each. */
async function company() {
  const slug = `org-${(count += 1)}`;
  const [boss, worker, stranger] = [`boss-${count}`, `worker-${count}`, `stranger-${count}`];
  const people = { boss: await agent(`${boss}.own`), worker: await agent(`${worker}.own`) };
  const outside = await agent(`${stranger}.own`);
  await service.write(async (work) => {
    await createOrganization(work, slug);
    await joinOrganization(work, { slug, username: boss, role: 'admin' });
    await joinOrganization(work, { slug, username: worker, role: 'member' });
  });
  return {
    slug,
    worker: { name: worker, ...people.worker },
    boss: { name: boss, ...people.boss },
    stranger: outside,
    shared: await agent(`${slug}.shared`),
    bossMember: await agent(`${slug}.of-boss`, { member: boss }),
    workerMember: await agent(`${slug}.of-worker`, { member: worker }),
  };
}

async function managed(token: string): Promise<string[]> {
  const page = await agents('GET', '/managed', token);
  return page.body.agents.map(({ canonical_handle }: { canonical_handle: string }) => canonical_handle);
}

test('each caller lists the agents that its person can act as', async () => {
  const { slug, boss, worker, stranger, shared, bossMember, workerMember } = await company();
  const all = [shared, bossMember, workerMember].map(({ handle }) => handle);
  expect(await managed(boss.token)).toEqual([boss.handle, ...all]);
  expect(await managed(worker.token)).toEqual([worker.handle, workerMember.handle]);
  expect(await managed(stranger.token)).toEqual([stranger.handle]);
  expect(await managed(shared.token)).toEqual(all);
  expect(await managed(bossMember.token)).toEqual(all);
  expect(await managed(workerMember.token)).toEqual([workerMember.handle]);
  const page = await agents('GET', '/managed?limit=2', boss.token);
  const others = await agents('GET', `/managed?limit=2&cursor=${page.body.next_cursor}`, boss.token);
  expect([...page.body.agents, ...others.body.agents]).toHaveLength(4);
  expect(others.body).not.toHaveProperty('next_cursor');
  // GET /agents lists personal agents only.
  expect((await agents('GET', '', shared.token)).body).toEqual({ agents: [] });
  expect((await agents('GET', '', boss.token)).body.agents).toHaveLength(1);
  expect(slug).not.toBe('');
});

test('a member agent can access only its own organization, whatever its person can access', async () => {
  const [one, other] = [await company(), await company()];
  await service.write((work) =>
    joinOrganization(work, { slug: other.slug, username: one.boss.name, role: 'admin' }),
  );
  expect(await managed(one.boss.token)).toContain(other.shared.handle);
  expect(await managed(one.bossMember.token)).not.toContain(other.shared.handle);
  const body = { paused: true };
  expect((await agents('PATCH', `/${other.shared.id}`, one.bossMember.token, body)).status).toBe(404);
});

test('updates and retirement follow the same rule as the list', async () => {
  const { boss, worker, stranger, shared, bossMember, workerMember } = await company();
  const callers = [boss, worker, stranger, shared, bossMember, workerMember];
  for (const caller of callers) {
    const own = await managed(caller.token);
    for (const target of callers) {
      const patched = await agents('PATCH', `/${target.id}`, caller.token, { description: caller.handle });
      const expected = own.includes(target.handle) ? 200 : expect.toBeOneOf([403, 404]);
      expect(patched.status, `${caller.handle} → ${target.handle}`).toEqual(expected);
      const got = await agents('GET', `/${target.handle}`, caller.token);
      // A managed agent is visible, and so is an agent that is refused with 403.
      expect(got.status).toBe(patched.status === 404 ? 404 : 200);
    }
  }
  expect(outcomeOf(await agents('PATCH', `/${shared.id}`, workerMember.token, { paused: true }))).toBe(
    '403 FORBIDDEN',
  );
  expect(outcomeOf(await agents('DELETE', `/${shared.id}`, worker.token))).toBe('404 AGENT_NOT_FOUND');
  expect((await agents('DELETE', `/${shared.id}`, boss.token)).status).toBe(204);
  expect(await managed(bossMember.token)).not.toContain(shared.handle);
});

test('rights end immediately with the membership', async () => {
  const { slug, boss, worker, shared, workerMember, bossMember } = await company();
  await service.write(async (work) => {
    await removeFromOrganization(work, { slug, username: worker.name });
    await joinOrganization(work, { slug, username: boss.name, role: 'member' });
  });
  expect(await managed(worker.token)).toEqual([worker.handle]);
  expect(await managed(workerMember.token)).toEqual([]);
  expect(await managed(boss.token)).toEqual([boss.handle, bossMember.handle]);
  expect((await agents('PATCH', `/${workerMember.id}`, worker.token, { paused: true })).status).toBe(404);
  expect((await agents('PATCH', `/${shared.id}`, bossMember.token, { paused: true })).status).toBe(403);
  const body = { name: 'late', display_name: 'Late', organization: slug };
  expect(outcomeOf(await agents('POST', '', worker.token, body))).toBe('404 NOT_FOUND');
});

test('the role decides whether agents can be registered for an organization', async () => {
  const { slug, boss, worker, stranger, shared, workerMember } = await company();
  let names = 0;
  const register = (token: string, more: object) =>
    agents('POST', '', token, { name: `new-${(names += 1)}`, display_name: 'New', ...more });
  const organization = slug;

  const byAdmin = await register(boss.token, { organization: slug.toUpperCase(), scope: 'shared' });
  expect(byAdmin.body).toMatchObject({ scope: 'shared', canonical_handle: `${slug}.new-1` });
  const tied = await register(worker.token, { organization });
  expect(tied.body).toMatchObject({ scope: 'member', canonical_handle: `${slug}.new-2` });
  expect(await managed(workerMember.token)).toContain(tied.body.canonical_handle);
  const byShared = await register(shared.token, { organization });
  expect(byShared.body).toMatchObject({ scope: 'shared' });
  const personal = await register(workerMember.token, {});
  expect(personal.body).toMatchObject({ scope: 'personal', canonical_handle: `${worker.name}.new-4` });

  expect(outcomeOf(await register(worker.token, { organization, scope: 'shared' }))).toBe('403 FORBIDDEN');
  expect(outcomeOf(await register(shared.token, {}))).toBe('403 FORBIDDEN');
  expect(outcomeOf(await register(shared.token, { organization, scope: 'member' }))).toBe('403 FORBIDDEN');
  expect(outcomeOf(await register(boss.token, { organization, scope: 'personal' }))).toBe(
    '400 VALIDATION_ERROR',
  );

  const other = await company();
  const texts = [];
  for (const token of [stranger.token, shared.token, other.shared.token]) {
    for (const name of [token === shared.token ? other.slug : slug, 'absent-org', worker.name, 'no name']) {
      const answer = await register(token, { organization: name });
      expect(outcomeOf(answer)).toBe('404 NOT_FOUND');
      texts.push(answer.text.replace(/"request_id":"[^"]+"/, ''));
    }
  }
  expect(new Set(texts).size).toBe(1);
});
