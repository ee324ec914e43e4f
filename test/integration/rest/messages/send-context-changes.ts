import { expect } from 'vitest';
import { type ContactsClient, useContacts } from '../../../clients/contacts.ts';
import { requestRest, type RestResponse } from '../../../clients/rest.ts';
import type { TestAgent } from '../../../support/service.ts';
import type { ThreadOfTwo } from './warm-threads.ts';

/** Makes changes through one process. */
interface Changer extends ThreadOfTwo {
  trust: ContactsClient;
  updateAgent(agent: TestAgent, changes: object): Promise<RestResponse>;
  /** A call of bob, below the path of the thread. */
  callThread(method: string, path: string, body?: object): Promise<RestResponse>;
}

type Step = (changer: Changer) => Promise<RestResponse>;

export interface Change {
  name: string;
  /** Before the members send. */
  prepare?: Step[];
  change: Step;
  /** After the change, of ann and bob. */
  outcomes: readonly [string, string];
  /** Without it, the change is final. */
  undo?: Step[];
}

export const accepted = '201';
const paused = '503 AGENT_PAUSED';
const closed = '403 THREAD_CLOSED';

const setPolicy =
  (inbound_policy: string): Step =>
  ({ bob, updateAgent }) =>
    updateAgent(bob, { inbound_policy });
const setStatus =
  (status: string): Step =>
  ({ callThread }) =>
    callThread('PATCH', '', { status });
const requestContact: Step = ({ ann, bob, trust }) => trust.request(ann, bob.handle);
const approveContact: Step = ({ ann, bob, trust }) => trust.approve(bob, ann.handle);
const wildcardOf = ({ handle }: TestAgent) => `${handle.split('.')[0]}.*`;

/** Changes of everything that decides whether a member can send. */
export const changes: readonly Change[] = [
  {
    name: 'the recipient blocks the sender',
    change: ({ ann, bob, trust }) => trust.block(bob, ann.handle),
    outcomes: ['403 NOT_ALLOWED', '403 BLOCKED'],
    undo: [({ ann, bob, trust }) => trust.unblock(bob, ann.handle)],
  },
  {
    name: 'the sender blocks the recipient',
    change: ({ ann, bob, trust }) => trust.block(ann, bob.handle),
    outcomes: ['403 BLOCKED', '403 NOT_ALLOWED'],
    undo: [({ ann, bob, trust }) => trust.unblock(ann, bob.handle)],
  },
  {
    name: 'the recipient accepts only contacts',
    change: setPolicy('contacts_only'),
    outcomes: ['403 NOT_CONTACTS', accepted],
    undo: [setPolicy('open')],
  },
  {
    name: 'the recipient accepts only trusted agents',
    change: setPolicy('trusted_only'),
    outcomes: ['403 NOT_TRUSTED', accepted],
    undo: [setPolicy('open')],
  },
  {
    name: 'the recipient removes the contact',
    prepare: [requestContact, setPolicy('contacts_only'), approveContact],
    change: ({ ann, bob, trust }) => trust.removeContact(bob, ann.handle),
    outcomes: ['403 NOT_CONTACTS', accepted],
    undo: [requestContact, approveContact],
  },
  {
    name: 'the recipient removes the sender from its allowlist',
    prepare: [setPolicy('allowlist'), ({ ann, bob, trust }) => trust.allow(bob, ann.handle)],
    change: ({ ann, bob, trust }) => trust.disallow(bob, ann.handle),
    outcomes: ['403 NOT_ALLOWED', accepted],
    undo: [({ ann, bob, trust }) => trust.allow(bob, ann.handle)],
  },
  {
    name: 'the recipient removes the owner of the sender from its allowlist',
    prepare: [setPolicy('allowlist'), ({ ann, bob, trust }) => trust.allow(bob, wildcardOf(ann))],
    change: ({ ann, bob, trust }) => trust.disallow(bob, wildcardOf(ann)),
    outcomes: ['403 NOT_ALLOWED', accepted],
    undo: [({ ann, bob, trust }) => trust.allow(bob, wildcardOf(ann))],
  },
  {
    name: 'the recipient is paused',
    change: ({ bob, updateAgent }) => updateAgent(bob, { paused: true }),
    outcomes: [paused, paused],
    undo: [({ bob, updateAgent }) => updateAgent(bob, { paused: false })],
  },
  {
    name: 'the sender is paused',
    change: ({ ann, updateAgent }) => updateAgent(ann, { paused: true }),
    outcomes: [paused, paused],
    undo: [({ ann, updateAgent }) => updateAgent(ann, { paused: false })],
  },
  {
    name: 'the recipient is retired',
    change: ({ bob, trust }) => trust.call('DELETE', `/agents/${bob.id}`, bob),
    outcomes: ['404 AGENT_NOT_FOUND', '401 UNAUTHORIZED'],
  },
  {
    name: 'the sender is retired',
    change: ({ ann, trust }) => trust.call('DELETE', `/agents/${ann.id}`, ann),
    outcomes: ['401 UNAUTHORIZED', '404 AGENT_NOT_FOUND'],
  },
  {
    name: 'the thread is closed',
    change: setStatus('closed'),
    outcomes: [closed, closed],
    undo: [setStatus('active')],
  },
  {
    name: 'the thread is archived',
    change: setStatus('archived'),
    outcomes: [closed, closed],
    undo: [setStatus('active')],
  },
  {
    name: 'the sender is removed from the thread',
    change: ({ ann, callThread }) => callThread('DELETE', `/members/${ann.id}`),
    outcomes: ['404 THREAD_NOT_FOUND', accepted],
    undo: [({ ann, callThread }) => callThread('POST', '/members', { handle: ann.handle })],
  },
];

/** Applies steps in order through the process at `api`. None of them may be refused. */
export async function applySteps(steps: readonly Step[], pair: ThreadOfTwo, api: string): Promise<void> {
  const changer: Changer = {
    ...pair,
    trust: useContacts({ api }),
    updateAgent: ({ id, token }, body) => requestRest('PATCH', `${api}/agents/${id}`, { token, body }),
    callThread: (method, path, body) => pair.thread.call(method, path, pair.bob, body, api),
  };
  for (const step of steps) {
    const { status, text } = await step(changer);
    expect(status, text).toBeLessThan(300);
  }
}
