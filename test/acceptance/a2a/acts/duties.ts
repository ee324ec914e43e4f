import { expect, vi } from 'vitest';
import { expectValidA2a } from '../../../support/a2a/expect-valid.ts';
import type { ReceivedPost } from '../../../support/servers/webhook-receiver.ts';
import { readPath } from './values.ts';
import type { Answer, Wire } from './wire.ts';

export interface CallbackReceiver {
  url: string;
  postsAt(path: string): readonly ReceivedPost[];
}

/** What a runner has after the steps of a test. */
export interface Duty {
  wire: Wire;
  answers: ReadonlyMap<string, Answer>;
  otherUserTaskId: string;
  /** The callbacks of this test. */
  readCallbacks: () => readonly ReceivedPost[];
}

/** What tests leave to the runner in their description, by their ID. It follows their steps. */
export const duties: Record<string, (duty: Duty) => Promise<void>> = {
  'CARD-CACHE-001': async ({ answers }) => {
    const { headers } = answers.get('step-1') ?? {};
    expect([headers?.get('cache-control'), headers?.get('etag')]).not.toContain(null);
  },
  'JSONRPC-CT-001': expectContentType('send-raw', 'application/json'),
  'REST-CT-001': expectContentType('send', 'application/a2a+json'),
  'SEC-AUTH-003': expectSameErrors,
  'CORE-ERR-009': expectSameErrors,
  'SEC-PUSH-001': expectCredentials('Bearer test-token'),
  'SEC-PUSH-002': expectCredentials('Bearer expected-token'),
  'PUSH-DELIV-001': expectCredentials('Bearer test-token'),
  // The receiver refuses the first request of this test; see `startCallbackReceiver`.
  'PUSH-DELIV-002': async ({ readCallbacks }) => {
    const [first, second] = await waitForCallbacks(readCallbacks, 2);
    expect([second?.headers['webhook-id'], second?.json]).toEqual([
      first?.headers['webhook-id'],
      first?.json,
    ]);
  },
  'PUSH-DELIV-003': async ({ readCallbacks }) => {
    const [first] = await waitForCallbacks(readCallbacks, 1);
    expect(first?.headers['content-type']).toMatch(/^application\/a2a\+json/);
    expectValidA2a('StreamResponse', first?.json);
  },
  'STREAM-MULTI-001': async ({ wire }) => {
    const { own, other } = await followTwice(wire, () => true);
    // The other stream starts with the task as it was then, and both have every update since.
    expect(other.length).toBeGreaterThan(1);
    expect(own.slice(-(other.length - 1))).toEqual(other.slice(1));
  },
  'STREAM-MULTI-002': async ({ wire }) => {
    const { own, other } = await followTwice(wire, () => false);
    expect(other).toHaveLength(1);
    expect(readPath(own.at(-1), 'statusUpdate.status.state')).toEqual(['TASK_STATE_COMPLETED']);
  },
  'STREAM-RESUB-001': async ({ wire }) => {
    const { body } = await wire.call('send_message', {
      message: { role: 'ROLE_USER', parts: [{ text: 'tck-long-running start' }] },
      configuration: { returnImmediately: true },
    });
    const [id] = readPath(body, 'task.id');
    const cut = await wire.call('subscribe_to_task', { id }, () => false);
    expect(cut.events).toHaveLength(1);
    const { events } = await wire.call('subscribe_to_task', { id });
    expect(readPath(events?.at(-1), 'statusUpdate.status.state')).toEqual(['TASK_STATE_COMPLETED']);
  },
};

function expectContentType(step: string, type: string) {
  return async ({ answers }: Duty): Promise<void> => {
    expect(answers.get(step)?.headers.get('content-type')?.split(';')[0]).toBe(type);
  };
}

/** A task of another client is as one that does not exist. */
async function expectSameErrors({ wire, otherUserTaskId }: Duty): Promise<void> {
  const [other, missing] = await Promise.all(
    [otherUserTaskId, '00000000-0000-0000-0000-000000000000'].map(async (id) => {
      const { status, error } = await wire.call('get_task', { id });
      const text = JSON.stringify(error).replaceAll(id, 'the id');
      return { status, error: text.replace(/"request_id":"[^"]*"/, '') };
    }),
  );
  expect(other).toEqual(missing);
}

function expectCredentials(value: string) {
  return async ({ readCallbacks }: Duty): Promise<void> => {
    const [first] = await waitForCallbacks(readCallbacks, 1);
    expect(first?.headers.authorization).toBe(value);
  };
}

const waitForCallbacks = (read: Duty['readCallbacks'], count: number) =>
  vi.waitFor(
    () => {
      const callbacks = read();
      if (callbacks.length < count) throw new Error(`${callbacks.length} callbacks, not ${count}`);
      return callbacks;
    },
    { timeout: 20_000, interval: 50 },
  );

/** The events of a stream that sends a message, and of a second one on its task, which `onEvent` can leave. */
async function followTwice(wire: Wire, onEvent: () => boolean) {
  let other: Promise<Answer> | undefined;
  const message = { role: 'ROLE_USER', parts: [{ text: 'tck-stream-basic generate output' }] };
  const own = await wire.call('send_streaming_message', { message }, (event) => {
    const [id] = readPath(event, 'task.id');
    other ??= wire.call('subscribe_to_task', { id }, onEvent);
    return true;
  });
  return { own: own.events ?? [], other: (await other)?.events ?? [] };
}
