import { randomUUID } from 'node:crypto';
import type { TestAgent, TestService } from '../../../support/service.ts';
import {
  createOrganizationOf,
  type SignedInPerson,
  signInPerson,
  signInWithAgent,
} from '../signed-in-person.ts';

/** Posts to the REST interface as an agent; returns the body. */
export async function post(service: TestService, agent: TestAgent, path: string, body: object) {
  const response = await service.post(agent, path, body, { headers: { 'Idempotency-Key': randomUUID() } });
  if (response.status >= 300) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}

/** A thread of an agent with others, with a first message. Unless its metadata say otherwise, it expects a reply. */
export async function startThread(
  service: TestService,
  from: TestAgent,
  to: readonly TestAgent[],
  input: { content?: string; subject?: string; metadata?: object } = {},
): Promise<string> {
  const { content = 'Hello there', subject, metadata = { expects_reply: true } } = input;
  const { id } = await post(service, from, '/threads', {
    participants: to.map(({ handle }) => handle),
    ...(subject !== undefined && { subject }),
  });
  await sendTo(service, from, id, content, { metadata });
  return id;
}

/** The path of the page of a conversation. */
export const addressOf = (thread_id: string) => `/console/conversations/${thread_id}`;

/** A person with an agent, and an agent of somebody else. */
export async function createPair(service: TestService) {
  const [ada, other] = await Promise.all([signInWithAgent(service), service.agent()]);
  return { ada, mine: ada.mine, other };
}

/** Such a pair, with a thread that the other one has started. */
export async function createConversation(service: TestService, content: string) {
  const pair = await createPair(service);
  const id = await startThread(service, pair.other, [pair.mine], { content });
  return { ...pair, id, address: addressOf(id) };
}

/** The messages of a thread, as an agent reads them. */
export const listMessages = async (service: TestService, { token }: { token: string }, thread_id: string) =>
  (await service.get({ token }, `/threads/${thread_id}/messages?order=asc`)).body.messages;

/** Sends a message. */
export async function sendTo(
  service: TestService,
  from: TestAgent,
  thread_id: string,
  content: string,
  more: object = {},
) {
  return post(service, from, `/threads/${thread_id}/messages`, { content, ...more });
}

/** One agent of each kind, each with a thread with a stranger, and one person for each role. */
export async function createRoles(service: TestService) {
  const [owner, admin, member, colleague, outsider] = (await Promise.all(
    Array.from({ length: 5 }, () => signInPerson(service)),
  )) as [SignedInPerson, SignedInPerson, SignedInPerson, SignedInPerson, SignedInPerson];
  const slug = await createOrganizationOf(service, { admins: [admin], members: [member, colleague] });
  const stranger = await service.agent();
  const open = { visibility: 'public', inbound_policy: 'open' } as const;
  const agents = {
    personal: await owner.agent(),
    shared: await service.register({ handle: `${slug}.desk`, ...open }),
    'linked with a member': await service.register({
      handle: `${slug}.tied`,
      member: member.username,
      ...open,
    }),
  };
  const threads = {
    personal: await startThread(service, stranger, [agents.personal], { subject: 'To a personal agent' }),
    shared: await startThread(service, stranger, [agents.shared], { subject: 'To a shared agent' }),
    'linked with a member': await startThread(service, stranger, [agents['linked with a member']], {
      subject: 'To a linked agent',
    }),
  };
  return { people: { owner, admin, member, colleague, outsider }, agents, threads, stranger, slug };
}

export type Roles = Awaited<ReturnType<typeof createRoles>>;

/** Which threads each person may read: admins never those of agents that are linked with another member. */
export const readableThreads: Record<keyof Roles['people'], readonly (keyof Roles['threads'])[]> = {
  owner: ['personal'],
  admin: ['shared'],
  member: ['linked with a member'],
  colleague: [],
  outsider: [],
};

const kinds = ['personal', 'shared', 'linked with a member'] as const;

/** Each person with an agent of each kind, and whether the person may read its thread. */
export const roleCases = (Object.keys(readableThreads) as (keyof typeof readableThreads)[]).flatMap((name) =>
  kinds.map((kind) => [name, kind, readableThreads[name].includes(kind)] as const),
);
