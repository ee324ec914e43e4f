import { expect } from 'vitest';
import { createOrganization } from '../../src/services/organizations.ts';
import { followFeed } from './feed.ts';
import { rest, type RestAnswer } from './rest-client.ts';
import type { AgentOptions, TestAgent, TestService } from './service.ts';

type By = Pick<TestAgent, 'token'>;

const part = encodeURIComponent;

/** The trust graph over REST, as one agent or another. */
export function trustOf(api: string) {
  const call = (method: string, path: string, { token }: By, body?: unknown): Promise<RestAnswer> =>
    rest(method, `${api}${path}`, { token, ...(body !== undefined && { body }) });
  const trust = {
    call,
    contacts: (by: By, query = '') => call('GET', `/contacts${query}`, by),
    removeContact: (by: By, ref: string) => call('DELETE', `/contacts/${part(ref)}`, by),
    favorite: (by: By, ref: string) => call('PUT', `/contacts/${part(ref)}/favorite`, by),
    unfavorite: (by: By, ref: string) => call('DELETE', `/contacts/${part(ref)}/favorite`, by),
    request: (by: By, handle: string, message?: string) =>
      call('POST', '/contacts/requests', by, { handle, ...(message !== undefined && { message }) }),
    requests: (by: By, query = '') => call('GET', `/contacts/requests${query}`, by),
    approve: (by: By, ref: string) => call('POST', `/contacts/requests/${part(ref)}/approve`, by),
    reject: (by: By, ref: string) => call('POST', `/contacts/requests/${part(ref)}/reject`, by),
    block: (by: By, handle: string) => call('POST', '/blocks', by, { handle }),
    unblock: (by: By, ref: string) => call('DELETE', `/blocks/${part(ref)}`, by),
    blocks: (by: By, query = '') => call('GET', `/blocks${query}`, by),
    allow: (by: By, entry: string) => call('POST', '/allowlist', by, { entry }),
    disallow: (by: By, entry: string) => call('DELETE', `/allowlist/${part(entry)}`, by),
    allowlist: (by: By, query = '') => call('GET', `/allowlist${query}`, by),
    /** Whether each of two agents has the other one as a contact; one without the other is a fault. */
    async areContacts(one: TestAgent, other: TestAgent): Promise<boolean> {
      const lists = await Promise.all([one, other].map((by) => trust.contacts(by, '?limit=100')));
      const [mine = [], theirs = []] = lists.map(({ body }) => body.contacts as { agent_id: string }[]);
      const has = mine.some(({ agent_id }) => agent_id === other.id);
      if (has !== theirs.some(({ agent_id }) => agent_id === one.id)) throw new Error('a one-sided contact');
      return has;
    },
    /** The types and data of what each agent hears: of everything since the last call, from now on. */
    async newsOf(...agents: By[]): Promise<() => Promise<[string, object][][]>> {
      const feeds = await Promise.all(agents.map(({ token }) => followFeed(api, token)));
      const read = async (feed: (typeof feeds)[number]) =>
        (await feed()).map(({ type, data }): [string, object] => [type, data]);
      return () => Promise.all(feeds.map(read));
    },
    /** Makes two agents contacts: one asks, the other one approves. */
    async befriend(one: TestAgent, other: TestAgent): Promise<void> {
      const asked = await trust.request(one, other.handle);
      const approved = await trust.approve(other, asked.body.request_id);
      if (approved.status !== 200) throw new Error(`no contact: ${asked.text} ${approved.text}`);
    },
  };
  return trust;
}

export type Trust = ReturnType<typeof trustOf>;

let counter = 0;

/** Another agent of the same owner. */
export async function kinOf(
  service: TestService,
  agent: TestAgent,
  options: AgentOptions = {},
): Promise<TestAgent> {
  const handle = `${agent.handle.split('.')[0]}.kin-${(counter += 1)}`;
  const { visibility = 'public', inbound_policy = 'open' } = options;
  return service.register({ handle, visibility, inbound_policy }, options);
}

/** The first agent of an organization of its own. */
export async function agentOfOrganization(service: TestService): Promise<TestAgent> {
  const slug = `org-${process.pid}-${(counter += 1)}`;
  await service.core.unitOfWork.administer((work) => createOrganization(work, slug));
  return kinOf(service, { id: '', handle: `${slug}.none`, token: '' });
}

/** What an owner may change, or time bring about, beside the trust graph. */
export async function change(
  { core }: TestService,
  { id }: Pick<TestAgent, 'id'>,
  column: 'visibility' | 'inbound_policy' | 'paused' | 'retired_at',
  value: string | boolean | number,
): Promise<void> {
  await core.database.query({ text: `update agents set ${column} = $2 where id = $1` }, [id, value]);
}

/** The code of a refusal, with its status. */
export const refusal = ({ status, body }: RestAnswer): [number, string] => [status, body?.error?.code];

/** An agent as requests show it. */
export const party = ({ id, handle }: TestAgent) => ({
  id,
  canonical_handle: handle,
  display_name: handle.split('.')[1],
});

/** What an agent hears when this one became its contact. */
export function added({ id, handle }: TestAgent): [string, object] {
  const who = { agent_id: id, canonical_handle: handle, display_name: handle.split('.')[1] };
  return ['contact.added', { ...who, favorite: false, since: expect.any(Number) }];
}
