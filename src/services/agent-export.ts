import type { Administration } from '../unit-of-work.ts';

type Export = Pick<Administration, 'agentExport'>;

const threadsAtOnce = 100;
const messagesAtOnce = 200;
const filesAtOnce = 100;

/**
 * Everything that the service holds of an agent, one object after the other, each with its `kind`: the agent, whom it trusts and
 * blocks, what it may be reached and signed in by (never what proves it), its approvals and files, the threads that it is in, and all that
 * was said there. Times in milliseconds. Pages are read one by one: what changes meanwhile may be in it or not.
 */
export async function* exportAgent({ agentExport }: Export, agent_id: string) {
  for (const kind of agentExport.sections) yield* await agentExport.section(kind, agent_id);
  for (let after = ''; ;) {
    const threads = await agentExport.threads(agent_id, after, threadsAtOnce);
    for (const thread of threads) {
      yield { kind: 'thread', ...thread };
      yield* messagesOf(agentExport, thread.id);
    }
    if (threads.length < threadsAtOnce) return;
    after = threads.at(-1)?.id ?? after;
  }
}

async function* messagesOf(agentExport: Export['agentExport'], thread_id: string) {
  for (let after = 0; ;) {
    const messages = await agentExport.messages(thread_id, after, messagesAtOnce);
    for (const message of messages) yield { kind: 'message', ...message };
    if (messages.length < messagesAtOnce) return;
    after = messages.at(-1)?.sequence ?? after;
  }
}

/** The files that an agent uploaded, as far as they may be handed out, and where their bytes lie. */
export async function* filesOfAgent({ agentExport }: Export, agent_id: string) {
  for (let after = ''; ;) {
    const files = await agentExport.files(agent_id, after, filesAtOnce);
    yield* files;
    if (files.length < filesAtOnce) return;
    after = files.at(-1)?.id ?? after;
  }
}
