import fc from 'fast-check';
import { requestRest } from '../../clients/rest.ts';
import { moveHandledMarks } from '../../../src/services/inbox/handled.ts';
import type { TestAgent, TestService } from '../../support/service.ts';

/** An action of an agent, as numbers. They are resolved to agents and threads when it runs. */
export interface RandomAction {
  /** The acting agent. */
  actor: number;
  kind: Kind;
  /** The other agent, the thread, or the value. */
  target: number;
  thread: number;
  value: number;
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
  work: 6,
  fail: 1,
} as const;

type Kind = keyof typeof weights;

const kinds = fc.oneof(
  ...Object.entries(weights).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as Kind) })),
);

export function arbitraryActions(agents: number, maxLength: number): fc.Arbitrary<RandomAction[]> {
  const action = fc.record({
    actor: fc.nat(agents - 1),
    kind: kinds,
    target: fc.nat(agents - 2),
    thread: fc.nat(4),
    value: fc.nat(9),
  });
  return fc.array(action, { minLength: 1, maxLength, size: 'max' });
}

/** Two threads of all agents, each with a first message. */
export const initialActions: readonly RandomAction[] = [0, 1].map((actor) => ({
  actor,
  kind: 'open',
  target: 2,
  thread: 0,
  value: 6,
}));

const statuses = ['active', 'closed', 'archived'];
const part = encodeURIComponent;

/** What agents can do to each other. @param threads the open threads; new ones are added. */
export function createActionRunner(
  { api, core }: Pick<TestService, 'api' | 'core'>,
  agents: readonly TestAgent[],
  threads: string[],
) {
  async function call(by: TestAgent, method: string, path: string, body?: object) {
    const answer = await requestRest(method, `${api}${path}`, { token: by.token, ...(body && { body }) });
    // Refusals are expected: blocks, closed threads, threads of others.
    if (answer.status >= 500 && answer.body?.error?.code !== 'AGENT_PAUSED')
      throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Claims items of the inbox and acknowledges them. The marks move at once, before later actions. */
  async function work(by: TestAgent, value: number): Promise<void> {
    const claimed = await call(by, 'POST', '/inbox/leases', { max: value + 1 });
    const ids = (claimed.body.leases ?? []).map(({ id }: { id: string }) => id);
    if (ids.length > 0) await call(by, 'POST', '/inbox/leases:acknowledge', { ids });
    await moveHandledMarks(core.unitOfWork, [by.id]);
  }

  async function fail(by: TestAgent): Promise<void> {
    const { body } = await call(by, 'POST', '/inbox/leases', {});
    for (const { id } of body.leases ?? []) await call(by, 'POST', `/inbox/leases/${id}/release`, {});
  }

  return async function make({ actor: by, kind, target, thread: where, value }: RandomAction): Promise<void> {
    const actor = agents[by];
    const others = agents.filter((agent) => agent !== actor);
    const other = others[target];
    if (!actor || !other) throw new Error('there is no such agent');
    const thread = `/threads/${threads[where % Math.max(1, threads.length)] ?? 'thd_none'}`;
    const contact = `/contacts/${part(other.handle)}`;
    const runners: Record<Kind, () => Promise<unknown>> = {
      async open() {
        const { body, status } = await call(actor, 'POST', '/threads', {
          participants: others
            .filter((_, index) => index === target || value % (index + 2) === 0)
            .map(({ handle }) => handle),
          ...(value > 2 && { subject: `About ${value}` }),
          ...(value > 4 && { initial_message: `Number ${value}` }),
        });
        if (status === 201) threads.push(body.id);
      },
      send: () => call(actor, 'POST', `${thread}/messages`, { content: `Message ${value}` }),
      status: () => call(actor, 'PATCH', thread, { status: statuses[value % 3] }),
      subject: () => call(actor, 'PATCH', thread, { subject: value === 0 ? null : `Subject ${value}` }),
      add: () => call(actor, 'POST', `${thread}/members`, { handle: other.handle }),
      remove: () => call(actor, 'DELETE', `${thread}/members/${part(other.handle)}`),
      leave: () => call(actor, 'DELETE', `${thread}/members/${part(actor.handle)}`),
      read: () => call(actor, 'POST', `${thread}/read`, { up_to_sequence: value + 1 }),
      request: () => call(actor, 'POST', '/contacts/requests', { handle: other.handle }),
      approve: () => call(actor, 'POST', `/contacts/requests/${part(other.handle)}/approve`),
      unfriend: () => call(actor, 'DELETE', contact),
      favorite: () => call(actor, 'PUT', `${contact}/favorite`),
      unfavorite: () => call(actor, 'DELETE', `${contact}/favorite`),
      block: () => call(actor, 'POST', '/blocks', { handle: other.handle }),
      unblock: () => call(actor, 'DELETE', `/blocks/${part(other.handle)}`),
      rename: () => call(actor, 'PATCH', '/agents/me', { display_name: `Name ${value}` }),
      work: () => work(actor, value),
      fail: () => fail(actor),
      profile: () => call(actor, 'PATCH', '/agents/me', { description: `For ${value}` }),
    };
    await runners[kind]();
  };
}
