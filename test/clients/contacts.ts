import { expect } from 'vitest';
import { createOrganization } from '../../src/services/people/organizations.ts';
import { followFeed } from './feed.ts';
import { requestRest, type RestResponse } from './rest.ts';
import { uniqueName } from '../support/unique-name.ts';
import { type AgentOptions, allTestScopes, type TestAgent, type TestService } from '../support/service.ts';

type Caller = Pick<TestAgent, 'token'>;

const encodePart = encodeURIComponent;

/** The trust graph over REST, as one agent or another. */
export function useContacts(service: { readonly api: string }) {
  const call = (method: string, path: string, { token }: Caller, body?: unknown): Promise<RestResponse> =>
    requestRest(method, `${service.api}${path}`, { token, ...(body !== undefined && { body }) });
  const trust = {
    call,
    contacts: (by: Caller, query = '') => call('GET', `/contacts${query}`, by),
    removeContact: (by: Caller, ref: string) => call('DELETE', `/contacts/${encodePart(ref)}`, by),
    favorite: (by: Caller, ref: string) => call('PUT', `/contacts/${encodePart(ref)}/favorite`, by),
    unfavorite: (by: Caller, ref: string) => call('DELETE', `/contacts/${encodePart(ref)}/favorite`, by),
    request: (by: Caller, handle: string, message?: string) =>
      call('POST', '/contacts/requests', by, { handle, ...(message !== undefined && { message }) }),
    requests: (by: Caller, query = '') => call('GET', `/contacts/requests${query}`, by),
    approve: (by: Caller, ref: string) => call('POST', `/contacts/requests/${encodePart(ref)}/approve`, by),
    reject: (by: Caller, ref: string) => call('POST', `/contacts/requests/${encodePart(ref)}/reject`, by),
    withdraw: (by: Caller, ref: string) => call('DELETE', `/contacts/requests/${encodePart(ref)}`, by),
    block: (by: Caller, handle: string) => call('POST', '/blocks', by, { handle }),
    unblock: (by: Caller, ref: string) => call('DELETE', `/blocks/${encodePart(ref)}`, by),
    blocks: (by: Caller, query = '') => call('GET', `/blocks${query}`, by),
    allow: (by: Caller, entry: string) => call('POST', '/allowlist', by, { entry }),
    disallow: (by: Caller, entry: string) => call('DELETE', `/allowlist/${encodePart(entry)}`, by),
    allowlist: (by: Caller, query = '') => call('GET', `/allowlist${query}`, by),
    /** Whether each of two agents has the other one as a contact; one without the other is a fault. */
    async areContacts(one: TestAgent, other: TestAgent): Promise<boolean> {
      const lists = await Promise.all([one, other].map((by) => trust.contacts(by, '?limit=100')));
      const [mine = [], theirs = []] = lists.map(({ body }) => body.contacts as { agent_id: string }[]);
      const has = mine.some(({ agent_id }) => agent_id === other.id);
      if (has !== theirs.some(({ agent_id }) => agent_id === one.id)) throw new Error('a one-sided contact');
      return has;
    },
    /** The types and data of what each agent hears: of everything since the last call, from now on. */
    async newsOf(...agents: Caller[]): Promise<() => Promise<[string, object][][]>> {
      const feeds = await Promise.all(agents.map(({ token }) => followFeed(service.api, token)));
      const read = async (feed: (typeof feeds)[number]) =>
        (await feed()).map(({ type, data }): [string, object] => [type, data]);
      return () => Promise.all(feeds.map(read));
    },
    /** Makes two agents contacts: one asks, the other one approves. */
    async befriend(one: TestAgent, other: TestAgent): Promise<void> {
      const requested = await trust.request(one, other.handle);
      const approved = await trust.approve(other, requested.body.request_id);
      if (approved.status !== 200) throw new Error(`no contact: ${requested.text} ${approved.text}`);
    },
  };
  return trust;
}

export type ContactsClient = ReturnType<typeof useContacts>;

let counter = 0;

/** Another agent of the same owner. */
export async function createRelatedAgent(
  service: TestService,
  agent: TestAgent,
  options: AgentOptions = {},
): Promise<TestAgent> {
  const handle = `${agent.handle.split('.')[0]}.kin-${(counter += 1)}`;
  const { visibility = 'public', inbound_policy = 'open' } = options;
  return service.register({ handle, visibility, inbound_policy }, options);
}

/** Agents of one new person, by name; with the scope for its conversations. */
export async function createHousehold(service: TestService, ...names: string[]): Promise<TestAgent[]> {
  const owner = uniqueName('household');
  const profile = { create_owner: true, visibility: 'public', inbound_policy: 'open' } as const;
  const agents: TestAgent[] = [];
  // One after the other: the first one creates the owner.
  for (const name of names) {
    const agent = { handle: `${owner}.${name}`, ...profile };
    agents.push(await service.register(agent, { scopes: [...allTestScopes, 'conversations:read'] }));
  }
  return agents;
}

/** The first agent of an organization of its own. */
export async function createOrganizationAgent(service: TestService): Promise<TestAgent> {
  const slug = uniqueName('org');
  await service.write((work) => createOrganization(work, slug));
  return createRelatedAgent(service, { id: '', handle: `${slug}.none`, token: '' });
}

/** What an owner may change, or time bring about, beside the trust graph. */
export async function updateAgentColumn(
  { core }: TestService,
  { id }: Pick<TestAgent, 'id'>,
  column: 'visibility' | 'inbound_policy' | 'paused' | 'retired_at',
  value: string | boolean | number,
): Promise<void> {
  await core.database.query({ text: `update agents set ${column} = $2 where id = $1` }, [id, value]);
}

/** An agent as requests show it. */
export const agentSummary = ({ id, handle }: TestAgent) => ({
  id,
  canonical_handle: handle,
  display_name: handle.split('.')[1],
});

/** What an agent hears when this one became its contact. */
export function contactAdded({ id, handle }: TestAgent, sameOwner = false): [string, object] {
  const who = { agent_id: id, canonical_handle: handle, display_name: handle.split('.')[1] };
  return ['contact.added', { ...who, favorite: false, same_owner: sameOwner, since: expect.any(Number) }];
}
