import type { ExportStage } from '../../../packages/core/src/domain/agents/erasure-and-export.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

const messagesPerRead = 200;
const filesPerRead = 100;

/** A step ends after this many threads, even if they hold few messages. */
const threadsPerStep = 500;

/** A step ends with the page that exceeds this size, in characters. */
const maxPartLength = 4 * 1024 * 1024;

/** The progress of an export: the thread it reads, and the last sequence it has read there. */
interface Position {
  stage: ExportStage;
  thread_id: string;
  sequence: number;
}

/** The data of one export step, and the position after it. */
export interface ExportStep {
  /** JSON objects, one a line, each with its `kind`. */
  text: string;
  counts: Record<string, number>;
  position: Position;
}

/**
 * Returns the next part of an agent's data: first the agent, its contacts, blocks, webhooks, credentials (without secrets), approvals
 * and files; then its threads, each with all messages. Times in milliseconds. Pages are separate reads, not one snapshot.
 */
export async function readNextPart(
  { db: { agentExport } }: Pick<ReadWork, 'db'>,
  { agent_id, stage, thread_id, sequence }: Position & { agent_id: string },
): Promise<ExportStep> {
  const part = createPart();
  if (stage === 'belongings') {
    for (const kind of agentExport.sections) part.add(await agentExport.section(kind, agent_id));
    return part.endAt({ stage: 'conversations', thread_id: '', sequence: 0 });
  }
  for (let thread = thread_id, after = sequence, threads = 0; ; after = 0, threads += 1) {
    for (let more = thread !== ''; more;) {
      const messages = await agentExport.messages(agent_id, thread, after, messagesPerRead);
      part.add(messages.map((message) => ({ kind: 'message', ...message })));
      after = messages.at(-1)?.sequence ?? after;
      more = messages.length === messagesPerRead;
      if (part.isFull()) return part.endAt({ stage, thread_id: thread, sequence: after });
    }
    if (threads === threadsPerStep) return part.endAt({ stage, thread_id: thread, sequence: after });
    const [next] = await agentExport.threads(agent_id, thread, 1);
    if (!next) return part.endAt({ stage: 'archive', thread_id: thread, sequence: after });
    part.add([{ kind: 'thread', ...next }]);
    thread = next.id;
  }
}

function createPart() {
  const counts: Record<string, number> = {};
  let text = '';
  return {
    add(records: readonly { kind: string }[]): void {
      for (const record of records) {
        counts[record.kind] = (counts[record.kind] ?? 0) + 1;
        text += `${JSON.stringify(record)}\n`;
      }
    },
    isFull: () => text.length >= maxPartLength,
    endAt: (position: Position): ExportStep => ({ text, counts, position }),
  };
}

/** Yields the clean files that an agent uploaded, with their blob keys. */
export async function* listFilesOfAgent({ db: { agentExport } }: Pick<ReadWork, 'db'>, agent_id: string) {
  for (let after = ''; ;) {
    const files = await agentExport.files(agent_id, after, filesPerRead);
    yield* files;
    if (files.length < filesPerRead) return;
    after = files.at(-1)?.id ?? after;
  }
}
