import fc from 'fast-check';
import { rest } from '../../../support/rest-client.ts';
import type { TestAgent } from '../../../support/service.ts';

/** Something that an agent does, as numbers: whom and what they mean is found when it is done. */
export interface Move {
  /** Which agent does it. */
  by: number;
  kind: Kind;
  /** Which other agent, thread, or value. */
  whom: number;
  where: number;
  what: number;
}

const weights = {
  open: 4,
  send: 12,
  status: 2,
  subject: 2,
  add: 3,
  remove: 2,
  leave: 1,
  read: 6,
  request: 8,
  approve: 6,
  unfriend: 1,
  favorite: 4,
  unfavorite: 1,
  block: 1,
  unblock: 2,
  rename: 4,
  profile: 1,
} as const;

type Kind = keyof typeof weights;

const kinds = fc.oneof(
  ...Object.entries(weights).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as Kind) })),
);

export function anyMoves(agents: number, most: number): fc.Arbitrary<Move[]> {
  const move = fc.record({
    by: fc.nat(agents - 1),
    kind: kinds,
    whom: fc.nat(agents - 2),
    where: fc.nat(4),
    what: fc.nat(9),
  });
  return fc.array(move, { minLength: 1, maxLength: most, size: 'max' });
}

/** Two threads with everybody in them, each with a first message. */
export const beginning: readonly Move[] = [0, 1].map((by) => ({
  by,
  kind: 'open',
  whom: 2,
  where: 0,
  what: 6,
}));

const statuses = ['active', 'closed', 'archived'];
const part = encodeURIComponent;

/** What agents can do to each other. @param threads those that they have opened so far; new ones are added. */
export function createMover(api: string, agents: readonly TestAgent[], threads: string[]) {
  async function call(by: TestAgent, method: string, path: string, body?: object) {
    const answer = await rest(method, `${api}${path}`, { token: by.token, ...(body && { body }) });
    // Refusals are as good as anything: blocks, closed threads, threads of others.
    if (answer.status >= 500 && answer.body?.error?.code !== 'AGENT_PAUSED')
      throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
    return answer;
  }

  return async function make({ by, kind, whom, where, what }: Move): Promise<void> {
    const actor = agents[by];
    const others = agents.filter((agent) => agent !== actor);
    const other = others[whom];
    if (!actor || !other) throw new Error('there is no such agent');
    const thread = `/threads/${threads[where % Math.max(1, threads.length)] ?? 'thd_none'}`;
    const contact = `/contacts/${part(other.handle)}`;
    const moves: Record<Kind, () => Promise<unknown>> = {
      async open() {
        const { body, status } = await call(actor, 'POST', '/threads', {
          participants: others
            .filter((_, index) => index === whom || what % (index + 2) === 0)
            .map(({ handle }) => handle),
          ...(what > 2 && { subject: `About ${what}` }),
          ...(what > 4 && { initial_message: `Number ${what}` }),
        });
        if (status === 201) threads.push(body.id);
      },
      send: () => call(actor, 'POST', `${thread}/messages`, { content: `Message ${what}` }),
      status: () => call(actor, 'PATCH', thread, { status: statuses[what % 3] }),
      subject: () => call(actor, 'PATCH', thread, { subject: what === 0 ? null : `Subject ${what}` }),
      add: () => call(actor, 'POST', `${thread}/members`, { handle: other.handle }),
      remove: () => call(actor, 'DELETE', `${thread}/members/${part(other.handle)}`),
      leave: () => call(actor, 'DELETE', `${thread}/members/${part(actor.handle)}`),
      read: () => call(actor, 'POST', `${thread}/read`, { up_to_sequence: what + 1 }),
      request: () => call(actor, 'POST', '/contacts/requests', { handle: other.handle }),
      approve: () => call(actor, 'POST', `/contacts/requests/${part(other.handle)}/approve`),
      unfriend: () => call(actor, 'DELETE', contact),
      favorite: () => call(actor, 'PUT', `${contact}/favorite`),
      unfavorite: () => call(actor, 'DELETE', `${contact}/favorite`),
      block: () => call(actor, 'POST', '/blocks', { handle: other.handle }),
      unblock: () => call(actor, 'DELETE', `/blocks/${part(other.handle)}`),
      rename: () => call(actor, 'PATCH', '/agents/me', { display_name: `Name ${what}` }),
      profile: () => call(actor, 'PATCH', '/agents/me', { description: `For ${what}` }),
    };
    await moves[kind]();
  };
}
