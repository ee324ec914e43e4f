import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '../../../packages/client/src/node/main.ts';
import type { OpenTask } from '../../../packages/client/src/tasks.ts';

type Client = ReturnType<typeof createClient>;

/** How long it seems to work: long enough for a client that polls or subscribes meanwhile. */
const workMs = 1_500;
const shortWorkMs = 300;

/** What the task is about, and what its client said last. */
interface Turn {
  client: Client;
  task: OpenTask;
  /** Whether the client has answered a question of the agent. */
  isAnswer: boolean;
  text: string;
}

/** By the prefix of the message that asks, as the conformance tests of the A2A project name them. */
const behaviors: Record<string, (turn: Turn) => Promise<unknown>> = {
  'tck-complete-task': ({ task }) => task.complete('Done.'),
  // A task is the only kind of answer here, so this is an ordinary one.
  'tck-message-response': ({ task }) => task.complete('Done.'),
  'tck-task-failure': ({ task }) => task.fail('It does not work.'),
  'tck-reject-task': ({ task }) => task.reject('I do not do this.'),
  'tck-input-required': ({ task, isAnswer }) =>
    isAnswer ? task.complete('Done.') : task.askBack('Which one?'),
  'tck-multi-turn': ({ task, text }) =>
    text.startsWith('done') ? task.complete('Done.') : task.askBack('And then?'),
  'tck-auth-required': ({ client, task, isAnswer }) =>
    isAnswer
      ? task.complete('Done.')
      : client.tasks.update({ task_id: task.id, state: 'auth_required', message: 'Sign in first.' }),
  'tck-cancel': ({ task }) => task.working(),
  async 'tck-long-running'({ task }) {
    await task.working('I look into it.');
    await pause(workMs);
    await task.complete('It took a while.');
  },
  async 'tck-stream-basic'({ task }) {
    await task.working();
    await pause(shortWorkMs);
    await task.complete('The result.');
  },
  async 'tck-stream-chunked'({ client, task }) {
    for (const message of ['The first result.', 'The second result.'])
      await client.tasks.update({ task_id: task.id, state: 'working', message, artifact: true });
    await task.complete('The last result.');
  },
  'tck-artifact-text': ({ task }) => task.complete('Generated text content'),
  'tck-artifact-data': ({ task }) => task.complete(undefined, { key: 'value', count: 42 }),
  'tck-artifact-file': completeWithFile,
  'tck-artifact-file-url': completeWithFile,
};

async function completeWithFile({ client, task }: Turn): Promise<void> {
  const { id } = await client.attachments.upload(Buffer.from('The result.\n'), {
    filename: 'output.txt',
    contentType: 'text/plain',
  });
  await task.complete({ content: '', attachment_ids: [id] });
}

/** ACTS names the behavior in the text of the first message, a2a-tck in the `messageId` of each, before the id of the run. */
function findBehavior(message: OpenTask['messages'][number] | undefined) {
  const { message_id = '' } = (message?.metadata['a2a'] ?? {}) as { message_id?: string };
  const names = Object.keys(behaviors).filter((each) =>
    [message?.content, message_id].some((text) => text?.startsWith(each)),
  );
  return behaviors[names.toSorted((one, other) => other.length - one.length)[0] ?? ''];
}

/**
 * An agent of the service that knows nothing of A2A and behaves by the prefix of the message text. It works on all its tasks at once, until
 * `close`. `onError` gets what a behavior throws, besides a task that its client canceled meanwhile.
 */
export function startTestAgent(
  options: Parameters<typeof createClient>[0],
  onError: (error: unknown) => void = (error) => console.error(error),
) {
  const client = createClient(options);
  const over = new AbortController();
  const handled = new Set<string>();

  async function work(): Promise<void> {
    for await (const task of client.tasks.work({ signal: over.signal })) {
      const said = task.messages.filter(({ sender }) => sender.id === task.client.id);
      const last = said.at(-1) ?? task.messages[0];
      // Its own reports bring the task again, because it does not wait for their end.
      if (last === undefined || handled.has(last.id)) continue;
      handled.add(last.id);
      const own = findBehavior(last);
      const behave = own ?? findBehavior(said[0]) ?? (({ task: unknown }: Turn) => unknown.complete('Done.'));
      behave({ client, task, isAnswer: said.length > 1 && !own, text: last.content }).catch(
        (error: unknown) => {
          const isCanceled = error instanceof Error && 'code' in error && error.code === 'INVALID_TRANSITION';
          if (!isCanceled) onError(error);
        },
      );
    }
  }
  const ended = work();
  ended.catch(onError);
  return {
    async close(): Promise<void> {
      over.abort();
      await ended;
    },
  };
}

// By hand: AMS_URL and AMS_TOKEN, or AMS_CLIENT_ID and AMS_CLIENT_SECRET, then `npx tsx test/support/a2a/test-agent.ts`.
if (process.argv[1] === import.meta.filename) startTestAgent({});
