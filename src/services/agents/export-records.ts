import type { ExportStage } from '../../../packages/core/src/domain/agents/erasure-and-export.ts';
import type { Section } from '../../repositories/agents/agent-data.ts';
import type { AgentExportRow } from '../../repositories/agents/exports.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

/** Of one kind, or messages. */
const recordsPerRead = 200;
const filesPerRead = 100;

/** A step ends after this many threads, even if they hold few messages. */
const threadsPerStep = 500;

/** A step ends with the page that exceeds this size, in characters. */
const maxPartLength = 4 * 1024 * 1024;

/** The progress of an export. */
type Position = Pick<AgentExportRow, 'stage' | 'belonging' | 'thread_id' | 'sequence'>;

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
export function readNextPart(
  work: Pick<ReadWork, 'db'>,
  from: Position & { agent_id: string },
): Promise<ExportStep> {
  return from.stage === 'belongings' ? readBelongings(work, from) : readConversations(work, from);
}

async function readBelongings(
  { db: { agentExport } }: Pick<ReadWork, 'db'>,
  { agent_id, belonging, thread_id, sequence }: Position & { agent_id: string },
): Promise<ExportStep> {
  const part = createPart();
  const [first, ...key]: [Section, ...unknown[]] = JSON.parse(belonging);
  let after: readonly unknown[] = key;
  for (const kind of agentExport.sectionsFrom(first)) {
    for (let more = true; more;) {
      const page = await agentExport.section(kind, agent_id, after, recordsPerRead);
      part.add(page.map(({ record }) => record));
      after = page.at(-1)?.key ?? after;
      more = page.length === recordsPerRead;
      if (part.isFull())
        return part.endAt({
          stage: 'belongings',
          belonging: JSON.stringify([kind, ...after]),
          thread_id,
          sequence,
        });
    }
    after = [];
  }
  return part.endAt({ stage: 'conversations', belonging, thread_id, sequence });
}

async function readConversations(
  { db: { agentExport } }: Pick<ReadWork, 'db'>,
  { agent_id, belonging, thread_id, sequence }: Position & { agent_id: string },
): Promise<ExportStep> {
  const part = createPart();
  for (let thread = thread_id, after = sequence, threads = 0; ; after = 0, threads += 1) {
    const endAt = (stage: ExportStage) =>
      part.endAt({ stage, belonging, thread_id: thread, sequence: after });
    for (let more = thread !== ''; more;) {
      const messages = await agentExport.messages(agent_id, thread, after, recordsPerRead);
      part.add(messages.map((message) => ({ kind: 'message', ...message })));
      after = messages.at(-1)?.sequence ?? after;
      more = messages.length === recordsPerRead;
      if (part.isFull()) return endAt('conversations');
    }
    if (threads === threadsPerStep) return endAt('conversations');
    const next = await agentExport.nextThread(agent_id, thread);
    if (!next) return endAt('archive');
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
