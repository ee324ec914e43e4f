import { z } from 'zod';
import { a2aBaseUrl, mailboxExtension } from '../../packages/core/src/domain/a2a.ts';
import { taskStates } from '../../packages/core/src/domain/tasks.ts';
import type { ReadTask, ToldUpdate } from '../event.ts';
import { defaultTimeoutMs, type Outcome, readErrorBody } from '../load/call.ts';
import type { Agent } from '../load/population.ts';
import { parseJson } from '../parse-json.ts';
import { type EventFields, readServerSentEvents } from './server-sent-events.ts';

const state = z
  .string()
  .transform((name) => name.replace('TASK_STATE_', '').toLowerCase())
  .pipe(z.enum(taskStates));

/** A task in an answer. Its generation is in the metadata of the mailbox extension. */
export const a2aTask = z
  .object({
    id: z.string(),
    contextId: z.string(),
    status: z.object({ state }),
    artifacts: z.array(z.unknown()).default([]),
    metadata: z.object({ [mailboxExtension]: z.object({ generation: z.int() }) }),
  })
  .transform(({ id: task_id, contextId: thread_id, status, artifacts, metadata }): ReadTask => ({
    task_id,
    thread_id,
    state: status.state,
    generation: metadata[mailboxExtension].generation,
    results: artifacts.length,
  }));

const answerBody = z.object({
  result: z.unknown().optional(),
  error: z
    .object({ message: z.string(), data: z.array(z.object({ reason: z.string().optional() })).default([]) })
    .optional(),
});

const streamEvent = z.object({
  result: z.object({
    task: z.looseObject({}).optional(),
    artifactUpdate: z.looseObject({}).optional(),
    statusUpdate: z.object({ status: z.object({ state }) }).optional(),
  }),
});

/** A client that asks one agent over A2A 1.0 (JSON-RPC). The methods never throw. */
export interface A2aClient {
  call(method: 'SendMessage' | 'GetTask' | 'CancelTask', params: object): Promise<Outcome>;
  /** Reads a stream of a task that resumes after a generation. Returns an outcome if the service refused it, or an event is wrong. */
  subscribe(
    task_id: string,
    after: number,
    options: { signal: AbortSignal; onUpdate: (update: ToldUpdate) => void },
  ): Promise<Outcome | undefined>;
}

export function createA2aClient(base: string, client: Agent, asked: Agent): A2aClient {
  const url = a2aBaseUrl(base, asked.handle);
  const headers = {
    Authorization: `Bearer ${client.tokens.api}`,
    'A2A-Version': '1.0',
    'A2A-Extensions': mailboxExtension,
    'Content-Type': 'application/json',
  };
  const post = (method: string, params: object) => ({
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return {
    async call(method, params) {
      const signal = AbortSignal.timeout(defaultTimeoutMs);
      try {
        const response = await fetch(url, { ...post(method, params), signal });
        return readAnswerBody(response.status, await response.text());
      } catch {
        return { doubt: signal.aborted ? 'no answer in time' : 'connection lost' };
      }
    },
    async subscribe(task_id, after, { signal, onUpdate }) {
      let isFirst = true;
      const request = post('SubscribeToTask', { id: task_id });
      const resumed = { ...request, headers: { ...headers, 'Last-Event-ID': String(after) } };
      const onEvent = (fields: EventFields) => {
        const generation = Number(fields.get('id'));
        const update = readUpdate(fields.get('data') ?? '');
        if ((update === 'task') !== isFirst || (isFirst && generation !== after))
          throw new Error(`a stream after ${after} begins with ${update} in ${generation}`);
        isFirst = false;
        if (update !== 'task') onUpdate({ generation, update });
      };
      const answer = await readServerSentEvents(url, resumed, { signal, onEvent });
      if (!answer) return undefined;
      return 'problem' in answer ? { refused: answer.problem } : readAnswerBody(answer.status, answer.text);
    },
  };
}

function readUpdate(data: string): ToldUpdate['update'] | 'task' {
  const { task, artifactUpdate, statusUpdate } = streamEvent.parse(JSON.parse(data)).result;
  const update = statusUpdate?.status.state ?? (artifactUpdate && 'result') ?? (task && 'task');
  if (update === undefined) throw new Error('an unknown update');
  return update;
}

/** Reads an answer of JSON-RPC. The code of an error is the reason in its details. */
function readAnswerBody(status: number, text: string): Outcome {
  const parsed = answerBody.safeParse(parseJson(text));
  if (!parsed.success) return { refused: `${status} ${text.slice(0, 300)}` };
  const { result, error } = parsed.data;
  if (!error) return { answer: result };
  const code = error.data.find(({ reason }) => reason !== undefined)?.reason ?? 'no reason';
  return readErrorBody(status, { error: { code, message: error.message } });
}
