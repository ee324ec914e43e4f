import { expect, test } from 'vitest';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { createOrganization, removeFromOrganization } from '../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../support/join-organization.ts';
import {
  createActor,
  requireAgentOfPerson,
  listAgentsOfPerson,
  registerForPerson,
  type AgentRight,
} from '../../../src/services/people/agents.ts';
import { codeOf, newUsername, openPeopleSetup } from './setup.ts';
import { use } from '../../support/use.ts';

const setup = use(openPeopleSetup);

interface Somebody {
  account_id: string;
}

const agent = (handle: string, member?: string) =>
  setup.write((work) => registerAgentAsOperator(work, { handle, member }));
const handles = (who: Somebody, options: { right?: AgentRight; after?: string; limit?: number } = {}) =>
  setup.read(async (work) =>
    (await listAgentsOfPerson(work, who.account_id, options)).map(({ canonical_handle }) => canonical_handle),
  );
const find = (who: Somebody, id: string, right: AgentRight) =>
  setup.read((work) => requireAgentOfPerson(work, who.account_id, id, right));

/** An organization with an admin and a member, an agent of each and a shared one; each person also has a personal agent. */
async function company() {
  const slug = newUsername('org');
  const [boss, worker, stranger] = [await setup.person(), await setup.person(), await setup.person()];
  await setup.write(async (work) => {
    await createOrganization(work, slug);
    await joinOrganization(work, { slug, username: boss.username, role: 'admin' });
    await joinOrganization(work, { slug, username: worker.username, role: 'member' });
  });
  return {
    slug,
    boss: { ...boss, own: await agent(`${boss.username}.own`) },
    worker: { ...worker, own: await agent(`${worker.username}.own`) },
    stranger: { ...stranger, own: await agent(`${stranger.username}.own`) },
    shared: await agent(`${slug}.shared`),
    ofBoss: await agent(`${slug}.of-boss`, boss.username),
    ofWorker: await agent(`${slug}.of-worker`, worker.username),
  };
}

test('a person manages agents as the role allows, and acts as all of them except those of other members', async () => {
  const { boss, worker, stranger, shared, ofBoss, ofWorker } = await company();
  const table: [Somebody, AgentRight, { canonical_handle: string }[]][] = [
    [boss, 'manages', [boss.own, shared, ofBoss, ofWorker]],
    [boss, 'acts_as', [boss.own, shared, ofBoss]],
    [worker, 'manages', [worker.own, ofWorker]],
    [worker, 'acts_as', [worker.own, ofWorker]],
    [stranger, 'manages', [stranger.own]],
    [stranger, 'acts_as', [stranger.own]],
  ];
  const everything = [boss.own, worker.own, stranger.own, shared, ofBoss, ofWorker];
  for (const [who, right, expected] of table) {
    const [own, ...others] = expected.map(({ canonical_handle }) => canonical_handle);
    expect(await handles(who, { right })).toEqual([own, ...others.toSorted()]);
    for (const one of everything) {
      const answer = await codeOf(find(who, one.id, right));
      expect(answer).toBe(expected.includes(one) ? 'no refusal' : 'AGENT_NOT_FOUND');
    }
  }
});

test('another person’s agent is refused like one that is missing, retired or has an invalid id', async () => {
  const { boss, stranger, shared } = await company();
  await setup.sql('update agents set retired_at = 1 where id = $1', [shared.id]);
  const refusals = new Set<unknown>();
  for (const id of [
    stranger.own.id,
    shared.id,
    'agt_00000000000000000000000000',
    '',
    '\0',
    'x'.repeat(9_999),
  ]) {
    for (const right of ['manages', 'acts_as'] as const) {
      const error: unknown = await find(boss, id, right).catch((thrown: unknown) => thrown);
      refusals.add(JSON.stringify([error, String(error)]));
    }
  }
  expect(refusals.size).toBe(1);
});

test('rights end with the membership and follow the role', async () => {
  const { slug, boss, worker, shared } = await company();
  await setup.write(async (work) => {
    await removeFromOrganization(work, { slug, username: worker.username });
    await joinOrganization(work, { slug, username: boss.username, role: 'member' });
  });
  expect(await handles(worker)).toEqual([worker.own.canonical_handle]);
  expect(await handles(boss)).toEqual([boss.own.canonical_handle, `${slug}.of-boss`]);
  expect(await codeOf(find(boss, shared.id, 'acts_as'))).toBe('AGENT_NOT_FOUND');
});

test('the list continues after a handle, and includes the owner', async () => {
  const { slug, boss, worker, ofWorker } = await company();
  const all = await handles(boss);
  for (const limit of [1, 3]) {
    const first = await handles(boss, { limit });
    expect([...first, ...(await handles(boss, { after: first.at(-1) ?? '' }))]).toEqual(all);
  }
  expect(await find(boss, ofWorker.id, 'manages')).toEqual({
    id: ofWorker.id,
    owner_id: ofWorker.owner_id,
    canonical_handle: ofWorker.canonical_handle,
    display_name: ofWorker.display_name,
    scope: 'member',
    visibility: 'unlisted',
    paused: false,
    is_online: false,
    owner_name: slug,
    member_name: worker.username,
    member_has_left: false,
    acts_as: false,
  });
});

const profile = {
  display_name: 'New',
  description: '',
  visibility: 'private',
  inbound_policy: 'contacts_only',
  card_body: '',
  skills: [],
} as const;

test('a person registers personal agents, and agents of organizations as the role allows', async () => {
  const { slug, boss, worker, stranger } = await company();
  const register = (who: Somebody, input: Partial<Parameters<typeof registerForPerson>[2]>) =>
    setup.write((work) =>
      registerForPerson(work, who.account_id, { ...profile, name: 'new', skills: [], ...input }),
    );
  const own = await register(boss, { name: 'Mine' });
  expect(own).toMatchObject({ canonical_handle: `${boss.username}.mine`, scope: 'personal' });
  expect(await find(boss, own.id, 'acts_as')).toMatchObject({ acts_as: true });
  const tied = await register(worker, { organization: slug.toUpperCase() });
  expect(tied).toMatchObject({ canonical_handle: `${slug}.new`, scope: 'member' });
  expect(await find(worker, tied.id, 'acts_as')).toMatchObject({ member_name: worker.username });
  const shared = await register(boss, { name: 'all', organization: slug, scope: 'shared' });
  expect(shared).toMatchObject({ canonical_handle: `${slug}.all`, scope: 'shared' });

  const refusals: [Somebody, Parameters<typeof register>[1], string][] = [
    [boss, { name: 'mine' }, 'DUPLICATE_HANDLE'],
    [boss, { organization: slug }, 'DUPLICATE_HANDLE'],
    [boss, { name: 'not.a.name' }, 'VALIDATION_ERROR'],
    [boss, { scope: 'shared' }, 'VALIDATION_ERROR'],
    [boss, { scope: 'personal', organization: slug, name: 'n2' }, 'VALIDATION_ERROR'],
    [worker, { scope: 'shared', organization: slug, name: 'n3' }, 'FORBIDDEN'],
    [stranger, { organization: slug, name: 'n4' }, 'NOT_FOUND'],
    [stranger, { organization: 'nowhere', name: 'n5' }, 'NOT_FOUND'],
    [{ account_id: 'acc_gone' }, { name: 'n6' }, 'UNAUTHORIZED'],
  ];
  for (const [who, input, code] of refusals) {
    expect(await codeOf(register(who, input)), JSON.stringify(input)).toBe(code);
  }
});

test('the actor for an agent is that agent on behalf of the session, with every scope if the person may act as it', async () => {
  const person = await setup.person();
  const own = await agent(`${person.username}.own`);
  const found = await find(person, own.id, 'acts_as');
  expect(createActor(person, found, 'http://here/v1')).toEqual({
    agent_id: own.id,
    handle: own.canonical_handle,
    owner_id: person.account_id,
    scopes: new Set(scopes),
    client_id: 'console',
    account_id: person.account_id,
    resource: 'http://here/v1',
    expires_at: expect.any(Number),
    token_id: person.session_id,
  });
  const managed = createActor(person, { ...found, acts_as: false }, 'http://here/v1');
  expect([...managed.scopes]).toEqual(['agents:read', 'agents:write']);
});
