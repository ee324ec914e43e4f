import { expect, test } from 'vitest';
import { newId } from '../../../../packages/core/src/domain/ids.ts';
import { followFeed } from '../../../clients/feed.ts';
import { maskResponse, mapNamesToRoles } from '../../../support/mask-response.ts';
import { outcomeOf, type RestResponse } from '../../../clients/rest.ts';
import { type AgentOptions, type TestAgent, useSharedService } from '../../../support/service.ts';
import { updateAgentColumn, createRelatedAgent, useContacts } from '../../../clients/contacts.ts';

const service = useSharedService();
const trust = useContacts(service);

let absentCount = 0;

/** Agents that must be indistinguishable from absent ones, and an absent one. */
const situations = {
  async absent() {
    return { id: newId('agent'), handle: `absent-${(absentCount += 1)}.agent` };
  },
  hidden: () => service.agent({ visibility: 'private' }),
  async retired() {
    const agent = await service.agent();
    await updateAgentColumn(service, agent, 'retired_at', Date.now());
    return agent;
  },
  stranger: () => service.agent(),
  async blocker(ann: TestAgent) {
    const agent = await service.agent();
    await trust.block(agent, ann.handle);
    return agent;
  },
} satisfies Record<string, (ann: TestAgent) => Promise<Pick<TestAgent, 'id' | 'handle'>>>;

type Situation = keyof typeof situations;

/** Expects the same response in all these situations, by id and by handle, and returns it. */
async function expectSameResponse(
  among: Situation[],
  ask: (ann: TestAgent, ref: string) => Promise<RestResponse>,
) {
  const answers = new Map<string, string[]>();
  let last: RestResponse | undefined;
  for (const situation of among) {
    for (const name of ['id', 'handle'] as const) {
      const ann = await service.agent();
      const other = await situations[situation](ann);
      last = await ask(ann, other[name]);
      const text = maskResponse(last, mapNamesToRoles({ ann, other })).replaceAll(
        /<other(?: id)?>/g,
        '<other>',
      );
      answers.set(text, [...(answers.get(text) ?? []), `${situation} by ${name}`]);
    }
  }
  expect([...answers.values()], [...answers.keys()].join('\n')).toHaveLength(1);
  if (!last) throw new Error('no situation was tested');
  return outcomeOf(last);
}

const allSituations = Object.keys(situations) as Situation[];

test('an absent contact, request, block or entry gets the same response for every agent', async () => {
  for (const ask of [trust.removeContact, trust.favorite, trust.unfavorite])
    expect(await expectSameResponse(allSituations, ask)).toEqual('404 CONTACT_NOT_FOUND');
  for (const ask of [trust.approve, trust.reject])
    expect(await expectSameResponse(allSituations, ask)).toEqual('404 REQUEST_NOT_FOUND');
  expect(await expectSameResponse(allSituations, trust.unblock)).toEqual('404 NOT_FOUND');
});

test('adding and removing an allowlist entry looks the same for every name', async () => {
  for (const suffix of ['', '.*']) {
    const answers = new Set<string>();
    for (const situation of allSituations) {
      const ann = await service.agent();
      const { id, handle } = await situations[situation](ann);
      const entry = suffix === '' ? handle : `${handle.split('.')[0]}${suffix}`;
      const names = mapNamesToRoles({ ann, other: { id, handle: entry } });
      for (const answer of [
        await trust.disallow(ann, entry),
        await trust.allow(ann, entry),
        await trust.allow(ann, entry),
        await trust.allowlist(ann),
        await trust.disallow(ann, entry),
      ])
        answers.add(maskResponse(answer, names));
    }
    expect(answers.size).toBe(4);
  }
});

test('a request of others, a withdrawn one and one of a blocked agent look absent', async () => {
  const [ann, bob, cleo, dora] = (await Promise.all(Array.from({ length: 4 }, () => service.agent()))) as [
    TestAgent,
    TestAgent,
    TestAgent,
    TestAgent,
  ];
  const ids: string[] = [newId('contactRequest')];
  ids.push((await trust.request(bob, cleo.handle)).body.request_id);
  ids.push((await trust.request(dora, ann.handle)).body.request_id);
  await trust.block(dora, ann.handle);
  ids.push((await trust.request(cleo, ann.handle)).body.request_id);
  await trust.block(ann, cleo.handle);
  for (const decide of [trust.approve, trust.reject]) {
    const answers = await Promise.all(ids.map((id) => decide(ann, id)));
    expect(new Set(answers.map((answer) => maskResponse(answer))).size).toBe(1);
    expect(answers.map(outcomeOf)).toEqual(ids.map(() => '404 REQUEST_NOT_FOUND'));
  }
});

const policies = ['open', 'contacts_only', 'trusted_only', 'allowlist'] as const;

/** Everything that an agent can learn of another one through contact operations, as one text. */
async function collectResponses(ann: TestAgent, other: TestAgent): Promise<string> {
  const feed = await followFeed(service.api, ann.token);
  const asks = [
    () => trust.request(ann, other.handle, 'hello'),
    () => trust.request(ann, other.id, 'hello again'),
    () => trust.requests(ann, '?direction=outgoing'),
    () => trust.requests(ann),
    () => trust.contacts(ann),
    () => trust.approve(ann, other.handle),
    () => trust.reject(ann, other.handle),
    () => trust.removeContact(ann, other.handle),
    () => trust.favorite(ann, other.handle),
    () => trust.unblock(ann, other.handle),
    () => trust.block(ann, other.handle),
    () => trust.blocks(ann),
    () => trust.requests(ann, '?direction=outgoing'),
    () => trust.unblock(ann, other.handle),
    () => trust.allow(ann, other.handle),
    () => trust.request(ann, other.handle, 'once more'),
    () => trust.requests(ann, '?direction=outgoing'),
  ];
  const seen: string[] = [];
  for (const ask of asks) seen.push(maskResponse(await ask(), mapNamesToRoles({ ann, other })));
  expect(await feed()).toEqual([]);
  return seen.join('\n\n');
}

test.each(policies)(
  'a blocked agent, even of the same owner or on the allowlist, is like a stranger under the policy %s',
  async (inbound_policy) => {
    const options: AgentOptions = { inbound_policy };
    const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
    const stranger = await service.agent(options);
    const blocker = await service.agent(options);
    await trust.block(blocker, bob.handle);
    const cleo = await service.agent();
    const related = await createRelatedAgent(service, cleo, options);
    await trust.block(related, cleo.handle);
    const dora = await service.agent();
    const allowing = await service.agent(options);
    await trust.allow(allowing, dora.handle);
    await trust.block(allowing, dora.handle);

    const expected = (await collectResponses(ann, stranger)).replaceAll('"display_name":"agent"', '');
    for (const [blocked, by] of [
      [bob, blocker],
      [cleo, related],
      [dora, allowing],
    ] as const) {
      const seen = (await collectResponses(blocked, by)).replaceAll(
        /"display_name":"(?:agent|kin-\d+)"/g,
        '',
      );
      expect(seen).toBe(expected);
      expect((await trust.requests(by)).body).toEqual({ requests: [] });
    }
  },
);

test('a block ends a contact like a removal', async () => {
  const seen: string[] = [];
  for (const end of [trust.removeContact, trust.block]) {
    const [ann, other] = await Promise.all([
      service.agent(),
      service.agent({ inbound_policy: 'contacts_only' }),
    ]);
    await trust.befriend(ann, other);
    const readEvents = await trust.newsOf(ann);
    await end(other, ann.handle);
    const received = await readEvents();
    expect(received).toEqual([[['contact.removed', { agent_id: other.id, canonical_handle: other.handle }]]]);
    // Its old request was approved, so this is a new one.
    seen.push(await collectResponses(ann, other));
  }
  expect(seen[1]).toBe(seen[0]);
});
