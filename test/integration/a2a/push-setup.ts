import { subscriptionPosting } from '../../../src/jobs/posting.ts';
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { expect } from 'vitest';
import { defaultPacing } from '../../../packages/core/src/domain/webhooks.ts';
import type { Core } from '../../../src/compose.ts';
import { postingHandler } from '../../../workers/posting/handler.ts';
import { pushConfigSource } from '../../../workers/posting/push-configs.ts';
import { type Binding, a2aAddress, createA2aClient, toA2aMessage } from '../../clients/a2a.ts';
import { expectValidA2a } from '../../support/a2a/expect-valid.ts';
import type { ReceivedPost } from '../../support/servers/webhook-receiver.ts';
import { useWebhooks } from '../webhooks/setup.ts';

/** The configuration of a message whose answer is not awaited. */
export const now = { returnImmediately: true };

/** A service whose callbacks may reach this machine, and a receiver of them. */
export function usePush() {
  /** What the API and the worker log, at all levels. */
  const logged: string[] = [];
  const record = (fields: object, message?: string) =>
    void logged.push(inspect([fields, message], { depth: 9 }));
  const logger = { debug: record, info: record, warn: record, error: record, fatal: record };
  const service = useWebhooks({ isDescribed: false, logger });

  /** A client with a task of an agent. `update` reports as the agent. */
  async function openTask(binding: Binding = 'JSONRPC', configuration: object = now) {
    const [ann, bob] = [await service.agent(), await service.agent()];
    const client = createA2aClient(binding, a2aAddress(service.url, bob.handle), ann.token);
    const { result, error } = await client.call('SendMessage', {
      message: toA2aMessage('When?'),
      configuration,
    });
    expect(error).toBeUndefined();
    const taskId: string = result.task.id;
    const update = async (state: string, message?: string, more: object = {}) => {
      const body = { state, ...(message !== undefined && { message }), ...more };
      const { status, text } = await service.call('POST', `/tasks/${taskId}/update`, bob.token, body);
      expect(status, text).toBe(200);
    };
    const create = (config: object) => client.call('CreateTaskPushNotificationConfig', { taskId, ...config });
    return { ann, bob, client, taskId, update, create };
  }

  const postsTo = (url: string): ReceivedPost[] => service.receiver.postsAt(new URL(url).pathname);

  return {
    service,
    logged,
    openTask,
    postsTo,
    /** An address of the receiver that no other test uses. */
    newUrl: () => `${service.receiver.url}/${randomUUID()}`,
    /** The updates that were sent to an address, in short. */
    storyOf: (url: string): string[] => postsTo(url).map(describePost),
    /** The stored form of a config. */
    async rowOf(task_id: string, id: string) {
      const text = 'select * from a2a_push_configs where task_id = $1 and id = $2';
      const [row] = await service.core.database.query<{
        next_at: number | null;
        last_error: string | null;
        credentials: Buffer;
        token: Buffer;
      }>({ text }, [task_id, id]);
      return row;
    },
  };
}

/** The update in a request to a receiver, in short. */
export function describePost({ json }: ReceivedPost): string {
  expectValidA2a('StreamResponse', json);
  const { statusUpdate, artifactUpdate } = json;
  if (artifactUpdate) return `artifact ${artifactUpdate.artifact.parts[0].text}`;
  return `${statusUpdate.status.state} ${statusUpdate.status.message?.parts[0].text ?? ''}`.trim();
}

/** Sends what is due to the receivers, as a worker does in production. For a service without one. */
export async function sendDue(core: Core): Promise<void> {
  const handler = postingHandler(
    core,
    subscriptionPosting,
    [pushConfigSource(core, defaultPacing)],
    defaultPacing,
  );
  for (const subscription_id of await core.db.pushConfigs.listDue(Date.now(), '', 100))
    await handler.handle({ subscription_id });
}

/** Moves the clock to the next attempt for the receiver of a task. Returns the time that passes, in milliseconds. */
export async function passUntilNextAttempt({ database }: Core, task_id: string): Promise<number> {
  const text = `update a2a_push_configs c set next_at = $2 from a2a_push_configs before
    where c.task_id = $1 and before.task_id = $1 returning (before.next_at - $2)::float8 as ms`;
  const [row] = await database.query<{ ms: number }>({ text }, [task_id, Date.now()]);
  return row?.ms ?? expect.fail('no attempt will follow');
}

/** All that an agent says with `tellAll`, as `storyOf` shows it. */
export const wholeStory = [
  'TASK_STATE_WORKING Looking.',
  'TASK_STATE_INPUT_REQUIRED Which day?',
  'artifact Tomorrow.',
  'TASK_STATE_COMPLETED',
];

type Update = (state: string, message?: string, more?: object) => Promise<void>;

export async function tellAll({ update }: { update: Update }): Promise<void> {
  await update('working', 'Looking.');
  await update('input_required', 'Which day?');
  await update('completed', 'Tomorrow.', { artifact: true });
}
