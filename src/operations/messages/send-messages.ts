import { z } from 'zod';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { messageSchema, presentMessage } from '../../../packages/core/src/records/message.ts';
import { presentRefusal, refusalSchema } from '../../../packages/core/src/records/refusal.ts';
import { ReviewRequired } from '../../services/approvals/outgoing.ts';
import { lockThread, sendMessages } from '../../services/messages/send.ts';
import type { IdempotencyClaim, Work } from '../../work/unit-of-work.ts';
import { defineOperation } from '../define.ts';
import { exampleQuestion } from '../../../packages/core/src/records/examples.ts';
import { createClaim } from '../execute/idempotency.ts';
import { createAnswer, replayAnswer } from '../execute/respond.ts';
import { type batchMessage, sendMessagesInput, toDraft } from '../../../packages/core/src/inputs/messages.ts';
import { replaceErrors, sendErrors, sendMessageOperation } from './send-message.ts';

const sentSchema = z
  .object({
    status: z.literal(201).describe('The message is sent.'),
    replayed: z.literal(true).optional().describe('True if an earlier request sent it under this key.'),
    message: messageSchema,
  })
  .meta({ id: 'SentMessage' })
  .describe('A message that was sent.');

const output = z.object({
  results: z
    .array(z.union([sentSchema, refusalSchema]))
    .describe('A result for each message, in their order.'),
});

type Result = z.infer<typeof output>['results'][number];

/** One message of a batch. */
interface Part {
  /** As the input of a single send. */
  input: Omit<z.infer<typeof batchMessage>, 'idempotency_key'> & { thread_id: string };
  claim: IdempotencyClaim | null;
}

export const sendMessagesOperation = defineOperation({
  name: 'send_messages',
  summary: 'Send up to 100 messages in a thread',
  scope: 'threads:write',
  kind: 'write',
  input: sendMessagesInput,
  output,
  async run(work, { thread_id, messages }, _file, allowance) {
    const parts = messages.map(({ idempotency_key, ...fields }): Part => {
      const single = { thread_id, ...fields };
      const call = { operation: sendMessageOperation, actor: work.actor, idempotency_key };
      return { input: single, claim: createClaim({ call, input: single, file: null }) };
    });
    const allowed = parts.slice(0, allowance?.allowed ?? parts.length);
    const results = await sendParts(work, thread_id, allowed);
    requireSomeSent(results);
    const limited = allowance?.refusal ? parts.slice(allowed.length).map(() => allowance.refusal) : [];
    return {
      results: [...results, ...limited.filter((refusal) => refusal !== null)].map((result) =>
        result instanceof DomainError ? presentRefusal(result) : result,
      ),
    };
  },
  batchKey: ({ thread_id }) => thread_id,
  limit: {
    budget: 'send_message',
    key: ({ thread_id }) => thread_id,
    countParts: ({ messages }) => messages.length,
  },
  hasNotFound: ({ results }) => results.some(({ status }) => status === 404),
  rest: {
    method: 'POST',
    path: '/threads/{thread_id}/messages:batch',
    status: 200,
    idempotency: 'required',
  },
  review: { texts: 'messages' },
  errors: [...sendErrors, ...replaceErrors],
  example: {
    input: {
      thread_id: exampleQuestion.thread_id,
      messages: [
        { content: exampleQuestion.content, metadata: exampleQuestion.metadata },
        { content: 'See the attached order.', attachment_ids: ['att_01K9ZX6Q8T1V5X7Y9Z1B3D4E5H'] },
      ],
    },
    output: {
      results: [
        { status: 201, message: exampleQuestion },
        { status: 404, error: { code: 'ATTACHMENT_NOT_FOUND', message: 'No such attachment.' } },
      ],
    },
  },
});

type Outcome = Exclude<Result, { error: unknown }> | DomainError;

/** Sends the messages that no earlier request has sent under their keys, in one transaction and in their order. */
async function sendParts(work: Work, thread_id: string, parts: readonly Part[]): Promise<Outcome[]> {
  const replays = await findReplays(work, thread_id, parts);
  const unsent = parts.filter((part) => !replays.has(part));
  const sends = unsent.map(({ input: { thread_id: id, ...fields } }) => {
    return { work, message: { thread_id: id, ...toDraft(fields) } };
  });
  const rows = await sendMessages(sends, { wait: true });
  // The whole call is reviewed at once.
  const review = rows.find((row) => row instanceof ReviewRequired);
  if (review) throw review;
  const sent = new Map(
    unsent.map((part, at): [Part, Outcome] => {
      const row = rows[at];
      if (!row) throw new Error('a send that waits for locks has a result');
      if (row instanceof DomainError) return [part, row];
      const record = presentMessage(row);
      if (part.claim) {
        const { body, kept_as = body } = createAnswer(sendMessageOperation, work, part.input, record);
        work.changes.storeAnswer({ ...part.claim, answer: kept_as });
      }
      return [part, { status: 201, message: record }];
    }),
  );
  return parts.flatMap((part) => replays.get(part) ?? sent.get(part) ?? []);
}

/**
 * The answers of earlier requests. Every send in the thread stores its key while it holds the thread's lock, so no key can be used between
 * this look-up and the commit.
 */
async function findReplays(
  work: Work,
  thread_id: string,
  parts: readonly Part[],
): Promise<ReadonlyMap<Part, Outcome>> {
  const claims = parts.flatMap(({ claim }) => (claim ? [claim.key_hash] : []));
  if (claims.length === 0) return new Map();
  const [, rows] = await Promise.all([lockThread(work, thread_id), work.db.idempotencyKeys.list(claims)]);
  const stored = new Map(rows.map((row) => [row.key_hash.toString('base64'), row]));
  return new Map(
    parts.flatMap((part): [Part, Outcome][] => {
      const row = part.claim && stored.get(part.claim.key_hash.toString('base64'));
      return part.claim && row ? [[part, replay(work, part.input, part.claim, row)]] : [];
    }),
  );
}

function replay(
  work: Work,
  input: Part['input'],
  claim: IdempotencyClaim,
  row: { request_hash: Buffer; answer: string },
): Outcome {
  try {
    const answer = replayAnswer(
      { call: { operation: sendMessageOperation, actor: work.actor }, input },
      work,
      claim,
      row,
    );
    return { status: 201, replayed: true, message: messageSchema.parse(answer.output) };
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

/** Refuses the whole batch if every message has the same error: nothing is stored under its key, as after a refused single send. */
function requireSomeSent(results: readonly Outcome[]): void {
  const [first] = results;
  if (!(first instanceof DomainError)) return;
  if (results.every((result) => result instanceof DomainError && result.code === first.code)) throw first;
}
