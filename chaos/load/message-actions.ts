import { createHash } from 'node:crypto';
import type { CallerName, Draft, ReadMark, Send, SentMessage, Upload } from '../history.ts';
import {
  anyAnswer,
  attemptSend,
  openedThread,
  readAnswer,
  searchWord,
  sentBatch,
  uploadedFile,
} from './actions.ts';
import { readOutcome } from './call.ts';
import type { LoadContext } from './context.ts';
import { type Agent, maxThreadSize } from './population.ts';
import { newAttempt } from './retry.ts';
import { createThreadState, type ThreadState } from './thread-state.ts';

/** The last messages of a thread, each of another member. */
export interface LastMessages {
  thread_id: string;
  messages: { sender_id: string; sequence: number }[];
}

const replyChance = 0.3;
const markdownChance = 0.3;
const metadataChance = 0.3;
const repeatedAloneChance = 0.2;
/** Messages of a batch. */
const maxBatch = 10;

/** Messages, files and read marks. Each action resolves when it is acknowledged or abandoned. */
export function createMessageActions(context: LoadContext) {
  const { agents, threads, random, history, retry, findAgent, callersOf, act } = context;
  const { send, sendBatch, sendFile } = createSends(context);

  return {
    send: (kind: CallerName) => act((thread, sender) => send(thread, sender, kind, { what: `by ${kind}` })),
    sendBatch: () => act(sendBatch),
    sendFile: () => act(sendFile),
    async openThread() {
      const [sender, ...others] = random.sample(agents, 2 + random.below(maxThreadSize - 1));
      if (!sender) return;
      const content = `${searchWord} ${history.sends.length + 1} opens a thread`;
      const draft: Draft = {
        content,
        content_type: 'text',
        reply_to: null,
        metadata: {},
        attachment_ids: [],
      };
      const otherIds = others.map(({ id }) => id);
      const attempt: Send = { ...newAttempt(sender), kind: 'opening', draft, others: otherIds };
      history.sends.push(attempt);
      const participants = others.map(({ handle }) => handle);
      const input = { participants, initial_message: content };
      const { key } = attempt;
      await retry.withKey(attempt, async () =>
        readAnswer(await callersOf(sender).REST('create_thread', input, { key }), openedThread),
      );
      const [opened] = attempt.answers;
      if (!opened) return;
      const members = [sender.id, ...otherIds];
      const thread = createThreadState(random, { thread_id: opened.thread_id, members });
      thread.addMessage(opened);
      threads.push(thread);
    },
    markRead: () =>
      act(async (thread, agent) => {
        const { thread_id } = thread;
        if (thread.last() === 0) return;
        // Often the last message, otherwise one before it: then some messages stay unread, or the mark does not move.
        const up_to_sequence = random.chance(0.5) ? thread.last() : 1 + random.below(thread.last());
        const kind = random.pick(['REST', 'call'] as const);
        const attempt: ReadMark = { ...newAttempt(agent), kind, thread_id, up_to_sequence };
        history.marks.push(attempt);
        const caller = callersOf(agent)[kind];
        await retry.once(attempt, async () =>
          readAnswer(await caller('mark_read', { thread_id, up_to_sequence }), anyAnswer),
        );
      }),
    /** Sends two messages of different members to every thread. */
    async sendLast(): Promise<LastMessages[]> {
      return Promise.all(
        threads.map(async (thread) => {
          const messages: LastMessages['messages'] = [];
          for (const sender_id of random.sample(thread.members(), 2)) {
            const sent = await send(thread, findAgent(sender_id), 'REST', { what: 'at the end' });
            if (sent) messages.push({ sender_id, sequence: sent.sequence });
          }
          return { thread_id: thread.thread_id, messages };
        }),
      );
    },
  };
}

/** Sends of messages in threads, which the actions share. */
export function createSends(context: LoadContext) {
  const { random, history, retry, callersOf } = context;
  /** Adds a message with new content to the history. */
  function begin(
    thread: ThreadState,
    sender: Agent,
    kind: Send['kind'],
    { what, attachment_ids = [] }: { what: string; attachment_ids?: string[] },
  ): Send {
    const draft: Draft = {
      content: `${searchWord} ${history.sends.length + 1} ${what}`,
      content_type: random.chance(markdownChance) ? 'markdown' : 'text',
      reply_to: random.chance(replyChance) ? thread.pickMessage() : null,
      metadata: random.chance(metadataChance) ? { number: history.sends.length + 1, note: 'chaos' } : {},
      attachment_ids,
    };
    const attempt: Send = { ...newAttempt(sender), kind, draft, others: [] };
    history.sends.push(attempt);
    return attempt;
  }

  async function send(
    thread: ThreadState,
    sender: Agent,
    kind: CallerName,
    options: { what: string; attachment_ids?: string[] },
  ): Promise<SentMessage | undefined> {
    const attempt = begin(thread, sender, kind, options);
    await retry.withKey(attempt, () => attemptSend(callersOf(sender), attempt, thread.thread_id));
    const [sent] = attempt.answers;
    if (sent) thread.addMessage(sent);
    return sent;
  }

  async function sendFile(thread: ThreadState, sender: Agent): Promise<void> {
    const uploaded = await uploadFile(context, sender);
    if (!uploaded) return;
    const message = { what: 'with a file', attachment_ids: [uploaded.attachment_id] };
    await send(thread, sender, random.pick(['REST', 'tool', 'call']), message);
  }

  return {
    begin,
    send,
    sendFile,
    /** Sends several messages with one request, then sometimes one of them alone with its own key. */
    async sendBatch(thread: ThreadState, sender: Agent): Promise<void> {
      const { thread_id } = thread;
      const sends = Array.from({ length: 1 + random.below(maxBatch) }, () =>
        begin(thread, sender, 'batch', { what: 'in a batch' }),
      );
      const batch = newAttempt<SentMessage[]>(sender);
      const callers = callersOf(sender);
      const caller = random.pick([callers.REST, callers.call]);
      // Each message has a key of its own, too.
      const drafts = sends.map(({ key: idempotency_key, draft }) => ({ ...draft, idempotency_key }));
      const input = { thread_id, messages: drafts };
      const { key } = batch;
      await retry.withKey(batch, async () =>
        readAnswer(await caller('send_messages', input, { key }), sentBatch),
      );
      for (const [index, single] of sends.entries()) {
        const { acknowledged_at, attempts } = batch;
        const answers = batch.answers.flatMap((messages) => messages[index] ?? []);
        Object.assign(single, { acknowledged_at, attempts, answers });
        if (answers[0]) thread.addMessage(answers[0]);
      }
      const repeated = random.pick(sends);
      if (repeated.answers.length > 0 && random.chance(repeatedAloneChance))
        await retry.once(repeated, () => attemptSend(callers, repeated, thread_id));
    },
  };
}

/** Uploads a file to be sent in a message. */
async function uploadFile(
  { random, history, retry, callersOf }: LoadContext,
  sender: Agent,
): Promise<Upload['answers'][number] | undefined> {
  const number = history.uploads.length + 1;
  const content = `chaos file ${number}\n`.repeat(1 + random.below(200));
  const upload: Upload = { ...newAttempt(sender), file: describeFile(number, content) };
  history.uploads.push(upload);
  const { filename, content_type } = upload.file;
  const blob = new Blob([content], { type: content_type });
  const options = { filename, idempotencyKey: upload.key };
  const { attachments } = callersOf(sender).client;
  await retry.withKey(upload, async () =>
    readAnswer(await readOutcome(attachments.upload(blob, options)), uploadedFile),
  );
  return upload.answers[0];
}

function describeFile(number: number, content: string): Upload['file'] {
  return {
    filename: `chaos-${number}.txt`,
    content_type: 'text/plain',
    size_bytes: Buffer.byteLength(content),
    sha256: createHash('sha256').update(content).digest('hex'),
  };
}
